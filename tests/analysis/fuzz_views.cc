// SPDX-License-Identifier: Apache-2.0
//
// For libFuzzer, run by scripts/fuzz: a trace's file through the report and one of the things that are made of it: which,
// the bytes say themselves, so that the same input does the same again.
#include "tests/analysis/fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

#include "tests/analysis/whole.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static int fd = memfd_create("trace", MFD_CLOEXEC);
    static const std::string scratch = ptds::WriteTemporary(""), path = "/proc/self/fd/" + std::to_string(fd);
    if (ftruncate(fd, static_cast<off_t>(size)) != 0 || pwrite(fd, bytes, size, 0) != static_cast<ssize_t>(size))
        return -1;
    uint32_t sum = 0;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ bytes[i]) * 16777619u;
    ptds::ReadWhole(path.c_str(), false, scratch.c_str(), 1u << (sum >> 8) % ptds::PARTS);
    return 0;
}

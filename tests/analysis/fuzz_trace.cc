// SPDX-License-Identifier: Apache-2.0
//
// For libFuzzer, run by scripts/fuzz: a trace's bytes through everything that reads one.
#include "tests/analysis/fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

#include "tests/analysis/whole.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static int fd = memfd_create("trace", MFD_CLOEXEC);
    static const std::string scratch = ptds::WriteTemporary("");
    if (ftruncate(fd, static_cast<off_t>(size)) != 0 || pwrite(fd, bytes, size, 0) != static_cast<ssize_t>(size))
        return -1;
    ptds::ReadWhole(("/proc/self/fd/" + std::to_string(fd)).c_str(), false, scratch.c_str());
    return 0;
}

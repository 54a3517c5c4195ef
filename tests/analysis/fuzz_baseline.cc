// SPDX-License-Identifier: Apache-2.0
//
// For libFuzzer, run by scripts/fuzz: a baseline's file. What can be read comes back the same when it is written and read
// again, and differs from itself in nothing. Comparisons are written in one form, which the bytes say themselves: so that
// ten times as many are looked at, and the same input does the same again.
#include "tests/analysis/fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "analysis/compare/baseline.h"
#include "tests/analysis/compared.h"

namespace
{

std::string Written(const history &known)
{
    char *text = nullptr;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (!baseline_write(&known, file))
        abort();
    fclose(file);
    std::string written(text, size);
    free(text);
    return written;
}

/* The file that the name leads to, which every execution writes anew. */
const char *Put(const uint8_t *bytes, size_t size)
{
    static int fd = memfd_create("baseline", MFD_CLOEXEC);
    static const std::string path = "/proc/self/fd/" + std::to_string(fd);
    if (ftruncate(fd, 0) != 0 || pwrite(fd, bytes, size, 0) != static_cast<ssize_t>(size))
        abort();
    return path.c_str();
}

unsigned FormOf(const uint8_t *bytes, size_t size)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ bytes[i]) * 16777619u;
    return 1u << (sum >> 8) % ptds::FORMS;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char error[COMPARE_ERROR_SIZE];
    history known = {}, again = {}, none = {};
    bool is_read = baseline_read(&known, Put(bytes, size), error);
    if (is_read) {
        const unsigned form = FormOf(bytes, size);
        const std::string written = Written(known);
        if (!baseline_read(&again, Put(reinterpret_cast<const uint8_t *>(written.data()), written.size()), error) ||
            Written(again) != written || ptds::Compared(again, known, form))
            abort();
        ptds::Compared(none, known, form);
        ptds::Compared(known, none, form);
        history_free(&again);
    }
    history_free(&known);
    return is_read ? 0 : -1; /* the corpus keeps what can be read, and the seeds */
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * What the shim says of itself while a test runs, in the place of stderr.
 */
#ifndef PTDS_TESTS_BASE_SAID_H
#define PTDS_TESTS_BASE_SAID_H

#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

extern "C" {
#include "interpose/base/output.h"
}

namespace
{

class Said
{
public:
    Said() : before_(*output_stderr()), file_(memfd_create("said", MFD_CLOEXEC))
    {
        struct stat stat = {};
        fstat(file_, &stat);
        *const_cast<struct output *>(output_stderr()) = {file_, stat.st_dev, stat.st_ino};
    }
    ~Said()
    {
        *const_cast<struct output *>(output_stderr()) = before_;
        close(file_);
    }
    Said(const Said &) = delete;
    Said &operator=(const Said &) = delete;
    /* Since it was asked last. */
    std::string text()
    {
        char bytes[4096];
        const ssize_t size = pread(file_, bytes, sizeof bytes, at_);
        at_ += size > 0 ? size : 0;
        return std::string(bytes, size > 0 ? size_t(size) : 0);
    }

private:
    struct output before_;
    int file_;
    off_t at_ = 0;
};

} // namespace

#endif

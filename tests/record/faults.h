/* SPDX-License-Identifier: Apache-2.0
 *
 * A system in which something goes wrong when a test wants it, call by call, and the trace's file in a folder of its own.
 */
#ifndef PTDS_TESTS_RECORD_FAULTS_H
#define PTDS_TESTS_RECORD_FAULTS_H

#include "tests/base/said.h"
#include "tests/support/run_child.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <map>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/syscall.h>

extern "C" {
#include "interpose/base/diag.h"
#include "interpose/record/file/trace_file.h"
#include "interpose/record/file/store.h"
}

namespace
{

/* What the system does instead of what it is asked for: an error each, 0: nothing else. */
std::map<std::string, std::deque<int>> g_errors;
std::vector<std::string> g_asked;
rlim_t g_limit = RLIM_INFINITY;  /* of a file */
bool g_no_limit;                 /* nobody knows it */
int g_lowest;                    /* descriptor that anything was done with */
std::string g_mine;              /* only of that file is it noted how often it is opened */
std::function<void()> g_between; /* what others do before the next lock is asked for */

int error_of(const std::string &call)
{
    std::deque<int> &left = g_errors[call];
    if (left.empty())
        return 0;
    const int error = left.front();
    left.pop_front();
    return error;
}

void note(int file)
{
    if (file >= 0 && file < g_lowest)
        g_lowest = file;
}

/* A sanitizer calls some of these before it, and before anything of the above, is there. */
#if defined(__SANITIZE_ADDRESS__)
#define IN_THE_PLACE_OF_LIBCS extern "C" __attribute__((visibility("default"), no_sanitize_address))
#else
#define IN_THE_PLACE_OF_LIBCS extern "C" __attribute__((visibility("default")))
#endif
bool g_ready;
const struct Ready {
    Ready()
    {
        g_ready = true;
    }
} g_is_ready;

} // namespace

IN_THE_PLACE_OF_LIBCS int posix_fallocate(int file, off_t at, off_t size)
{
    note(file);
    g_asked.push_back("fallocate " + std::to_string(at) + " " + std::to_string(size));
    if (const int error = error_of("fallocate"))
        return error;
    const int before = errno;
    const int error = syscall(SYS_fallocate, file, 0, at, size) == 0 ? 0 : errno;
    errno = before;
    return error;
}

IN_THE_PLACE_OF_LIBCS ssize_t pwrite(int file, const void *bytes, size_t size, off_t at)
{
    note(file);
    g_asked.push_back("pwrite " + std::to_string(at) + " " + std::to_string(size));
    if (const int error = error_of("pwrite"))
        return errno = error, error == EINTR ? ssize_t(size) - 1 : -1;
    return syscall(SYS_pwrite64, file, bytes, size, at);
}

IN_THE_PLACE_OF_LIBCS int getrlimit(__rlimit_resource_t which, struct rlimit *limit) noexcept
{
    if (!g_ready || which != RLIMIT_FSIZE)
        return int(syscall(SYS_getrlimit, which, limit));
    *limit = {g_limit, RLIM_INFINITY};
    errno = EPERM;
    return g_no_limit ? -1 : 0;
}

IN_THE_PLACE_OF_LIBCS void *mmap(void *at, size_t size, int protection, int flags, int file, off_t offset) noexcept
{
    if (g_ready)
        note(file);
    if (const int error = g_ready ? error_of("mmap") : 0)
        return errno = error, MAP_FAILED;
    return reinterpret_cast<void *>(syscall(SYS_mmap, at, size, protection, flags, file, offset));
}

IN_THE_PLACE_OF_LIBCS int flock(int file, int how) noexcept
{
    note(file);
    if (g_between) {
        g_between();
        g_between = nullptr;
    }
    if (const int error = error_of("flock"))
        return errno = error, -1;
    return int(syscall(SYS_flock, file, how));
}

IN_THE_PLACE_OF_LIBCS int link(const char *from, const char *to) noexcept
{
    g_asked.push_back(std::string("link ") + (strrchr(to, '/') + 1));
    if (const int error = error_of("link"))
        return errno = error, -1;
    return int(syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0));
}

IN_THE_PLACE_OF_LIBCS int open(const char *path, int flags, ...)
{
    va_list values;
    va_start(values, flags);
    const int mode = (flags & O_CREAT) != 0 ? va_arg(values, int) : 0;
    va_end(values);
    if (g_ready && !g_mine.empty() && strncmp(path, g_mine.c_str(), g_mine.size()) == 0) {
        g_asked.push_back(std::string("open ") + (path + g_mine.size()) + ((flags & O_EXCL) != 0 ? " new" : ""));
        if (const int error = error_of("open"))
            return errno = error, -1;
    }
    return int(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

namespace
{

using Asked = std::vector<std::string>;
constexpr size_t kExtent = size_t{PTDS_CHUNK_SIZE} * PTDS_EXTENT_CHUNKS;
const std::string kReserved = "fallocate 0 65536";

size_t descriptors()
{
    size_t count = 0;
    for (int file = 0; file < 900; file++) /* what is the shim's own lies above */
        count += fcntl(file, F_GETFD) != -1;
    return count;
}

class File : public testing::Test
{
protected:
    void SetUp() override
    {
        path_ = folder_ / "trace";
        pid_ = std::to_string(getpid());
        reset();
    }
    void TearDown() override
    {
        reset();
        store_after_fork();
        unsetenv("PTDS_RUN");
    }
    static void reset()
    {
        g_errors.clear();
        g_asked.clear();
        g_limit = RLIM_INFINITY;
        g_lowest = INT_MAX;
        g_no_limit = false;
        g_mine.clear();
        g_between = nullptr;
    }
    /* In a child, while the parent lives and keeps its lock. */
    static void forked()
    {
        struct stat wanted = {}, status = {};
        const bool is_there = trace_file_path() != nullptr && stat(trace_file_path(), &wanted) == 0;
        for (int file = 900; is_there && file < 1024; file++) {
            if (fstat(file, &status) == 0 && status.st_dev == wanted.st_dev && status.st_ino == wanted.st_ino) {
                fcntl(file, F_DUPFD_CLOEXEC, 900);
                break;
            }
        }
        trace_file_after_fork();
    }
    /* Said once a process: each in a child of its own. What it says of a failed expectation is on stderr. */
    static void apart(const std::function<void()> &what)
    {
        const auto in_the_child = [&] {
            what();
            fflush(stdout);
            _exit(HasFailure() ? 1 : 0);
        };
        EXPECT_EXIT(in_the_child(), testing::ExitedWithCode(0), "");
    }
    size_t size() const
    {
        struct stat status = {};
        return stat(path_.c_str(), &status) == 0 ? size_t(status.st_size) : SIZE_MAX;
    }
    /* As another process leaves it that has ended. */
    static void finished(const std::string &path, uint32_t pid, uint64_t born = 1, uint64_t run = 0)
    {
        struct ptds_trace_header header = {};
        memcpy(header.magic, PTDS_TRACE_MAGIC, sizeof header.magic);
        header.pid = pid, header.born = born, header.run = run;
        std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char *>(&header), sizeof header);
    }
    /* Names that others write to. */
    class Taken
    {
    public:
        explicit Taken(const std::string &path) : file_(syscall(SYS_openat, AT_FDCWD, path.c_str(), O_RDWR | O_CREAT, 0600))
        {
            EXPECT_EQ(0, syscall(SYS_flock, file_, LOCK_EX | LOCK_NB));
        }
        Taken(Taken &&other) : file_(other.file_)
        {
            other.file_ = -1;
        }
        ~Taken()
        {
            if (file_ >= 0)
                close(int(file_));
        }

    private:
        long file_;
    };
    ptds::Folder folder_;
    std::string path_, pid_;
};

} // namespace

#endif

// SPDX-License-Identifier: Apache-2.0
//
// For tests of what the simulated driver reads when it is loaded: a child process with variables of its own loads it.
#ifndef PTDS_TESTS_SIM_CHILD_H
#define PTDS_TESTS_SIM_CHILD_H

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <map>
#include <string>

#include "gtest/gtest.h"

using Library = void *;

inline std::string LibraryPath()
{
    const char *path = getenv("SIM_LIBRARY");
    return path ? path : "./tests/sim/libcuda.so.1";
}

template <typename F> F *Symbol(Library library, const char *name)
{
    return reinterpret_cast<F *>(dlsym(library, name));
}

// The body returns an empty string, or what went wrong.
inline void InChild(const std::map<std::string, std::string> &variables, const std::function<std::string(Library)> &body)
{
    int pipe_ends[2];
    ASSERT_EQ(0, pipe(pipe_ends));
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        for (const auto &v : variables)
            setenv(v.first.c_str(), v.second.c_str(), 1);
        Library library = dlopen(LibraryPath().c_str(), RTLD_NOW);
        std::string wrong = library ? body(library) : dlerror();
        if (write(pipe_ends[1], wrong.data(), wrong.size()) < 0)
            _exit(3);
        _exit(wrong.empty() ? 0 : 1);
    }
    close(pipe_ends[1]);
    std::string wrong;
    char buffer[512];
    for (ssize_t n; (n = read(pipe_ends[0], buffer, sizeof buffer)) > 0;)
        wrong.append(buffer, static_cast<size_t>(n));
    close(pipe_ends[0]);
    int status = 0;
    ASSERT_EQ(child, waitpid(child, &status, 0));
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status << ": " << wrong;
}

#define REQUIRE(condition) \
    do { \
        if (!(condition)) \
            return std::string(__FILE__ ":" + std::to_string(__LINE__) + ": " #condition); \
    } while (0)

#endif

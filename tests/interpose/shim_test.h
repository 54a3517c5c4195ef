/* SPDX-License-Identifier: Apache-2.0
 *
 * What the tests of whole processes share: a program of this folder under the shim on the fake driver.
 */
#ifndef PTDS_TESTS_SHIM_TEST_H
#define PTDS_TESTS_SHIM_TEST_H

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/support/run_child.h"

namespace ptds
{

using Settings = std::map<std::string, std::string>;

/* "doors_child" with arguments, no shim. */
inline Command plain(const std::string &program, const std::vector<std::string> &arguments = {})
{
    Command command;
    command.argv = {data_file("tests/interpose/" + program)};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    command.libraries = {fake_driver()};
    return command;
}

/* The same under the shim. Quiet unless the settings say otherwise. */
inline Command shimmed(const std::string &program, const std::vector<std::string> &arguments = {},
                       const Settings &settings = {})
{
    Command command = plain(program, arguments);
    command.preload = {shim()};
    command.env = settings;
    command.env.insert({"PTDS_REPORT", "off"});
    return command;
}

/* /dev/null or another device of memory, for a test that names it as a file to write. Root could move the machine's own
 * away, by a fault of the shim's, and so gets one in the folder; "" where that can't be had. */
inline std::string device(const Folder &folder, const char *name, unsigned minor_number)
{
    if (geteuid() != 0)
        return std::string("/dev/") + name;
    std::string path = folder / name;
    int made = mknod(path.c_str(), S_IFCHR | 0600, makedev(1, minor_number));
    int file = made == 0 ? open(path.c_str(), O_RDWR | O_CLOEXEC) : -1;
    close(file);
    return file >= 0 ? path : "";
}

/* Each case of the program skips itself: those that an environment skips are said to have passed. */
class SkipsEach : public testing::EmptyTestEventListener
{
public:
    explicit SkipsEach(const char *why) : why_(why)
    {
    }
    void OnTestStart(const testing::TestInfo &) override
    {
        GTEST_SKIP() << why_;
    }

private:
    const char *const why_;
};

inline bool skip_each(const char *why)
{
    testing::UnitTest::GetInstance()->listeners().Append(new SkipsEach(why));
    return true;
}

/* The address and thread sanitizers need their own start before any instrumented code, and the shim's dlsym runs before
 * that. These builds have the units' tests. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool is_sanitized = true;
inline const bool no_sanitizers = skip_each("an instrumented library cannot be preloaded before the sanitizer's own");
#else
constexpr bool is_sanitized = false; /* for what a suite does before its cases */
#endif

} // namespace ptds

#endif

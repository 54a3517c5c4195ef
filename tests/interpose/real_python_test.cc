/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of a real Python in recorded call sites, as that Python itself says they are. Skipped, by version, where there
 * is none.
 */
#include <algorithm>
#include <glob.h>
#include <pwd.h>
#include <sstream>
#include <unistd.h>

#include "tests/interpose/recorded.h"
#include "tests/interpose/sources.h"

namespace ptds
{
namespace
{

/* "/usr/bin/python3.12", or one of pyenv's; empty: there is none. */
std::string python_of(const std::string &version)
{
    const struct passwd *user = getpwuid(getuid());
    std::vector<std::string> places = {"/usr/bin/python" + version, "/usr/local/bin/python" + version};
    if (user)
        places.push_back(std::string(user->pw_dir) + "/.pyenv/versions/" + version + ".*/bin/python" + version);
    for (const std::string &place : places) {
        glob_t found = {};
        std::string path;
        if (glob(place.c_str(), 0, nullptr, &found) == 0 && access(found.gl_pathv[found.gl_pathc - 1], X_OK) == 0)
            path = found.gl_pathv[found.gl_pathc - 1];
        globfree(&found);
        if (!path.empty())
            return path;
    }
    return "";
}

std::string first_words(const std::string &line, size_t count)
{
    std::istringstream words(line);
    std::string found;
    for (std::string word; count-- && words >> word;)
        found += (found.empty() ? "" : " ") + word;
    return found;
}

class RealPython : public testing::TestWithParam<std::string>
{
};
INSTANTIATE_TEST_SUITE_P(Versions, RealPython, testing::Values("3.12", "3.13", "3.14"),
                         [](const auto &version) { return "Minor" + version.param.substr(2); });

TEST_P(RealPython, SaysTheSameOfItsCallers)
{
    const size_t compared = 30; /* functions; the shim shows some more */
    std::string python = python_of(GetParam());
    if (python.empty())
        GTEST_SKIP() << "no Python " << GetParam() << " here";
    Folder folder;
    Command command =
        shimmed("", {}, {{"PTDS_POLICY", "observe"}, {"PTDS_PYTHON_FRAMES", "on"}, {"PTDS_TRACE", folder / "trace"}});
    command.argv = {python, data_file("tests/interpose/python_script.py")};
    command.libraries = simulator();
    Recorded recorded;
    recorded.outcome = run(command);
    ASSERT_EQ(recorded.outcome.exit, 0) << recorded.outcome;
    recorded.trace = walk(folder / "trace");
    std::vector<Stack> calls = stacks_of(recorded, PTDS_OP_EVENT_RECORD);
    std::istringstream said(recorded.outcome.out);
    size_t at = 0, wrong = 0;
    for (std::string line; std::getline(said, line) && wrong < 10; at++) {
        ASSERT_LT(at, calls.size());
        std::string expected = first_words(line, compared), found = first_words(calls[at].python, compared);
        EXPECT_EQ(found, expected) << "call " << at;
        wrong += found != expected;
    }
    EXPECT_EQ(at, calls.size());
    EXPECT_GT(at, 3000u);
}

} // namespace
} // namespace ptds

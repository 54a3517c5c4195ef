/* SPDX-License-Identifier: Apache-2.0
 *
 * All that the driver is asked on behalf of whole programs, word by word: a file of asked/ a program, with the settings
 * that it runs under and its steps (asked_child.cc); behind each step stand the calls that the driver gets. Recorded or
 * not, they are the same. The programs were made by chance, and picked because they notice changes of the shim.
 * scripts/renew writes what stands behind the steps anew.
 */
#include <algorithm>
#include <fcntl.h>
#include <filesystem>

#include "tests/interpose/shim_test.h"
#include "tests/support/expected.h"

namespace ptds
{
namespace
{

const std::string kChild = "tests/interpose/asked_child", kFolder = "tests/interpose/asked/";

struct Program {
    std::string head, steps; /* lines */
    Settings settings;
    bool recorded = false;
};

Program program(const std::string &path)
{
    Program program;
    for (const std::string &line : lines_of(read_file(path))) {
        const size_t equals = line.find('=');
        if (line.rfind("-- ", 0) == 0 || line.rfind("said: ", 0) == 0)
            break;
        if (line == "recorded") {
            program.recorded = true;
            program.head += line + "\n";
        } else if (line.rfind("PTDS_", 0) == 0 || line.rfind("SIM_", 0) == 0) {
            program.settings[line.substr(0, equals)] = line.substr(equals + 1);
            program.head += line + "\n";
        } else
            program.steps += line.substr(0, line.find(' ')) + "\n";
    }
    return program;
}

std::string asked(const Program &program)
{
    Folder folder;
    Command command = shimmed("asked_child", {folder / "log"}, program.settings);
    command.libraries = {"tests/sim"};
    command.env["SIM_LOG"] = folder / "log";
    command.env["SIM_LOG_ARGUMENTS"] = "1";
    if (program.recorded) {
        command.argv.push_back(folder / "trace");
        command.env["PTDS_TRACE"] = folder / "trace";
    }
    const std::string steps = folder / "steps";
    std::ofstream(steps) << program.steps;
    std::ofstream(folder / "log") << "";
    command.before = [&steps] { dup2(open(steps.c_str(), O_RDONLY), 0); };
    const Outcome outcome = run(command);
    EXPECT_EQ(0, outcome.exit) << outcome;
    return program.head + outcome.out + (outcome.err.empty() ? "" : "said: " + outcome.err);
}

class Asked : public testing::TestWithParam<std::string>
{
};

TEST_P(Asked, OfTheDriver)
{
    const std::string path = kFolder + GetParam();
    ExpectAllOf(path, asked(program(path)));
}

std::vector<std::string> programs()
{
    std::vector<std::string> names;
    for (const auto &file : std::filesystem::directory_iterator(kFolder))
        names.push_back(file.path().filename());
    std::sort(names.begin(), names.end());
    return names;
}

INSTANTIATE_TEST_SUITE_P(Programs, Asked, testing::ValuesIn(programs()), [](const auto &one) {
    std::string name = one.param.substr(0, one.param.find('.'));
    for (char &letter : name)
        letter = isalnum(letter) ? letter : '_';
    return name;
});

} // namespace
} // namespace ptds

/* SPDX-License-Identifier: Apache-2.0
 *
 * What is the driver asked on behalf of whole programs? A file of asked/ a program, with the settings that it runs under
 * and its steps (asked_child.cc). Behind each step of a short one stand the calls that the driver gets, word by word; of
 * the long ones, in asked/long/, the sums of all of these calls by function (support/sums.h), with "at" for the steps that
 * they come from. Recorded or not, they are the same. The programs were made by chance, and picked because they notice
 * changes of the shim. scripts/renew writes anew what is asked.
 */
#include <algorithm>
#include <fcntl.h>
#include <filesystem>

#include "tests/interpose/shim_test.h"
#include "tests/support/sums.h"

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

/* A line a step, or, in a long program, lines of steps, "steps A B C". */
Program program(const std::string &path, bool is_long)
{
    Program program;
    for (const std::string &line : lines_of(read_file(path))) {
        const size_t equals = line.find('=');
        const bool steps = line.rfind("steps ", 0) == 0;
        if (line.rfind("-- ", 0) == 0 || line.rfind("said: ", 0) == 0)
            break;
        if (line == "recorded") {
            program.recorded = true;
            program.head += line + "\n";
        } else if (line.rfind("PTDS_", 0) == 0 || line.rfind("SIM_", 0) == 0) {
            program.settings[line.substr(0, equals)] = line.substr(equals + 1);
            program.head += line + "\n";
        } else if (!is_long) {
            program.steps += line.substr(0, line.find(' ')) + "\n";
        } else if (steps) {
            std::istringstream words(line.substr(6));
            for (std::string step; words >> step;)
                program.steps += step + "\n";
            program.head += line + "\n";
        }
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
    command.env.emplace("PTDS_LANES", "1"); /* what "auto" does depends on times */
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
    return outcome.out + (outcome.err.empty() ? "" : "said: " + outcome.err);
}

/* What is asked, a line a call: "STEP cuX(A) cuY(B)x3 = RESULT" is "cuX at=7 (A)", "cuY at=7 (B)x3", "= at=7 RESULT", and
 * what was recorded, "-- THREAD cuX ...", is "recorded-cuX by=THREAD ...". */
std::string sums_of(const std::string &asked)
{
    Sums sums;
    unsigned step = 0;
    for (const std::string &line : lines_of(asked)) {
        std::istringstream words(line);
        std::string word, first;
        words >> first;
        if (first == "--" || first == "said:") {
            std::string by, what, rest;
            words >> by >> what;
            std::getline(words, rest);
            sums.Add((isdigit(by[0]) ? what + " by=" + by : by + " id=" + what) + rest,
                     first == "--" ? "recorded-" : "said-");
            continue;
        }
        const std::string at = " at=" + std::to_string(++step) + " ";
        while (words >> word) {
            const size_t arguments = std::min(word.find('('), word.size());
            if (word == "=")
                words >> word, sums.Add("=" + at + word);
            else
                sums.Add(word.substr(0, arguments) + at + word.substr(arguments));
        }
    }
    return sums.Text(8);
}

std::vector<std::string> programs(const std::string &folder)
{
    std::vector<std::string> names;
    for (const auto &file : std::filesystem::directory_iterator(folder))
        if (file.path().extension() == ".txt")
            names.push_back(file.path().filename());
    std::sort(names.begin(), names.end());
    return names;
}

std::string name_of(const testing::TestParamInfo<std::string> &one)
{
    std::string name = one.param.substr(0, one.param.find('.'));
    for (char &letter : name)
        letter = isalnum(letter) ? letter : '_';
    return name;
}

class AskedByShortPrograms : public testing::TestWithParam<std::string>
{
};

TEST_P(AskedByShortPrograms, EachCallWithItsStep)
{
    const std::string path = kFolder + GetParam();
    const Program short_one = program(path, false);
    ExpectAllOf(path, short_one.head + asked(short_one));
}

INSTANTIATE_TEST_SUITE_P(Programs, AskedByShortPrograms, testing::ValuesIn(programs(kFolder)), name_of);

class AskedByLongPrograms : public testing::TestWithParam<std::string>
{
};

TEST_P(AskedByLongPrograms, SumsByFunction)
{
    const std::string path = kFolder + "long/" + GetParam();
    const Program long_one = program(path, true);
    const std::string all = asked(long_one);
    EXPECT_LE(long_one.steps.size(), all.size());
    ExpectSums(path, long_one.head + sums_of(all), all);
}

INSTANTIATE_TEST_SUITE_P(Programs, AskedByLongPrograms, testing::ValuesIn(programs(kFolder + "long/")), name_of);

} // namespace
} // namespace ptds

/* SPDX-License-Identifier: Apache-2.0
 *
 * The environment: a value outside its list is said in one line, and the program runs untouched with its own exit status.
 */
#include "tests/interpose/steps_test.h"

namespace ptds
{
namespace
{

const std::vector<Does> untouched = {
    {"stream:a", "cuStreamCreate"},         {"launch@0", "cuLaunchKernel(0)"}, {"launch@a", "cuLaunchKernel(a)"},
    {"launch@1", "cuLaunchKernel(legacy)"}, {"memset:D", "cuMemsetD8_v2"},     {"htod:H", "cuMemcpyHtoD_v2"},
    {"sync@0", "cuStreamSynchronize(0)"},
};

/* Runs the program above and leaves with 7; no file may appear. */
Outcome run_untouched(Settings settings)
{
    Folder folder;
    settings.insert({"PTDS_TRACE", folder / "trace"});
    Command command = shimmed("steps_child", steps_of(untouched), settings);
    command.argv.push_back("exit:7");
    command.env = settings;
    Outcome outcome = run(command);
    std::vector<std::string> seen = lines_of(outcome.out);
    EXPECT_EQ(outcome.exit, 7) << outcome;
    EXPECT_TRUE(folder.files().empty());
    EXPECT_EQ(seen.size(), untouched.size()) << outcome;
    for (size_t i = 0; i < seen.size() && i < untouched.size(); i++)
        EXPECT_EQ(seen[i], untouched[i].driver);
    return outcome;
}

struct Wrong {
    const char *variable, *value;
    std::vector<const char *> allowed; /* words that the line must have */
};

const Wrong wrongs[] = {
    {"PTDS_POLICY", "perthread", {"guarded", "per-thread", "stream", "observe", "none"}},
    {"PTDS_POLICY", "GUARDED", {"guarded"}},
    {"PTDS_POLICY", "guarded ", {"guarded"}},
    {"PTDS_POLICY", "0", {"guarded"}},
    {"PTDS_POLICY", "ordered", {"guarded", "per-thread"}},
    {"PTDS_LANES", "0", {"1 to 32"}},
    {"PTDS_LANES", "33", {"1 to 32"}},
    {"PTDS_LANES", "-1", {"1 to 32"}},
    {"PTDS_LANES", "4x", {"1 to 32"}},
    {"PTDS_LANES", "all", {"1 to 32"}},
    {"PTDS_STREAM", "async", {"blocking", "nonblocking", "priority="}},
    {"PTDS_STREAM", "blocking,", {"blocking"}},
    {"PTDS_STREAM", "blocking,priority=", {"priority="}},
    {"PTDS_STREAM", "blocking,priority=high", {"priority="}},
    {"PTDS_STREAM", "blocking,priority=1,priority=2", {"priority="}},
    {"PTDS_STREAM", "blocking,priority=99999999999999999999", {"priority="}},
    {"PTDS_STREAM", "non-blocking", {"nonblocking"}},
    {"PTDS_EXPLICIT_LEGACY", "yes", {"keep", "remap"}},
    {"PTDS_REPORT", "sumary", {"summary", "off", "path"}},
    {"PTDS_REPORT", "on", {"summary"}},
    {"PTDS_LOG", "stdout", {"off", "stderr", "path"}},
    {"PTDS_TRACE_LIMIT", "lots", {"K, M or G"}},
    {"PTDS_TRACE_LIMIT", "-1", {"K, M or G"}},
    {"PTDS_TRACE_LIMIT", "256MB", {"K, M or G"}},
    {"PTDS_TRACE_LIMIT", "1T", {"K, M or G"}},
    {"PTDS_TRACE_LIMIT", "0", {"1M"}},
    {"PTDS_TRACE_LIMIT", "1000", {"1M"}},
    {"PTDS_TRACE_LIMIT", "99999999999999999999G", {"K, M or G"}},
    {"PTDS_REPORT_BUDGET", "10", {"ms, s or m"}},
    {"PTDS_REPORT_BUDGET", "0s", {"1ms"}},
    {"PTDS_REPORT_BUDGET", "-1s", {"1ms"}},
    {"PTDS_REPORT_BUDGET", "1 s", {"ms, s or m"}},
    {"PTDS_REPORT_BUDGET", "1h", {"ms, s or m"}},
    {"PTDS_REPORT_BUDGET", "99999999999999m", {"ms, s or m"}},
    {"PTDS_DISABLE", "0", {"1", "unset"}},
    {"PTDS_DISABLE", "true", {"1"}},
    {"PTDS_DIAG", "loud", {"errors", "quiet", "debug"}},
};

class WrongValue : public testing::TestWithParam<Wrong>
{
};

TEST_P(WrongValue, IsSaidOnceAndTheProgramRunsUntouched)
{
    const Wrong &wrong = GetParam();
    Outcome outcome = run_untouched({{wrong.variable, wrong.value}});
    std::vector<std::string> lines = lines_of(outcome.err);
    ASSERT_EQ(lines.size(), 1u) << outcome;
    EXPECT_EQ(lines[0].rfind("ptds: ", 0), 0u) << lines[0];
    EXPECT_NE(lines[0].find(wrong.variable), std::string::npos) << lines[0];
    EXPECT_NE(lines[0].find(wrong.value), std::string::npos) << lines[0];
    for (const char *word : wrong.allowed)
        EXPECT_NE(lines[0].find(word), std::string::npos) << lines[0];
}

INSTANTIATE_TEST_SUITE_P(Every, WrongValue, testing::ValuesIn(wrongs));

TEST(Environment, TwoWrongValuesAreOneLine)
{
    Outcome outcome = run_untouched({{"PTDS_POLICY", "fast"}, {"PTDS_REPORT", "sumary"}});
    EXPECT_EQ(lines_of(outcome.err).size(), 1u) << outcome;
}

/* The line is of a bounded length, and what is allowed is what it is for. */
TEST(Environment, ALongWrongValueIsCut)
{
    for (const char *variable : {"PTDS_POLICY", "PTDS_EXCLUDE"}) {
        std::vector<std::string> lines = lines_of(run_untouched({{variable, std::string(20000, 'x')}}).err);
        ASSERT_EQ(lines.size(), 1u) << variable;
        EXPECT_EQ(lines[0].find(std::string("ptds: ") + variable + "=xxx"), 0u) << lines[0];
        EXPECT_NE(lines[0].find("x... is not allowed ("), std::string::npos) << lines[0];
        EXPECT_NE(lines[0].find("); libptds does nothing in this process"), std::string::npos) << lines[0];
    }
}

TEST(Environment, AWrongValueIsNotSaidIfQuiet)
{
    EXPECT_EQ(run_untouched({{"PTDS_POLICY", "fast"}, {"PTDS_DIAG", "quiet"}}).err, "");
}

TEST(Environment, TheKillSwitch)
{
    EXPECT_EQ(run_untouched({{"PTDS_DISABLE", "1"}}).err, "");
    EXPECT_EQ(run_untouched({{"PTDS_DISABLE", "1"}, {"PTDS_POLICY", "stream"}, {"PTDS_LOG", "stderr"}}).err, "");
}

TEST(Environment, PolicyNoneLeavesNothing)
{
    EXPECT_EQ(run_untouched({{"PTDS_POLICY", "none"}, {"PTDS_REPORT", "summary"}, {"PTDS_LOG", "stderr"}}).err, "");
}

TEST(Environment, EveryAllowedValue)
{
    Folder folder;
    const std::vector<std::pair<const char *, std::vector<std::string>>> allowed = {
        {"PTDS_POLICY", {"guarded", "per-thread", "stream", "observe", "none", ""}},
        {"PTDS_LANES", {"1", "8", "32", ""}},
        {"PTDS_STREAM", {"blocking", "nonblocking", "blocking,priority=0", "nonblocking,priority=-5", ""}},
        {"PTDS_EXPLICIT_LEGACY", {"keep", "remap", ""}},
        {"PTDS_EXCLUDE", {"libfoo*", "libfoo*,libbar.so", ",", ""}},
        {"PTDS_INCLUDE", {"libfoo*", ""}},
        {"PTDS_REPORT", {"off", folder / "report", "./report.txt"}},
        {"PTDS_LOG", {"off", folder / "log", ""}},
        {"PTDS_TRACE", {folder / "trace", folder / "%h-%p-%r-%%", ""}},
        {"PTDS_TRACE_LIMIT", {"1M", "1048576", "2000K", "1G", ""}},
        {"PTDS_REPORT_BUDGET", {"1ms", "20s", "5m", ""}},
        {"PTDS_DISABLE", {"1", ""}},
        {"PTDS_DIAG", {"errors", "quiet", ""}},
    };
    for (const auto &[variable, values] : allowed) {
        for (const std::string &value : values) {
            Command command = shimmed("steps_child", {"launch@0", "exit:3"}, {{variable, value}});
            Outcome outcome = run(command);
            EXPECT_EQ(outcome.exit, 3) << variable << "=" << value << "\n" << outcome;
            EXPECT_EQ(outcome.err, "") << variable << "=" << value;
        }
    }
    unlink("report.txt");
}

/* What a user gets who sets nothing. */
TEST(Environment, DefaultsRemapAndSummarise)
{
    Command command = shimmed("steps_child", {"launch@0", "exit:3"});
    command.env.clear();
    Outcome outcome = run(command);
    std::vector<std::string> lines = lines_of(outcome.err);
    EXPECT_EQ(outcome.exit, 3);
    EXPECT_NE(outcome.out.find("cuLaunchKernel(L1)"), std::string::npos) << outcome;
    EXPECT_GE(lines.size(), 1u);
    EXPECT_LE(lines.size(), 15u) << outcome;
    for (const std::string &line : lines)
        EXPECT_EQ(line.rfind("ptds:", 0), 0u) << line;
    EXPECT_NE(outcome.err.find("guarded"), std::string::npos) << outcome;
}

TEST(Environment, DebugSaysWhichDriver)
{
    Outcome outcome = run(shimmed("steps_child", {"launch@0", "exit:0"}, {{"PTDS_DIAG", "debug"}}));
    EXPECT_NE(outcome.err.find("libcuda.so.1"), std::string::npos) << outcome;
}

TEST(Environment, ReportAndLogGoIntoFiles)
{
    Folder folder;
    Outcome outcome =
        run(shimmed("steps_child", {"stream:a", "launch@a", "launch@0", "memset:D", "exit:3"},
                    {{"PTDS_POLICY", "observe"}, {"PTDS_REPORT", folder / "report-%p"}, {"PTDS_LOG", folder / "log"}}));
    EXPECT_EQ(outcome.exit, 3);
    EXPECT_EQ(outcome.err, "");
    std::string report = "report-" + std::to_string(outcome.pid);
    ASSERT_EQ(folder.files(), (std::vector<std::string>{"log", report}));
    EXPECT_NE(read_file(folder / report).find("steps_child"), std::string::npos);
    EXPECT_NE(read_file(folder / "log").find("cuLaunchKernel"), std::string::npos);
}

} // namespace
} // namespace ptds

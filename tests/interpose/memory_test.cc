/* SPDX-License-Identifier: Apache-2.0
 *
 * How much memory of the process is the shim's: the record's limit, and nothing that grows with threads that have ended. On
 * the simulated driver, whose own memory does not grow with what it has done.
 */
#include "tests/interpose/recorded.h"

namespace ptds
{
namespace
{

/* MB of memory as main ends. */
double resident(const std::vector<std::string> &mode, const Settings &settings)
{
    Command command = shimmed("load_child", mode, settings);
    command.libraries = simulator();
    Outcome outcome = run(command);
    long kb = 0;
    EXPECT_EQ(outcome.exit, 0) << outcome;
    EXPECT_EQ(sscanf(outcome.out.c_str(), "ready\nend %*d %ld", &kb), 1) << outcome;
    return static_cast<double>(kb) / 1024;
}

/* 800,000 calls of 72 bytes and more are 58 MB. */
const std::vector<std::string> many_calls = {"crowd", "8", "100000", "0"};

TEST(Memory, OfARecordThatNobodyAskedFor)
{
    for (const char *policy : {"guarded", "observe"}) {
        double without = resident(many_calls, {{"PTDS_POLICY", policy}});
        double with = resident(many_calls, {{"PTDS_POLICY", policy}, {"PTDS_REPORT", "/dev/null"}});
        EXPECT_LT(with - without, 32 + 16) << policy;
        EXPECT_GT(with - without, 32 - 16) << policy;
    }
}

TEST(Memory, TheLimitOfTheRecordIsSettable)
{
    double without = resident(many_calls, {});
    EXPECT_LT(resident(many_calls, {{"PTDS_REPORT", "/dev/null"}, {"PTDS_TRACE_LIMIT", "2M"}}) - without, 12);
    EXPECT_GT(resident(many_calls, {{"PTDS_REPORT", "/dev/null"}, {"PTDS_TRACE_LIMIT", "200M"}}) - without, 40);
}

/* Where a trace is asked for and can't be had, it is not kept in memory instead. */
TEST(Memory, OfATraceThatHasNoFile)
{
    Settings settings = {{"PTDS_TRACE", "/nonexistent/trace"}, {"PTDS_DIAG", "quiet"}};
    EXPECT_LT(resident(many_calls, settings) - resident(many_calls, {}), 32 + 16);
}

TEST(Memory, OfATraceIsItsFiles)
{
    Folder folder;
    EXPECT_LT(resident(many_calls, {{"PTDS_TRACE", folder / "trace"}}) - resident(many_calls, {}), 16);
    EXPECT_GT(read_file(folder / "trace").size(), 50u << 20);
}

/* Of 400 threads that made four calls each: their records, and little else. */
TEST(Memory, OfThreadsThatHaveEnded)
{
    const std::vector<std::string> threads = {"crowd", "400", "4", "0"};
    double without = resident(threads, {}), with = resident(threads, {{"PTDS_REPORT", "/dev/null"}});
    EXPECT_LT(with - without, 400 * 16.0 / 1024 + 1);
}

} // namespace
} // namespace ptds

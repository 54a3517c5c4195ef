/* SPDX-License-Identifier: Apache-2.0
 *
 * Counts are exact whatever there is no room for, and what was not recorded is said before anything is concluded: more
 * threads than chunks, disks that are full, on the simulated driver.
 */
#include <csignal>
#include <sys/resource.h>

#include "tests/interpose/recorded.h"

namespace ptds
{
namespace
{

Command crowd(int threads, int calls, const Settings &settings)
{
    Command command = shimmed("load_child", {"crowd", std::to_string(threads), std::to_string(calls), "0"}, settings);
    command.libraries = simulator();
    return command;
}

/* cuInit, the context, the module and its kernel; a context and launches each. */
uint64_t calls_of(int threads, int calls)
{
    return static_cast<uint64_t>(4 + threads * (1 + calls));
}

size_t line_with(const Outcome &outcome, const std::string &text)
{
    std::vector<std::string> lines = lines_of(outcome.err);
    size_t at = 0;
    while (at < lines.size() && lines[at].find(text) == std::string::npos)
        at++;
    EXPECT_LT(at, lines.size()) << text << "\n" << outcome;
    return at;
}

TEST(Counts, MoreThreadsThanChunks)
{
    for (const char *policy : {"guarded", "observe"}) {
        Outcome outcome =
            run(crowd(300, 4, {{"PTDS_POLICY", policy}, {"PTDS_TRACE_LIMIT", "1M"}, {"PTDS_REPORT", "summary"}}));
        EXPECT_EQ(outcome.exit, 0) << outcome;
        EXPECT_EQ(outcome.out.rfind("ready\nend ", 0), 0u) << outcome;
        line_with(outcome, "1504 driver calls");
        line_with(outcome, "1200 default-stream operations");
        EXPECT_LT(line_with(outcome, " of 1504 calls were not recorded"), line_with(outcome, "Looked at "));
        line_with(outcome, " of the calls; in those no order that a result needs was missing");
        line_with(outcome, std::string(policy) == "guarded" ? "how much faster: ptds probe" : "Default stream");
        if (std::string(policy) == "observe")
            line_with(outcome, ", as recorded: ");
    }
}

/* Some threads end before others begin, which then have what those had. */
TEST(Counts, InTheTrace)
{
    for (const char *limit : {"1M", "8M", "256M"}) {
        Recorded recorded = record_of("load_child", {"crowd", "300", "4", "0"}, "observe",
                                      {{"PTDS_TRACE_LIMIT", limit}, {"PTDS_DIAG", "quiet"}});
        EXPECT_EQ(recorded.trace.counts["cuLaunchKernel"], 1200u) << limit;
        EXPECT_EQ(recorded.trace.counts["cuCtxSetCurrent"], 301u) << limit;
        EXPECT_EQ(default_counts(recorded.bytes).legacy, 1200u) << limit;
        EXPECT_EQ(recorded.trace.header.uncounted, 0u) << limit;
        EXPECT_EQ(recorded.trace.header.refused != 0, std::string(limit) != "256M") << limit;
    }
}

/* The records that are missing are those that the calls are short of. */
TEST(Counts, OfWhatWasRefused)
{
    Recorded recorded = record_of("load_child", {"crowd", "300", "4", "0"}, "observe",
                                  {{"PTDS_TRACE_LIMIT", "1M"}, {"PTDS_DIAG", "quiet"}});
    uint64_t kept = 0;
    for (const auto &[kind, record] : recorded.trace.records)
        kept += kind == PTDS_REC_CALL;
    EXPECT_EQ(recorded.trace.header.refused, calls_of(300, 4) - kept);
}

/* Those of threads that are still there when the process exits are in the trace, too. */
TEST(Counts, OfThreadsThatAreThereAtExit)
{
    Recorded recorded = record_of("load_child", {"crowd", "300", "4", "0", "leave"}, "observe",
                                  {{"PTDS_TRACE_LIMIT", "1M"}, {"PTDS_DIAG", "quiet"}});
    EXPECT_EQ(recorded.trace.counts["cuLaunchKernel"], 1200u);
    EXPECT_EQ(recorded.trace.header.uncounted, 0u);
}

/* A killed process has no more than what is in the file, which says so. */
TEST(Counts, OfAKilledProcess)
{
    Folder folder;
    Command command = crowd(300, 4, {{"PTDS_TRACE", folder / "trace"}, {"PTDS_TRACE_LIMIT", "1M"}});
    command.argv.push_back("hold");
    Running running(command);
    ASSERT_TRUE(running.wait_for("ready")) << running.end();
    running.kill(SIGKILL);
    EXPECT_EQ(running.end().signal, SIGKILL);
    Walk trace = walk(folder / "trace");
    EXPECT_GT(trace.header.uncounted, 200u);
    EXPECT_EQ(trace.counts["cuLaunchKernel"] + 4 * trace.header.uncounted, 1200u);
}

/* No room for the header, or for anything after it: the summary is that of a process that was asked for none. */
TEST(Counts, WithAFullDisk)
{
    for (rlim_t bytes : {rlim_t{1000}, rlim_t{PTDS_HEADER_SIZE}, rlim_t{200000}}) {
        SCOPED_TRACE(bytes);
        Folder folder;
        Command command = crowd(3, 100, {{"PTDS_TRACE", folder / "trace"}, {"PTDS_REPORT", "summary"}});
        command.before = [bytes] {
            rlimit limit = {bytes, bytes};
            setrlimit(RLIMIT_FSIZE, &limit);
        };
        Outcome outcome = run(command);
        EXPECT_EQ(outcome.exit, 0) << outcome;
        EXPECT_EQ(line_with(outcome, "no space for " + folder / "trace" + "; recording in memory only"), 0u);
        line_with(outcome, "policy guarded");
        line_with(outcome, "307 driver calls");
        line_with(outcome, "300 default-stream operations moved");
        line_with(outcome, "results safe");
        EXPECT_TRUE(folder.files().empty());
    }
}

/* It gets full later: the oldest detail goes first. */
TEST(Counts, WithADiskThatGetsFull)
{
    Folder folder;
    Command command = crowd(3, 10000, {{"PTDS_TRACE", folder / "trace"}, {"PTDS_REPORT", "summary"}});
    command.before = [] {
        rlimit limit = {1500000, 1500000};
        setrlimit(RLIMIT_FSIZE, &limit);
    };
    Outcome outcome = run(command);
    EXPECT_EQ(outcome.exit, 0) << outcome;
    EXPECT_EQ(
        line_with(outcome,
                  "no space for more of the trace, or its file is gone; the oldest detail goes first, counts stay exact"),
        0u);
    line_with(outcome, "30 037 driver calls");
    EXPECT_LT(line_with(outcome, " of 30 037 calls were not recorded"), line_with(outcome, "Looked at "));
    EXPECT_EQ(walk(folder / "trace").counts["cuLaunchKernel"], 30000u);
}

} // namespace
} // namespace ptds

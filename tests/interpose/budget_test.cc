/* SPDX-License-Identifier: Apache-2.0
 *
 * How long a process is kept at its exit: no longer than the report may take, whatever there is to look at. On the
 * simulated driver. What it may take where nothing is set: tests/analysis/at_exit_test.cc.
 */
#include <ctime>

#include "tests/interpose/recorded.h"

namespace ptds
{
namespace
{

struct Ended {
    Outcome outcome;
    long long after_main; /* ms */
};

/* Each thread's work on the default stream comes behind that of all other streams: of 128 threads 100,000 orders in 13,000
 * calls, which with so many streams take guarded itself a minute; of 64 a quarter, and a second. */
Ended ended(const Settings &more, const char *threads = "64")
{
    Ended ended;
    Settings settings = more;
    settings.insert({"PTDS_REPORT", "summary"});
    Command command = shimmed("load_child", {"crowd", threads, "100", "8"}, settings);
    command.libraries = simulator();
    ended.outcome = run(command);
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long long end = 0;
    EXPECT_EQ(sscanf(ended.outcome.out.c_str(), "ready\nend %lld", &end), 1) << ended.outcome;
    EXPECT_EQ(ended.outcome.exit, 0) << ended.outcome;
    ended.after_main = now.tv_sec * 1000LL + now.tv_nsec / 1000000 - end;
    return ended;
}

bool says(const Ended &ended, const std::string &text)
{
    return ended.outcome.err.find(text) != std::string::npos;
}

/* What is left out comes first, exact counts are as ever, and nothing is said of what was not seen. */
TEST(Budget, WhatThereIsNoTimeForIsLeftOut)
{
    for (const char *policy : {"guarded", "observe"}) {
        Ended found = ended({{"PTDS_POLICY", policy}, {"PTDS_REPORT_BUDGET", "5ms"}});
        EXPECT_LT(found.after_main, 3000) << found.outcome;
        EXPECT_TRUE(says(found, "6980 driver calls")) << found.outcome;
        EXPECT_TRUE(says(found, " of 6980 calls were not looked at: no time for ")) << found.outcome;
        EXPECT_TRUE(says(found, "704 default-stream operations")) << found.outcome;
        EXPECT_TRUE(says(found, " of the calls; in those no order that a result needs was missing")) << found.outcome;
        EXPECT_TRUE(says(found, "ptds: Looked at ")) << found.outcome;
        EXPECT_FALSE(says(found, "No findings: ")) << found.outcome;
        EXPECT_FALSE(says(found, "no thread waited") || says(found, "threads wait only")) << found.outcome;
        EXPECT_LT(found.outcome.err.find("not looked at"), found.outcome.err.find("default stream")) << found.outcome;
    }
}

TEST(Budget, OfAFullReport)
{
    Folder folder;
    Ended found = ended({{"PTDS_REPORT", folder / "report"}, {"PTDS_REPORT_BUDGET", "5ms"}});
    EXPECT_LT(found.after_main, 3000) << found.outcome;
    EXPECT_NE(read_file(folder / "report").find(" of 6980 calls were not looked at"), std::string::npos);
}

TEST(Budget, AsMuchAsIsAskedFor)
{
    Ended found = ended({{"PTDS_POLICY", "observe"}, {"PTDS_REPORT_BUDGET", "5m"}}, "128");
    EXPECT_FALSE(says(found, "not looked at")) << found.outcome;
    EXPECT_TRUE(says(found, "Right, as far as it was followed: ")) << found.outcome;
}

} // namespace
} // namespace ptds

/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of a driver that the table does not know, though they treat the default stream: their arguments and results
 * come through whole, all work of the context comes before a call where legacy order says so, and all later work after it.
 */
#include "tests/interpose/recorded.h"

namespace ptds
{
namespace
{

Command future(const std::vector<std::string> &arguments, const Settings &settings,
               const std::string &program = "future_child")
{
    Command command = shimmed(program, arguments, settings);
    command.env["SIM_DRIVER_VERSION"] = "99000";
    command.libraries = simulator();
    return command;
}

const Settings keeping_order[] = {
    {{"PTDS_DISABLE", "1"}},
    {{"PTDS_POLICY", "none"}},
    {{"PTDS_POLICY", "observe"}},
    {{"PTDS_POLICY", "guarded"}},
    {{"PTDS_POLICY", "guarded"}, {"PTDS_LANES", "4"}},
    {{"PTDS_POLICY", "guarded"}, {"PTDS_EXCLUDE", "future_*"}},
    {{"PTDS_POLICY", "stream"}},
    {{"PTDS_POLICY", "stream"}, {"PTDS_STREAM", "nonblocking"}},
};

class Future : public testing::TestWithParam<const char *>
{
};

TEST_P(Future, IsOrderedOnEveryStream)
{
    for (Settings settings : keeping_order) {
        SCOPED_TRACE(testing::PrintToString(settings));
        Folder folder;
        if (settings.count("PTDS_LANES")) /* and one that is recorded */
            settings["PTDS_TRACE"] = folder / "trace";
        Outcome outcome = run(future({"dlsym", GetParam()}, settings));
        EXPECT_EQ(outcome.out, "without a context: 1\ndone\n") << outcome;
        EXPECT_EQ(outcome.err, "") << outcome;
    }
}

INSTANTIATE_TEST_SUITE_P(Where, Future,
                         testing::Values("blocking", "twin", "free", "legacy", "own", "captured", "beside", "edge", "event",
                                         "pointers"),
                         [](const auto &of) { return std::string(of.param); });

TEST(FutureDoors, AllGiveTheSame)
{
    for (const char *how : {"default", "proc"})
        for (const char *where : {"blocking", "twin"}) {
            Outcome outcome = run(future({how, where}, {{"PTDS_POLICY", "guarded"}}));
            EXPECT_EQ(outcome.out, "without a context: 1\ndone\n") << how << " " << where << outcome;
        }
}

TEST(FutureDoors, ErrorsAndErrnoAreTheDrivers)
{
    for (const char *policy : {"observe", "per-thread", "guarded", "stream"}) {
        EXPECT_EQ(run(future({"dlsym", "error"}, {{"PTDS_POLICY", policy}})).out, "without a context: 1\n1\ndone\n")
            << policy;
        Command command = future({"dlsym", "legacy"}, {{"PTDS_POLICY", policy}});
        command.env["SIM_ERRNO_BUT"] = "cuCtxGetCurrent,cuFutureMix,cuFutureMix_ptsz";
        EXPECT_EQ(run(command).out.find("errno"), std::string::npos) << policy; /* per-thread gives order up */
    }
}

/* The newest functions that the table does know. */
TEST(Newest, AreOrderedAsTheirElders)
{
    for (const Settings &settings : keeping_order) {
        SCOPED_TRACE(testing::PrintToString(settings));
        Command command = future({}, settings, "newest_child");
        command.env["SIM_DRIVER_VERSION"] = "13050";
        EXPECT_EQ(run(command).out, "host function: 7, refused: 1\ncopy: 8\ngraph: 10\ndone\n");
    }
}

/* What was found and handed out, by name, and how often it was called. */
std::string told(const Walk &trace)
{
    std::string text;
    for (const auto &[kind, bytes] : trace.records) {
        ptds_rec_UNTABLED record;
        if (kind != PTDS_REC_UNTABLED)
            continue;
        memcpy(&record, bytes.data(), sizeof record);
        text += bytes.substr(sizeof record).c_str() + std::string(" ") + std::to_string(record.handed) + " " +
                std::to_string(record.version) + " " + std::to_string(record.calls) + "\n";
    }
    return text;
}

TEST(FutureRecord, NamesItAndCountsItsCalls)
{
    Folder folder;
    run(future({"dlsym", "blocking"}, {{"PTDS_TRACE", folder / "trace"}}));
    EXPECT_EQ(told(walk(folder / "trace")), "cuFutureMix 2 0 0\ncuFutureMix 2 0 6\n");
    run(future({"dlsym", "blocking"}, {{"PTDS_TRACE", folder / "observed"}, {"PTDS_POLICY", "observe"}}));
    EXPECT_EQ(told(walk(folder / "observed")), "cuFutureMix 0 0 0\n");
    Outcome outcome = run(future({"dlsym", "blocking"}, {{"PTDS_REPORT", "summary"}}));
    EXPECT_NE(outcome.err.find("cuFutureMix"), std::string::npos) << outcome;
}

TEST(FutureRecord, SaysWhereThereIsNoRoom)
{
    Folder folder;
    Outcome outcome = run(future({"many"}, {{"PTDS_TRACE", folder / "trace"}}));
    EXPECT_EQ(outcome.out, "without a context: 1\n120 calls\ndone\n") << outcome;
    EXPECT_EQ(lines_of(outcome.err).size(), 1u) << outcome;
    EXPECT_NE(outcome.err.find("more functions that the shim does not know than there is room for"), std::string::npos)
        << outcome;
    const std::string text = told(walk(folder / "trace"));
    EXPECT_NE(text.find("cuFutureNothing00 2 99000 0\n"), std::string::npos) << text;
    EXPECT_NE(text.find("cuFutureNothing00 2 99000 2\n"), std::string::npos) << text;
    EXPECT_NE(text.find("cuFutureNothing01 2 99000 4\n"), std::string::npos) << text;
    EXPECT_NE(text.find("cuFutureNothing30 2 99000 2\n"), std::string::npos) << text;
    EXPECT_NE(text.find("cuFutureNothing31 0 99000 0\n"), std::string::npos) << text;
    EXPECT_NE(text.find("cuFutureNothing39 0 99000 0\n"), std::string::npos) << text;
    outcome = run(future({"many"}, {{"PTDS_POLICY", "observe"}}));
    EXPECT_EQ(outcome.err, "") << outcome;
}

TEST(FutureThreads, OthersStreamsComeAndGo)
{
    for (const char *policy : {"guarded", "stream"}) {
        Outcome outcome = run(future({"threads"}, {{"PTDS_POLICY", policy}}));
        EXPECT_EQ(outcome.out, "without a context: 1\ndone\n") << policy << outcome;
        EXPECT_EQ(outcome.err, "") << policy;
    }
}

} // namespace
} // namespace ptds

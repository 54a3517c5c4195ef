// SPDX-License-Identifier: Apache-2.0
//
// `ptds check` against earlier runs: what runs differ by anyway, and what does not fail for it.
#include <sys/stat.h>
#include <unistd.h>

#include "tests/analysis/checked.h"

namespace ptds
{
namespace
{

TEST(Baseline, HoldsBackWhatItHas)
{
    Baselines runs;
    std::string json = runs.Of({{}});
    Outcome same = runs.Check({runs.Recorded({}), "--baseline", json});
    EXPECT_EQ(0, same.exit) << same;
    EXPECT_EQ(
        "0 of 2 findings fail (0 new, 0 grown, against 1 run); 2 findings pass because the baseline has them; 1 process",
        LastLine(same));
    EXPECT_EQ(1, runs.Check({runs.Recorded({})}).exit) << "without it";
}

TEST(Baseline, CallsThatBecameMoreFail)
{
    Baselines runs;
    std::string json = runs.Of({{}, {}, {}});
    Outcome twice = runs.Check({runs.Recorded({8}), "--baseline", json});
    EXPECT_EQ(1, twice.exit) << twice;
    EXPECT_NE(std::string::npos, twice.out.find("FAIL sync-copy [")) << twice.out;
    EXPECT_NE(std::string::npos, twice.out.find(" grown: cuMemcpyDtoH_v2 in prog: 8 calls a run, was 4")) << twice.out;
    EXPECT_NE(std::string::npos, twice.out.find("FAIL more-calls grown: cuLaunchKernel of a in prog: 8 calls a run, was 4"))
        << twice.out;
    EXPECT_EQ(0, runs.Check({runs.Recorded({5}), "--baseline", json}).exit) << "by a quarter";
    EXPECT_EQ(1, runs.Check({runs.Recorded({5}), "--baseline", json, "--growth", "20"}).exit);
    EXPECT_EQ(0, runs.Check({runs.Recorded({8}), "--baseline", json, "--growth", "120"}).exit);
    EXPECT_EQ(0, runs.Check({runs.Recorded({8}), "--baseline", json, "--fail-on", "error"}).exit);
    EXPECT_EQ(1, runs.Check({runs.Recorded({8}), "--baseline", json, "--fail-on", "more-calls"}).exit);
    EXPECT_EQ(0, runs.Check({runs.Recorded({8}), "--baseline", json, "--ignore", "more-calls,sync-copy"}).exit);
    EXPECT_EQ(1, runs.Check({runs.Recorded({8}), "--baseline", json, "--ignore", "more-calls"}).exit) << "the copies";
}

TEST(Baseline, CallsThatVaryDoNotFail)
{
    Baselines runs;
    std::string json = runs.Of({{4}, {9}, {5}, {7}});
    EXPECT_EQ(0, runs.Check({runs.Recorded({9}), "--baseline", json}).exit);
    EXPECT_EQ(0, runs.Check({runs.Recorded({10}), "--baseline", json}).exit) << "they differ by 5, and this is 4 above";
    EXPECT_EQ(1, runs.Check({runs.Recorded({18}), "--baseline", json}).exit);
}

TEST(Baseline, ANewPlaceFailsIfTheCallsAreMore)
{
    Baselines runs;
    std::string json = runs.Of({{}, {}, {}});
    Work moved = {2, 10000, 2, "other@lib"}, more = {4, 10000, 4, "other@lib"};
    EXPECT_EQ(0, runs.Check({runs.Recorded(moved), "--baseline", json}).exit) << "half of the calls has another place";
    Outcome ran = runs.Check({runs.Recorded(more), "--baseline", json});
    EXPECT_EQ(1, ran.exit) << ran;
    EXPECT_NE(std::string::npos, ran.out.find("FAIL more-calls new: cuMemcpyDtoH_v2 in lib: 4 calls a run")) << ran.out;
}

TEST(Baseline, TimeAloneFailsWhereRepetitionsShowIt)
{
    Baselines runs;
    std::string json = runs.Of({{4, 10000}, {4, 11000}, {4, 10500}}), one = runs.Of({{4, 10000}});
    std::vector<std::string> slow = {"--baseline", json, "--fail-on", "slower"};
    auto with = [&](std::vector<std::string> arguments, std::vector<int> lost) {
        for (int us : lost)
            arguments.push_back(runs.Recorded({4, us}));
        return runs.Check(arguments);
    };
    EXPECT_EQ(0, with({"--baseline", json}, {50000, 50000, 50000}).exit) << "not asked for";
    Outcome ran = with(slow, {50000, 51000, 52000});
    EXPECT_EQ(1, ran.exit) << ran;
    EXPECT_NE(std::string::npos, ran.out.find("FAIL slower grown: cuMemcpyDtoH_v2 in prog: 4 calls a run, was 4; 203.9 ms "
                                              "a run (199.9 ms to 207.9 ms), was 41.9 ms (39.9 ms to 43.9 ms)"))
        << ran.out;
    EXPECT_EQ("; 3 processes in 3 runs", LastLine(ran).substr(LastLine(ran).find("; 3"))) << "each is a run";
    EXPECT_EQ(0, with(slow, {15000, 10000, 9000}).exit) << "the median is within";
    EXPECT_EQ(0, with(slow, {13000, 13000, 13000}).exit) << "less than half as much again";
    ran = with(slow, {50000});
    EXPECT_EQ(3, ran.exit) << "one run proves nothing, and that is no pass: " << ran;
    EXPECT_NE(std::string::npos, ran.err.find("needs 3 runs")) << ran.err;
    EXPECT_EQ(3, with({"--baseline", one, "--fail-on", "slower"}, {50000, 50000, 50000}).exit);
    EXPECT_EQ(1, with({"--baseline", json, "--fail-on", "cost>30ms"}, {50000}).exit) << "a limit of one's own, now passed";
    EXPECT_EQ(0, with({"--baseline", json, "--fail-on", "cost>5ms"}, {50000}).exit) << "passed before";
    EXPECT_EQ(1, with({"--baseline", json, "--fail-on", "any,cost>30ms"}, {50000}).exit) << "each condition by itself";
    EXPECT_EQ(0, with({"--baseline", json, "--fail-on", "any,cost>5ms"}, {50000}).exit) << "passed before";
    EXPECT_EQ(0, with({"--baseline", json, "--fail-on", "any,cost>30ms", "--ignore", "sync-copy"}, {50000}).exit);
}

/* A wait that is a finding if it lasts, and none if it does not. */
TEST(Baseline, AFindingThatTimeMadeIsNotProvenByOneRun)
{
    Baselines runs;
    std::string json = runs.Of({{4, 3}, {4, 3}, {4, 3}});
    Outcome one = runs.Check({runs.Recorded({4, 3000}), "--baseline", json, "--fail-on", "sync-copy"});
    EXPECT_EQ(0, one.exit) << one;
    EXPECT_EQ(0u, one.out.find("maybe sync-copy [")) << one.out;
    EXPECT_NE(std::string::npos, one.out.find("not proven: its calls are as many as in the baseline")) << one.out;
    Outcome three = runs.Check({runs.Recorded({4, 3000}), runs.Recorded({4, 3000}), runs.Recorded({4, 3000}), "--baseline",
                                json, "--fail-on", "sync-copy"});
    EXPECT_EQ(1, three.exit) << three;
    EXPECT_EQ(0u, three.out.find("FAIL sync-copy [")) << three.out;
    Outcome two_of_three = runs.Check({runs.Recorded({4, 3000}), runs.Recorded({4, 3}), runs.Recorded({4, 3000}),
                                       "--baseline", json, "--fail-on", "sync-copy"});
    EXPECT_EQ(0, two_of_three.exit) << two_of_three;
    EXPECT_NE(std::string::npos, two_of_three.out.find("not proven: in 2 of 3 runs")) << two_of_three;
    Outcome one_of_three = runs.Check({runs.Recorded({4, 3000}), runs.Recorded({4, 3}), runs.Recorded({4, 3}), "--baseline",
                                       json, "--fail-on", "sync-copy"});
    EXPECT_EQ(0, one_of_three.exit) << one_of_three;
    EXPECT_EQ(0u, one_of_three.out.find("maybe sync-copy [")) << one_of_three;
    EXPECT_NE(std::string::npos, one_of_three.out.find("not proven: in 1 of 3 runs")) << one_of_three;
    EXPECT_EQ(std::string::npos, one_of_three.out.find("because the baseline has")) << "it has not: " << one_of_three;
    EXPECT_EQ(1, runs.Check({runs.Recorded({4, 30000}), "--baseline", json, "--fail-on", "any,cost>20ms"}).exit)
        << "new, not proven, and over the limit";
}

TEST(Check, ACostIsOfOneRun)
{
    Baselines runs;
    std::string one = runs.Recorded({}), two = runs.Recorded({}), three = runs.Recorded({});
    EXPECT_EQ(1, runs.Check({one, "--fail-on", "cost>8ms"}).exit) << "10 ms";
    EXPECT_EQ(0, runs.Check({one, "--fail-on", "cost>20ms"}).exit);
    Outcome ran = runs.Check({one, two, three, "--fail-on", "cost>20ms"});
    EXPECT_EQ(0, ran.exit) << "30 ms in three runs: " << ran;
    EXPECT_EQ("0 of 2 findings fail; 3 processes in 3 runs", LastLine(ran));
    EXPECT_EQ(1, runs.Check({runs("a.ptds", CallsOf({})), runs("b.ptds", CallsOf({})), runs("c.ptds", CallsOf({})),
                             "--fail-on", "cost>20ms"})
                     .exit)
        << "three processes at the same time are one run";
}

TEST(Baseline, ProcessesAtTheSameTimeAreOneRun)
{
    Baselines runs;
    std::string one = runs("one.ptds", CallsOf({})), two = runs("two.ptds", CallsOf({})), json = runs.folder / "then.json";
    Outcome made = runs.Check({one, two, "--update", "--baseline", json});
    EXPECT_EQ(json + ": 1 run, 1 added\n", made.out);
    EXPECT_EQ(
        "0 of 2 findings fail (0 new, 0 grown, against 1 run); 2 findings pass because the baseline has them; 2 processes",
        LastLine(runs.Check({one, two, "--baseline", json})));
    EXPECT_EQ(0, runs.Check({one, "--baseline", json}).exit) << "half the calls, by half the processes";
    EXPECT_EQ(1, runs.Check({runs.Recorded({8}), "--baseline", json}).exit) << "as many as both, by one";
}

TEST(Baseline, UpdatesAddAndForgetTheEarliest)
{
    Baselines runs;
    std::string json = runs.folder / "b.json";
    EXPECT_EQ(json + ": 2 runs, 2 added\n",
              runs.Check({"--update", "--baseline", json, runs.Recorded({4}), runs.Recorded({4})}).out);
    EXPECT_EQ(json + ": 3 runs, 1 added\n", runs.Check({"--update", "--baseline", json, runs.Recorded({20})}).out);
    std::vector<long long> blocked; /* of the runs: their threads were blocked for longer the more copies they made */
    std::istringstream lines(read_file(json));
    for (std::string line; std::getline(lines, line);)
        if (line.find("\"threads_ns\"") != std::string::npos)
            blocked.push_back(std::stoll(line.substr(line.find("\"blocked_ns\":") + 13)));
    ASSERT_EQ(3u, blocked.size());
    EXPECT_LT(0, blocked[0]);
    EXPECT_EQ(blocked[0], blocked[1]);
    EXPECT_EQ(5 * blocked[0], blocked[2]) << "20 copies, not 4";
    EXPECT_EQ(0, runs.Check({runs.Recorded({20}), "--baseline", json}).exit);
    std::vector<std::string> many = {"--update", "--baseline", json};
    for (int i = 0; i < 32; i++)
        many.push_back(runs.Recorded({4}));
    EXPECT_EQ(json + ": 32 runs, 32 added\n", runs.Check(many).out);
    EXPECT_EQ(1, runs.Check({runs.Recorded({20}), "--baseline", json}).exit) << "the one of 20 is forgotten";
    std::string before = read_file(json);
    std::string cut = runs.folder / "cut.ptds", bytes = BuildTrace(CallsOf({}));
    reinterpret_cast<ptds_trace_header *>(&bytes[0])->clean_end = 0;
    std::ofstream(cut) << bytes;
    Outcome ran = runs.Check({"--update", "--baseline", json, cut});
    EXPECT_EQ(3, ran.exit);
    EXPECT_EQ(0u, ran.err.find("ptds check: " + json + ": not changed: ")) << ran.err;
    EXPECT_EQ(before, read_file(json)) << "what is incomplete is not added";
}

TEST(Baseline, WhatIsNoneIsRefusedInALine)
{
    Baselines runs;
    std::string json = runs.Of({{}}), text = read_file(json), trace = runs.Recorded({});
    auto said = [&](const std::string &content) {
        std::string path = runs.folder / "changed.json";
        std::ofstream(path) << content;
        Outcome ran = runs.Check({trace, "--baseline", path});
        EXPECT_EQ(2, ran.exit) << ran;
        std::vector<std::string> lines = lines_of(ran.err);
        return lines.empty() ? "" : lines[0].substr(lines[0].find(path) + path.size());
    };
    auto changed = [&](const std::string &from, const std::string &to) {
        EXPECT_NE(std::string::npos, text.find(from));
        return std::string(text).replace(text.find(from), from.size(), to);
    };
    EXPECT_EQ(0, runs.Check({trace, "--baseline", json}).exit);
    EXPECT_NE(std::string::npos, said(text.substr(0, text.size() / 2)).find(": no baseline: line "));
    EXPECT_EQ(": no baseline of ptds check --update", said("{}"));
    EXPECT_EQ(": a report, as older versions took; make a baseline: ptds check --update --baseline FILE TRACE...",
              said(run({{data_file("analysis/ptds_leaks"), "report", "--format", "json", trace}}).out));
    EXPECT_EQ(": a baseline of another version of ptds; remove it, and make it anew with --update",
              said(changed("\"ptds_baseline_version\": 1", "\"ptds_baseline_version\": 2")));
    EXPECT_EQ(": damaged: it has no runs, no findings or no calls", said(changed("\"findings\"", "\"findinks\"")));
    EXPECT_EQ(": damaged: finding 1 is none of a baseline's", said(changed("\"warning\"", "\"warming\"")));
    EXPECT_EQ(": damaged: call 1 is none of a baseline's", said(changed("\"blocked_ns\":[", "\"blocked_ns\":[1,")));
    size_t row = text.find('{', text.find("\n\"calls\"")), next = text.find('\n', row);
    ASSERT_NE(std::string::npos, next) << text;
    std::string twice = text.substr(row, next - row);
    twice += twice.back() == ',' ? "\n" : ",\n";
    EXPECT_EQ(": damaged: call 2 is none of a baseline's", said(std::string(text).insert(row, twice))) << "merged by hand";
    Outcome none = runs.Check({trace, "--baseline", runs.folder / "not-there.json"});
    EXPECT_EQ(2, none.exit);
    EXPECT_NE(std::string::npos, none.err.find("not-there.json: No such file or directory; ptds check --update makes one"))
        << none.err;
}

TEST(Baseline, OfAnotherProgramProvesNothing)
{
    Baselines runs;
    std::string json = runs.Of({{}}), other = runs.folder / "other.ptds", bytes = BuildTrace(CallsOf({}));
    strcpy(reinterpret_cast<ptds_trace_header *>(&bytes[0])->program, "/opt/app/another");
    std::ofstream(other) << bytes;
    Outcome ran = runs.Check({other, "--baseline", json});
    EXPECT_EQ(3, ran.exit) << ran;
    EXPECT_NE(std::string::npos, ran.err.find("and this is another")) << ran.err;
    std::string before = read_file(json);
    for (const std::vector<std::string> &more : {std::vector<std::string>{}, {"--allow-incomplete"}}) {
        std::vector<std::string> words = {"--update", "--baseline", json, other};
        words.insert(words.end(), more.begin(), more.end());
        ran = runs.Check(words);
        EXPECT_EQ(3, ran.exit) << ran;
        EXPECT_EQ("ptds check: " + json +
                      ": not changed: the baseline is of prog, and this is another; give it another --baseline, or remove "
                      "this one to start anew\n",
                  ran.err);
        EXPECT_EQ(before, read_file(json));
    }
    EXPECT_EQ(0, runs.Check({"--update", "--baseline", runs.folder / "another.json", other}).exit);
}

TEST(Baseline, IsNotReadFromWhatMayNeverEnd)
{
    Baselines runs;
    std::string json = runs.Of({{}}), fifo = runs.folder / "fifo", one = runs.Recorded({});
    ASSERT_EQ(0, mkfifo(fifo.c_str(), 0600));
    Outcome ran = runs.Check({one, "--baseline", fifo});
    EXPECT_EQ(2, ran.exit) << ran;
    EXPECT_EQ("ptds check: --baseline " + fifo +
                  ": is no regular file; a baseline is a file that ptds check --update makes\n",
              ran.err);
    for (const std::vector<std::string> &sides : {std::vector<std::string>{fifo, one}, {one, fifo}}) {
        ran = runs.Diff(sides);
        EXPECT_EQ(3, ran.exit) << ran;
        EXPECT_NE(std::string::npos, ran.err.find(fifo + ": not a regular file")) << ran;
    }
    ran = run({{"/bin/bash", "-c", "\"$1\" check \"$2\" --baseline <(cat \"$3\")", "bash", data_file("analysis/ptds_leaks"),
                one, json}});
    EXPECT_EQ(0, ran.exit) << "a shell's pipe has its writer: " << ran;
    std::string link = runs.folder / "link.json";
    ASSERT_EQ(0, symlink(json.c_str(), link.c_str()));
    EXPECT_EQ(0, runs.Check({one, "--baseline", link}).exit);
}

/* The default conditions are of all that is not asked for otherwise: a region says nothing of the rest of the program. */
TEST(Baseline, IsHeldAgainstBesideRegions)
{
    Baselines runs;
    const std::string calls = "tsc\n1@0 region step\n1@1 launch s=N1 k=a\n1@3 region-end\n", more = "1@4 launch s=N1 k=a\n";
    std::string json = runs.OfCalls({calls, calls, calls}), now = runs.RecordedCalls(calls + more + more);
    Outcome ran = runs.Check({now, "--baseline", json, "--no-block-in", "step"});
    EXPECT_EQ(1, ran.exit) << ran;
    EXPECT_EQ(0u, ran.out.find("FAIL more-calls grown: cuLaunchKernel of a")) << ran;
    EXPECT_EQ(0, runs.Check({now, "--baseline", json, "--no-block-in", "step", "--fail-on", "sync-copy"}).exit);
    EXPECT_EQ(0, runs.Check({runs.RecordedCalls(calls), "--baseline", json, "--no-block-in", "step"}).exit);
}

TEST(Check, WritesMarkdownJUnitAndJson)
{
    Baselines runs;
    std::string json = runs.Of({{}, {}, {}});
    std::string markdown = runs.folder / "out.md", junit = runs.folder / "out.xml", machines = runs.folder / "out.json";
    auto check = [&](const Work &run) {
        return runs.Check(
            {runs.Recorded(run), "--baseline", json, "--markdown", markdown, "--junit", junit, "--json", machines});
    };
    EXPECT_EQ(1, check({8}).exit);
    EXPECT_EQ(0u, read_file(markdown).find(
                      "### ptds check: fails\n\n1 of 2 findings fail (0 new, 1 grown, against 3 "
                      "runs), more calls at 2 call sites; 1 finding passes because the baseline has it; 1 process\n"))
        << read_file(markdown);
    EXPECT_NE(std::string::npos,
              read_file(markdown).find("| **fails** | `sync-copy` | grown | cuMemcpyDtoH\\_v2 in prog: 8 calls"))
        << read_file(markdown);
    std::string xml = read_file(junit);
    EXPECT_EQ(0u, xml.find("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"")) << xml;
    EXPECT_NE(std::string::npos, xml.find("failures=\"3\" errors=\"0\"")) << xml;
    EXPECT_NE(std::string::npos, xml.find("<testcase classname=\"ptds.more-calls\" name=\"cuLaunchKernel of a in prog: 8"))
        << xml;
    EXPECT_NE(std::string::npos, xml.find("<testcase classname=\"ptds.thread-end\" name=\""))
        << "what was looked for and passes";
    EXPECT_NE(std::string::npos, read_file(machines).find("\"passes\": false")) << read_file(machines);
    EXPECT_EQ(0, check({}).exit);
    EXPECT_EQ(0u, read_file(markdown).find("### ptds check: passes\n"));
    EXPECT_NE(std::string::npos, read_file(junit).find("failures=\"0\" errors=\"0\""));
    EXPECT_NE(std::string::npos, read_file(machines).find("\"passes\": true"));
}

} // namespace
} // namespace ptds

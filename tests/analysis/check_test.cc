// SPDX-License-Identifier: Apache-2.0
//
// `ptds check` as a pipeline meets it: exit statuses, lines, conditions, regions. Baselines: baseline_test.cc.
#include <unistd.h>

#include "analysis/check/conditions.h"
#include "analysis/check/failed_edges.h"
#include "tests/analysis/checked.h"

namespace ptds
{
namespace
{

/* Two findings: a copy that lost 5 ms, and a barrier of unknown cost. */
const char both[] = "1@0 launch s=B1 k=long\n"
                    "1@1 launch s=L k=a site=barrier\n"
                    "1@10+5000 copy s=L implicit from=device to=pageable bytes=4 site=copy\n"
                    "1@20100 launch s=N9 k=next\n"
                    "1@30000+3 sync s=N9\n";
const char clean[] = "1@0 launch s=N1 k=a\n";

/* More streams with memory of their own than the verdicts follow at a time. */
std::string MoreLanes()
{
    std::string text = "1@0 alloc m=A ptr=0x10000 bytes=4096\n";
    for (unsigned i = 1; i <= 1100; i++)
        text += "1@" + std::to_string(i) + " memset s=B" + std::to_string(i) + " dst=A bytes=0\n";
    return text;
}

TEST(Check, StatusSaysWhatWasFound)
{
    Traces traces;
    std::string bad = traces("bad.ptds", both), good = traces("good.ptds", clean);
    EXPECT_EQ(0, traces.Check({good}).exit);
    Outcome ran = traces.Check({bad});
    EXPECT_EQ(1, ran.exit) << ran;
    ASSERT_EQ(3u, lines_of(ran.out).size()) << "a line a finding, and the counts: " << ran.out;
    EXPECT_NE(std::string::npos, ran.out.find("FAIL sync-copy [")) << ran.out;
    EXPECT_NE(std::string::npos, ran.out.find(" 5.0 ms in 1 call, cuMemcpyDtoH_v2 at prog+0x")) << ran.out;
    EXPECT_NE(std::string::npos, ran.out.find("unknown time in 1 call, cuLaunchKernel")) << ran.out;
    EXPECT_EQ("2 of 2 findings fail; 1 process", LastLine(ran));
    EXPECT_EQ("2 of 2 findings fail; 2 processes", LastLine(traces.Check({bad, good})));
    EXPECT_EQ("2 of 2 findings fail; 2 processes", LastLine(traces.Check({traces.folder.path()})));
}

TEST(Check, Conditions)
{
    Traces traces;
    std::string bad = traces("bad.ptds", both);
    auto status = [&](const std::string &list) { return traces.Check({bad, "--fail-on", list}).exit; };
    EXPECT_EQ(1, status("sync-copy"));
    EXPECT_EQ(1, status("capture-conflict,legacy-barrier"));
    EXPECT_EQ(0, status("capture-conflict"));
    EXPECT_EQ(1, status("any"));
    EXPECT_EQ(1, status("cost>4ms"));
    EXPECT_EQ(1, status("cost>4000.5 us"));
    EXPECT_EQ(0, status("cost>6ms")) << "an unknown cost is over no limit";
    EXPECT_EQ("1 of 2 findings fail; 1 process", LastLine(traces.Check({bad, "--fail-on", "cost>1us"})));
}

TEST(Check, UsageErrorsAreTwo)
{
    Traces traces;
    std::string bad = traces("bad.ptds", both);
    std::ofstream(traces.folder / "no.json") << "{\"findings\": []}";
    std::ofstream(traces.folder / "old.json") << "{\"ptds_report_version\": 1, \"findings\": [{\"rule\": \"sync-copy\"}]}";
    for (const auto &arguments : std::vector<std::vector<std::string>>{
             {},
             {bad, "--fail-on", "no-such-rule"},
             {bad, "--fail-on", ""},
             {bad, "--fail-on", "any,"},
             {bad, "--fail-on", "cost>5"},
             {bad, "--fail-on", "cost>ms"},
             {bad, "--fail-on", "verdict=maybe"},
             {bad, "--baseline", "/nowhere.json"},
             {bad, "--baseline", traces.folder / "no.json"},
             {bad, "--baseline", traces.folder / "old.json"},
             {bad, "--update"},
             {bad, "--growth", "70"},
             {bad, "--fail-on", "slower"},
             {bad, "--fail-on", "more-calls"},
             {bad, "--ignore", "no-such-rule"},
             {bad, "--ignore", "any"},
             {bad, "--baseline", traces.folder / "no.json", "--growth", "much"},
             {bad, "--no-block-in", ""},
             {bad, "--no-block-in", "step:max 5"},
         }) {
        Outcome ran = traces.Check(arguments);
        EXPECT_EQ(2, ran.exit) << ran;
        EXPECT_NE("", ran.err);
    }
}

TEST(Check, WhatIsAskedOfNoBaselineIsSaidInALine)
{
    Traces traces;
    std::string bad = traces("bad.ptds", both), folder = traces.folder.path(), none = folder + "/none";
    for (const auto &[arguments, said] : std::vector<std::pair<std::vector<std::string>, std::string>>{
             {{"--growth", "10"}, "--growth is of a --baseline, which is not given"},
             {{"--baseline", none}, "--baseline " + none + ": No such file or directory"},
             {{"--baseline", folder},
              "--baseline " + folder + ": is a folder; a baseline is a file that ptds check --update makes"},
             {{"--baseline", bad}, "--baseline " + bad + ": "}}) {
        std::vector<std::string> all = arguments;
        all.push_back(bad);
        Outcome ran = traces.Check(all);
        EXPECT_EQ(2, ran.exit) << ran;
        EXPECT_EQ(0u, ran.err.find("ptds check: " + said)) << ran;
        EXPECT_EQ(1u, lines_of(ran.err).size()) << ran;
        EXPECT_EQ("", ran.out);
    }
}

/* What nobody saw passes no check. */
TEST(Check, WhatWasNotFollowedIsThree)
{
    Traces traces;
    const std::vector<std::pair<std::string, std::string>> lacks = {
        {clean + std::string("bypass /opt/lib/x.so\n"), "calls may have gone past the shim (x.so)"},
        {clean + std::string("untabled cuNewThing\n"), "calls may have gone past the shim (cuNewThing)"},
        {"1@0 launch s=U1 k=a\n", "1 operation on streams whose creation was not seen"},
        {MoreLanes(), "there were more streams than are followed"},
        {"setting policy=observe\n", "no driver call was recorded"}};
    for (const auto &[text, said] : lacks) {
        std::string path = traces("lacks.ptds", text.c_str());
        Outcome ran = traces.Check({path});
        EXPECT_EQ(3, ran.exit) << ran;
        EXPECT_NE(std::string::npos, ran.err.find("incomplete: " + said)) << ran;
        EXPECT_EQ(0, traces.Check({path, "--allow-incomplete"}).exit);
    }
}

/* Fewer calls than before are well, none at all are not. */
TEST(Check, NoCallsPassNoBaseline)
{
    Traces traces;
    std::string baseline = traces.folder / "good.json", good = traces("good.ptds", clean),
                none = traces("none.ptds", "setting policy=observe\n");
    ASSERT_EQ(0, traces.Check({"--update", "--baseline", baseline, good}).exit);
    EXPECT_EQ(0, traces.Check({"--baseline", baseline, good}).exit);
    EXPECT_EQ(3, traces.Check({"--baseline", baseline, none}).exit);
}

TEST(Check, IncompleteTracesAreThree)
{
    Traces traces;
    std::string good = traces("good.ptds", clean), cut = traces.folder / "cut.ptds";
    std::string bytes = BuildTrace(both);
    reinterpret_cast<ptds_trace_header *>(&bytes[0])->clean_end = 0;
    std::ofstream(cut) << bytes;
    Outcome ran = traces.Check({good, cut});
    EXPECT_EQ(3, ran.exit);
    EXPECT_NE(std::string::npos, ran.err.find("cut.ptds: incomplete: the process did not end through exit")) << ran.err;
    EXPECT_NE(std::string::npos, ran.out.find("FAIL sync-copy")) << "what was found is said all the same";
    EXPECT_EQ(1, traces.Check({good, cut, "--allow-incomplete"}).exit);
    EXPECT_EQ(0, traces.Check({good, cut, "--allow-incomplete", "--fail-on", "capture-conflict"}).exit);
    EXPECT_EQ(3, traces.Check({good, "/nowhere/at/all"}).exit);
    EXPECT_EQ(3, traces.Check({good, "/nowhere/at/all", "--allow-incomplete"}).exit) << "unreadable is not incomplete";
    std::ofstream(traces.folder / "broken") << "no trace";
    EXPECT_EQ(3, traces.Check({traces.folder / "broken"}).exit);
}

/* Its files say what its status says, whoever reads which of them. */
TEST(Check, ResultsSayWhetherItPassed)
{
    Traces traces;
    std::string good = traces("good.ptds", clean), bad = traces("bad.ptds", both), cut = traces.folder / "cut.ptds";
    std::string bytes = BuildTrace(clean);
    reinterpret_cast<ptds_trace_header *>(&bytes[0])->clean_end = 0;
    std::ofstream(cut) << bytes;
    struct {
        std::vector<std::string> arguments;
        int status;
        const char *json, *junit, *markdown;
    } cases[] = {
        {{good}, 0, "\"passes\": true", "failures=\"0\" errors=\"0\"", "### ptds check: passes\n"},
        {{bad}, 1, "\"passes\": false", "failures=\"2\" errors=\"0\"", "### ptds check: fails\n"},
        {{cut}, 3, "\"passes\": false", "failures=\"0\" errors=\"1\"", "### ptds check: incomplete\n"},
        {{cut, "--allow-incomplete"},
         0,
         "\"passes\": true",
         "failures=\"0\" errors=\"0\"",
         "### ptds check: passes (incomplete)\n"},
        {{cut, bad, "--allow-incomplete"},
         1,
         "\"passes\": false",
         "failures=\"2\" errors=\"0\"",
         "### ptds check: fails\n"},
        {{good, "/nowhere/at/all", "--allow-incomplete"},
         3,
         "\"passes\": false",
         "failures=\"0\" errors=\"1\"",
         "### ptds check: incomplete\n"},
    };
    for (auto &one : cases) {
        std::vector<std::string> arguments = one.arguments;
        for (const char *form : {"json", "junit", "markdown"})
            arguments.insert(arguments.end(), {std::string("--") + form, traces.folder / form});
        EXPECT_EQ(one.status, traces.Check(arguments).exit) << one.markdown;
        EXPECT_NE(std::string::npos, read_file(traces.folder / "json").find(one.json)) << one.markdown;
        EXPECT_NE(std::string::npos, read_file(traces.folder / "junit").find(one.junit)) << one.markdown;
        EXPECT_NE(std::string::npos, read_file(traces.folder / "markdown").find(one.markdown)) << one.markdown;
    }
    std::string junit =
        (traces.Check({cut, "--allow-incomplete", "--junit", traces.folder / "j"}), read_file(traces.folder / "j"));
    EXPECT_NE(std::string::npos, junit.find("<system-out>allowed to be incomplete:\n")) << junit;
    EXPECT_NE(std::string::npos, junit.find("the process did not end through exit")) << junit;
}

TEST(Check, SeveritiesAndRulesThatNeverFail)
{
    Traces traces;
    std::string bad = traces("bad.ptds", both);
    EXPECT_EQ(1, traces.Check({bad, "--fail-on", "warning"}).exit) << "sync-copy and legacy-barrier are warnings";
    EXPECT_EQ(1, traces.Check({bad, "--fail-on", "note"}).exit);
    EXPECT_EQ(0, traces.Check({bad, "--fail-on", "error"}).exit);
    EXPECT_EQ(0, traces.Check({bad, "--ignore", "sync-copy", "--ignore", "legacy-barrier"}).exit);
    EXPECT_EQ(0, traces.Check({bad, "--ignore", "sync-copy,legacy-barrier"}).exit);
    EXPECT_EQ("1 of 2 findings fail; 1 process", LastLine(traces.Check({bad, "--ignore", "sync-copy"})));
    EXPECT_EQ(0, traces.Check({bad, "--ignore", "sync-copy", "--fail-on", "cost>1us"}).exit);
    EXPECT_EQ(1, traces.Check({bad, "--fail-on", "error,sync-copy"}).exit) << "any one of them";
}

TEST(Check, EachResultHasAFileOfItsOwn)
{
    Traces traces;
    std::string good = traces("good.ptds", clean), baseline = traces.folder / "b.json", out = traces.folder / "out",
                link = traces.folder / "link", round = traces.folder / "./out";
    ASSERT_EQ(0, traces.Check({"--update", "--baseline", baseline, good}).exit);
    ASSERT_EQ(0, ::symlink(baseline.c_str(), link.c_str()));
    std::string before = read_file(baseline);
    for (const auto &[words, said] : std::vector<std::pair<std::vector<std::string>, std::string>>{
             {{"--json", baseline}, "--json " + baseline + ": that is the file of --baseline"},
             {{"--junit", link}, "--junit " + link + ": that is the file of --baseline"},
             {{"--markdown", out, "--json", round}, "--json " + round + ": that is the file of --markdown"},
             {{"--junit", out, "--markdown", out}, "--markdown " + out + ": that is the file of --junit"}}) {
        std::vector<std::string> all = {good, "--baseline", baseline};
        all.insert(all.end(), words.begin(), words.end());
        Outcome ran = traces.Check(all);
        EXPECT_EQ(2, ran.exit) << ran;
        EXPECT_EQ("ptds check: " + said + "\n", ran.err);
        EXPECT_EQ(before, read_file(baseline));
        EXPECT_NE(0, access(out.c_str(), F_OK));
    }
    EXPECT_EQ(0, traces.Check({good, "--baseline", baseline, "--json", out, "--junit", out + ".xml"}).exit);
    EXPECT_EQ(0, traces.Check({good, "--json", "/dev/null", "--junit", "/dev/null", "--markdown", "-"}).exit);
    EXPECT_EQ(0, traces.Check({"--update", "--baseline", baseline, good, "--json", baseline}).exit) << "nothing is written";
}

TEST(Check, NamesAreNoMarkup)
{
    Traces traces;
    std::string markdown = traces.folder / "out.md", junit = traces.folder / "out.xml";
    std::string bad = traces("bad.ptds", "1@0 launch s=B1 k=long\n"
                                         "1@10+5000 copy s=L implicit from=device to=pageable bytes=4 site=c@l|`<i>&.so\n"
                                         "1@20100 launch s=N9 k=next\n1@30000+3 sync s=N9\n");
    EXPECT_EQ(1, traces.Check({bad, "--markdown", markdown, "--junit", junit}).exit);
    EXPECT_NE(std::string::npos, read_file(markdown).find("`` l\\|`<i>&.so+0x")) << read_file(markdown);
    EXPECT_NE(std::string::npos, read_file(junit).find("l|`&lt;i&gt;&amp;.so+0x")) << read_file(junit);
}

/* As a reader of JUnit's files meets it: every tag is closed, and the numbers are those of its cases. */
TEST(Check, JunitToTheLastTag)
{
    Traces traces;
    std::string junit = traces.folder / "out.xml";
    EXPECT_EQ(1, traces.Check({traces("bad.ptds", both), "--junit", junit}).exit);
    const std::string text = read_file(junit), head = R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="35" failures="2" errors="0">
  <testsuite name="ptds check" tests="35" failures="2" errors="0" skipped="0" time="0">
    <testcase classname="ptds.traces" name="complete"/>
    <testcase classname="ptds.legacy-barrier" name="unknown time in 1 call, cuLaunchKernel">
      <failure type="warning" message="legacy-barrier: unknown time in 1 call, cuLaunchKernel">at prog+0x10
work on the legacy stream waits for other streams</failure>
    </testcase>
    <testcase classname="ptds.sync-copy" name="5.0 ms in 1 call, cuMemcpyDtoH_v2">
      <failure type="warning" message="sync-copy: 5.0 ms in 1 call, cuMemcpyDtoH_v2">at prog+0x20
</failure>
    </testcase>
    <testcase classname="ptds.blocking-alloc" name="allocating device memory kept threads waiting"/>
)",
                      tail = R"(    <testcase classname="ptds.useless-sync" name="a wait that looks unneeded"/>
    <system-out>2 of 2 findings fail; 1 process
</system-out>
  </testsuite>
</testsuites>
)";
    EXPECT_EQ(head, text.substr(0, head.size()));
    EXPECT_EQ(tail, text.substr(text.size() - std::min(tail.size(), text.size())));
    size_t cases = 0;
    for (size_t at = 0; (at = text.find("<testcase ", at)) != std::string::npos; at++)
        cases++;
    EXPECT_EQ(35u, cases);
    std::string cut = traces.folder / "cut.ptds", bytes = BuildTrace(clean);
    reinterpret_cast<ptds_trace_header *>(&bytes[0])->clean_end = 0;
    std::ofstream(cut) << bytes;
    EXPECT_EQ(3, traces.Check({cut, "--junit", junit}).exit);
    EXPECT_NE(std::string::npos, read_file(junit).find(R"(
<testsuites tests="35" failures="0" errors="1">
  <testsuite name="ptds check" tests="35" failures="0" errors="1" skipped="0" time="0">
    <testcase classname="ptds.traces" name="complete">
      <error type="incomplete" message="nothing can be concluded from what is not there">)"));
    EXPECT_NE(std::string::npos, read_file(junit).find(R"(the process did not end through exit
</error>
    </testcase>
    <testcase classname="ptds.blocking-alloc" name=)"))
        << read_file(junit);
}

TEST(Check, RegionsThatMustNotBlock)
{
    Traces traces;
    std::string trace = traces("app.ptds", "1@0 region step\n"
                                           "1@1 region inner\n"
                                           "1@2 launch s=L k=a\n"
                                           "1@10+5000 copy s=L implicit from=device to=pageable bytes=4 site=copy\n"
                                           "1@6000 region-end\n"
                                           "1@6001 region-end\n"
                                           "1@6002 region quiet\n"
                                           "1@6003 launch s=L k=a\n"
                                           "1@6004 region-end\n"
                                           "1@6010+700 copy s=L implicit from=device to=pageable bytes=4 site=outside\n");
    EXPECT_EQ(0, traces.Check({trace, "--no-block-in", "quiet"}).exit) << "what blocks outside is no matter here";
    for (const char *region : {"inner", "step"}) {
        Outcome ran = traces.Check({trace, "--no-block-in", region});
        EXPECT_EQ(1, ran.exit) << region << ": a call counts for every region that it is in";
        ASSERT_EQ(2u, lines_of(ran.out).size()) << ran.out;
        EXPECT_EQ(0u,
                  ran.out.find(std::string("FAIL region ") + region + " blocked: cuMemcpyDtoH_v2 waited 1 time, 5.0 ms"))
            << ran.out;
    }
    Outcome several =
        traces.Check({trace, "--no-block-in", "quiet", "--no-block-in", "inner:max 6ms", "--no-block-in", "step:max 4ms"});
    ASSERT_EQ(2u, lines_of(several.out).size()) << several.out;
    EXPECT_EQ(0u, several.out.find("FAIL region step blocked: cuMemcpyDtoH_v2 waited 1 time, 5.0 ms")) << several.out;
    EXPECT_EQ(0, traces.Check({trace, "--no-block-in", "step:max 6ms"}).exit);
    EXPECT_EQ(1, traces.Check({trace, "--no-block-in", "step:max=2ms"}).exit);
    EXPECT_EQ(1, traces.Check({trace, "--no-block-in", "quiet", "--fail-on", "sync-copy"}).exit) << "both are asked for";
    Outcome typo = traces.Check({trace, "--no-block-in", "stepp"});
    EXPECT_EQ(3, typo.exit) << "a region that never was proves nothing";
    EXPECT_NE(std::string::npos, typo.err.find("no region \"stepp\"")) << typo.err;
}

TEST(Check, ARegionEndsWithItsDomain)
{
    Traces traces;
    std::string trace = traces("app.ptds", "1@0 region outer domain=lib\n"
                                           "1@1 region inner\n"
                                           "1@2 region-end domain=lib\n"
                                           "1@3 launch s=L k=a\n"
                                           "1@10+5000 copy s=L implicit from=device to=pageable bytes=4 site=copy\n"
                                           "1@6000 region-end\n"
                                           "1@6001 region-end domain=lib\n");
    EXPECT_EQ(0, traces.Check({trace, "--no-block-in", "outer"}).exit);
    EXPECT_EQ(1, traces.Check({trace, "--no-block-in", "inner"}).exit);
}

TEST(Check, ARegionWithCallsThatWereNotTimedIsNotProven)
{
    Traces traces;
    std::string trace = traces("app.ptds", "1@0 region step\n"
                                           "1@2 launch s=L k=a\n"
                                           "1@10 copy s=L implicit from=device to=pageable bytes=4 site=copy\n");
    Outcome ran = traces.Check({trace, "--no-block-in", "step"});
    EXPECT_EQ(3, ran.exit) << ran;
    EXPECT_NE(std::string::npos, ran.err.find("1 call in region \"step\" may have waited and was not timed")) << ran.err;
    std::string deeper = traces("deeper.ptds", "1@0 region out\n1@1 region in\n"
                                               "1@2 launch s=L k=a\n"
                                               "1@10 copy s=L implicit from=device to=pageable bytes=4 site=copy\n"
                                               "1@15 launch s=L k=a\n"
                                               "1@20 copy s=L implicit from=device to=pageable bytes=4 site=copy\n");
    ran = traces.Check({deeper, "--no-block-in", "in", "--no-block-in", "out"});
    for (const char *name : {"in", "out"})
        EXPECT_NE(std::string::npos,
                  ran.err.find(std::string("2 calls in region \"") + name + "\" may have waited and were not timed"))
            << ran.err;
}

TEST(Edges, FailByTheirVerdict)
{
    char error[CHECK_ERROR_SIZE];
    conditions conditions = {};
    ASSERT_TRUE(conditions_add(&conditions, "verdict=needed,verdict=maybe_needed", error)) << error;
    MemoryTrace trace(BuildTrace(both));
    struct report report;
    ASSERT_EQ(0, report_build(&report, trace.source(), error)) << error;
    report.edges.analysed = false;
    failed_edges check = {};
    ASSERT_TRUE(failed_edges_look(&check, &conditions, &report, 0));
    EXPECT_EQ(0u, check.breaks.count);
    EXPECT_EQ(1u, check.unjudged) << "no edges is not the same as nobody looked";
    std::vector<edge> edges(4);
    edges[0].verdict = VERDICT_NOT_NEEDED;
    for (size_t i = 1; i < 4; i++) {
        edges[i].verdict = VERDICT_NEEDED;
        edges[i].from.stack = 1;
    }
    edges[3].to.stack = 2;
    Judge(&report, edges);
    failed_edges judged = {};
    ASSERT_TRUE(failed_edges_look(&judged, &conditions, &report, 0));
    EXPECT_EQ(0u, judged.unjudged);
    ASSERT_EQ(2u, judged.breaks.count) << "those between the same places are one";
    EXPECT_EQ(2u, judged.breaks.items[0].count);
    EXPECT_EQ(VERDICT_NEEDED, judged.breaks.items[0].verdict);
    EXPECT_EQ(2u, judged.breaks.items[1].edge->to.stack);
    failed_edges_free(&judged);
    report_end(&report);
    failed_edges_free(&check);
    conditions_free(&conditions);
}

/* Who mistypes a rule reads what there is, to the end. */
TEST(Conditions, NamesAllRulesWhereOneIsNotKnown)
{
    struct conditions conditions = {};
    char error[CHECK_ERROR_SIZE];
    const rule *rules[RULES_MOST];
    for (auto *list : {conditions_add, conditions_ignore}) {
        ASSERT_FALSE(list(&conditions, "frob", error));
        for (size_t i = 0, count = registry_all(rules); i < count; i++)
            EXPECT_NE(std::string::npos, (std::string(error) + ",").find(std::string(", ") + rules[i]->id + ",")) << error;
    }
    conditions_free(&conditions);
}

} // namespace
} // namespace ptds

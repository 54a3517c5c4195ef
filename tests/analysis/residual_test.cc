// SPDX-License-Identifier: Apache-2.0
//
// What still serialises in a remapped run: each reason by a trace that shows it alone, and that the parts make the whole.
#include <gtest/gtest.h>

#include <string>

#include "analysis/report/residual.h"
#include "analysis/views/removal_words.h"
#include "analysis/views/residual_words.h"
#include "analysis/views/json/report_json.h"
#include "analysis/views/text/report_screen.h"
#include "tests/analysis/support.h"

namespace ptds
{
namespace
{

const std::string stays = "no policy removes it; it may get shorter";

class Residual
{
public:
    explicit Residual(const std::string &text, const std::string &policy = "guarded")
        : trace_(BuildTrace("setting policy=" + policy + "\nsetting guard=1\n" + text)), report(new struct report)
    {
        char message[TRACE_ERROR_SIZE] = "";
        EXPECT_EQ(0, report_build(report.get(), trace_.source(), message)) << message;
        EXPECT_EQ(0, residual_find(report.get()));
        AddsUp(*report);
        enum residual_kind kinds[RESIDUAL_KINDS];
        for (unsigned i = 0, count = residual_words_ranked(report.get(), kinds); i < count; i++) {
            const residual_part &part = report->residual.part[kinds[i]];
            removed_question about = residual_goes(report.get(), kinds[i]);
            found += (i == 0 ? "" : " | ") + std::string(residual_kind_keys[kinds[i]]) + " " + std::to_string(part.calls) +
                     ", " + removal_words(report.get(), &about).text;
            said += residual_words_line(report.get(), kinds[i]).text + std::string("\n");
        }
    }
    ~Residual()
    {
        report_end(report.get());
    }
    Residual(const Residual &) = delete;

    static void AddsUp(const struct report &report)
    {
        uint64_t all = 0;
        for (const residual_part &part : report.residual.part)
            all += part.ns;
        EXPECT_EQ(report.residual.known ? report.totals.blocked_ns : 0, all);
    }

private:
    MemoryTrace trace_;

public:
    std::unique_ptr<struct report> report;
    std::string found, said; /* "own 1, no policy removes it | ...", the most first */
};

TEST(Residual, WaitsForWhatTheCallNamesNoPolicyRemoves)
{
    EXPECT_EQ("own 1, " + stays, Residual("1@0 launch s=L to=S1 k=a\n1@10+5000 sync s=L to=S1\n").found);
    EXPECT_EQ("own 1, " + stays, Residual("9@0 launch s=L to=S9 k=z\n1@2 launch s=N1 k=a\n2@10+5000 sync s=N1\n").found)
        << "another thread's, on a stream that it names";
    EXPECT_EQ("context 1, " + stays, Residual("1@0 launch s=L to=S1 k=a\n1@10+5000 ctx-sync\n").found);
}

TEST(Residual, WhatDataAskForOnlyPerThreadDrops)
{
    Residual data("1@0 launch s=L to=S1 k=a\n2@10+5000 sync s=L to=S2 behind=S1\n");
    EXPECT_EQ("data 1, disappears with per-thread (maybe wrong results)", data.found);
    EXPECT_NE(std::string::npos, data.said.find("order that results may need: per-thread (maybe wrong results)"))
        << data.said;
    EXPECT_EQ("data 1, disappears with per-thread (maybe wrong results)",
              Residual("1@0 launch s=L to=S1 k=a\n1@10+5000 memset s=L target=S1 bytes=4 shim-wait\n").found)
        << "the shim waits";
    EXPECT_EQ("mixed 1, may disappear with per-thread and stream",
              Residual("1@0 launch s=L to=S1 k=a\n2@2 launch s=L to=S2 k=b behind=S1\n"
                       "2@10+5000 sync s=L to=S2\n")
                  .found);
    EXPECT_EQ("own 1, " + stays,
              Residual("1@0 launch s=L to=S1 k=a\n2@2 launch s=L to=S2 k=b\n2@10+5000 sync s=L to=S2\n").found)
        << "nothing asks for it";
    Residual needed("1@0 memset s=L target=S1 dst=0x1000 bytes=64\n2@2 memset s=L target=S2 dst=0x1000 bytes=64 behind=S1\n"
                    "3@10+5000 sync s=L to=S3 behind=S2\n");
    EXPECT_NE(std::string::npos, needed.said.find("per-thread (wrong results)")) << needed.said;
}

TEST(Residual, OthersWorkOnTheSameStreamGoesWithGuarded)
{
    std::string text = "1@0 launch s=L to=S1 k=a\n2@10+5000 sync s=L to=S1\n";
    EXPECT_EQ("shared 1, disappears with guarded and per-thread", Residual(text, "stream").found);
    EXPECT_EQ("shared 1, disappears with per-thread (maybe wrong results)", Residual(text).found)
        << "conflicting threads share a lane there";
    EXPECT_EQ("shared 1, disappears with guarded and per-thread",
              Residual("1@0 launch s=L to=S1 k=a\n2@10+5000 copy s=L target=S1 implicit from=device to=pageable bytes=4\n",
                       "stream")
                  .found)
        << "what waits is on that stream itself";
}

TEST(Residual, WorkThatStayedOnTheLegacyStream)
{
    Residual explicitly("1@0 launch s=L explicit k=a\n1@2 launch s=L to=P1 k=b\n2@10+5000 sync s=L explicit\n",
                        "per-thread");
    EXPECT_EQ("legacy 1, disappears with PTDS_EXPLICIT_LEGACY=remap", explicitly.found);
    EXPECT_NE(std::string::npos, explicitly.said.find("(0x1): PTDS_EXPLICIT_LEGACY=remap")) << explicitly.said;
    EXPECT_EQ(
        "legacy 1, may disappear with PTDS_EXPLICIT_LEGACY=remap",
        Residual("1@0 launch s=L kept-excluded k=a\n2@2 launch s=L to=P2 k=b\n3@10+5000 sync s=L explicit\n", "per-thread")
            .found);
}

/* What may go by some policy may go by the setting for what stayed, too, which is to be named beside it. */
TEST(Residual, WhatStayedBecauseItWasNamedMayGoWithTheSettingForThat)
{
    Residual both("1@0 launch s=L explicit k=a\n1@1 launch s=B1 k=c\n1@2 launch s=L to=S1 k=b\n"
                  "2@10+5000 sync s=L explicit\n3@6000 launch s=B1 k=c\n3@6010 launch s=L explicit k=a\n"
                  "3@6020+5000 sync s=L explicit\n");
    EXPECT_NE(std::string::npos, both.said.find(", or with PTDS_EXPLICIT_LEGACY=remap")) << both.said << both.found;
}

TEST(Residual, ManyReasonsToStayAreHalfRemapped)
{
    EXPECT_EQ("legacy 1, may disappear with PTDS_EXPLICIT_LEGACY=remap",
              Residual("1@0 launch s=L explicit k=a\n1@1 launch s=L kept-excluded k=c\n1@2 launch s=L to=P1 k=b\n"
                       "2@10+5000 sync s=L explicit\n",
                       "per-thread")
                  .found);
}

TEST(Residual, WhatIsDoneIsNotWaitedFor)
{
    EXPECT_EQ("own 1, " + stays, Residual("2@0 launch s=L to=S2 k=a\n2@4+3 sync s=L to=S2\n2@20 launch s=L to=S2 k=b\n"
                                          "1@30 launch s=L to=S1 k=c behind=S2@3\n1@40+5000 sync s=L to=S1\n")
                                     .found)
        << "the shim's wait was for the first of the two";
}

/* Of a damaged trace: a thread's calls do not overlap. */
TEST(Residual, ThreadsAreNotBlockedForLongerThanTheyLive)
{
    Residual run(
        "1@0 launch s=L to=S1 k=a\n1@10+5000 sync s=L to=S1\n1@12 launch s=L to=S1 k=a\n1@14+5000 sync s=L to=S1\n");
    EXPECT_TRUE(run.report->residual.known);
    EXPECT_EQ(run.report->totals.threads_ns, run.report->totals.blocked_ns);
}

TEST(Residual, OfARunThatWasNotRemappedNothingIsSaid)
{
    Residual plain("1@0 launch s=L k=a\n1@10+5000 sync s=L\n", "observe");
    EXPECT_FALSE(plain.report->residual.known);
    EXPECT_EQ("", plain.found);
}

TEST(Residual, TheScreenHasTheMostAndAddsUpTheRest)
{
    Residual run("1@0 launch s=L to=S1 k=a\n1@10+9000 sync s=L to=S1\n"                  /* own */
                 "1@10000 launch s=L to=S1 k=a\n2@10010+5000 sync s=L to=S2 behind=S1\n" /* data */
                 "1@20000 launch s=L to=S1 k=a\n2@20002 launch s=L to=S2 k=b behind=S1\n2@20010+4000 sync s=L to=S2\n"
                 "1@30000 launch s=L to=S1 k=a\n1@30010+3000 ctx-sync\n"
                 "1@40000 launch s=L to=S1 k=a\n2@40010+2000 sync s=L to=S1\n");
    EXPECT_EQ("own 1, " + stays +
                  " | data 1, disappears with per-thread (maybe wrong results) | mixed 1, may disappear with per-thread "
                  "and stream | context 1, " +
                  stays + " | shared 1, disappears with per-thread (maybe wrong results)",
              run.found);
    TextOf large, small, full;
    report_screen(run.report.get(), nullptr, SCREEN_MOST_ROWS, &large);
    EXPECT_NE(std::string::npos, large.text.find(RESIDUAL_TITLE "\n  9.0 ms, own work, or work that the call names"))
        << large.text;
    EXPECT_EQ(std::string::npos, large.text.find("...")) << "no policy is cut off: " << large.text;
    EXPECT_NE(std::string::npos, large.text.find("\n  5.0 ms, for 2 other reasons\n")) << large.text;
    report_screen(run.report.get(), nullptr, SCREEN_LEAST_ROWS, &small);
    EXPECT_NE(std::string::npos, small.text.find("\n  13.9 ms, for 4 other reasons\n")) << small.text;
    report_text(run.report.get(), nullptr, &full);
    EXPECT_NE(std::string::npos, full.text.find("  2.0 ms, other threads' work on the same stream: ")) << full.text;
    EXPECT_NE(std::string::npos, full.text.find("      1 call; 9.0 ms of it cuStreamSynchronize\n")) << full.text;
}

/* One way to say it: of a wait that a finding is about, both say the same, and all views. */
TEST(Residual, SaysOfAWaitWhatItsFindingSays)
{
    const std::string after = "2@5100 launch s=L to=S1 k=next\n2@6000+3 sync s=L to=S1\n";
    const std::string copy = "2@10+5000 copy s=L target=S1 implicit from=device to=pageable bytes=4\n";
    for (const std::string &first :
         {std::string("1@0 launch s=L to=S1 k=a\n"), std::string("2@0 launch s=L to=S1 k=a\n")}) {
        Residual run(first + copy + after, "stream");
        std::string said;
        for (size_t i = 0; i < run.report->findings.count; i++)
            if (run.report->findings.items[i]->rule->id == std::string("sync-copy"))
                said = removal_words_finding(run.report.get(), run.report->findings.items[i]).text;
        EXPECT_NE("", said);
        EXPECT_EQ(run.found.substr(run.found.find(", ") + 2), said) << run.found;
        TextOf json;
        ASSERT_EQ(0, report_json(run.report.get(), nullptr, &json));
        size_t at = json.text.find("\"residual\": ["), end = json.text.find("\"startup\"");
        ASSERT_LT(at, end);
        EXPECT_NE(std::string::npos, json.text.substr(at, end - at).find("\"text\": \"" + said + '"')) << json.text;
    }
}

/* With one operation that was moved. */
TEST(Residual, OfEveryRulesTracesAddsUp)
{
    const rule *rules[RULES_MOST];
    for (size_t i = 0, count = registry_all(rules); i < count; i++)
        for (const char *text : {rules[i]->bad, rules[i]->good}) {
            Residual run("99@0 launch s=L to=S99 k=z\n" + std::string(text));
            EXPECT_TRUE(run.report->residual.known || !trace_has_time(&run.report->trace)) << rules[i]->id;
            if (std::string(rules[i]->id) == "lock-contention" && text == rules[i]->bad) {
                EXPECT_NE(std::string::npos, run.found.find("held 2, no policy removes it")) << run.found;
            }
            if (std::string(rules[i]->id) == "lock-contention" && text == rules[i]->bad) {
                Residual more("99@0 launch s=L to=S99 k=z\n" + std::string(text) +
                              "1@5000 launch s=N1 k=a\n1@5010+5000 sync s=N1\n");
                EXPECT_EQ("own 1, " + stays + " | held 2, no policy removes it", more.found)
                    << "each call where it belongs";
            }
        }
}

} // namespace
} // namespace ptds

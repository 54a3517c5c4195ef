// SPDX-License-Identifier: Apache-2.0
//
// The first screen and the details: they fit, they say how much they cover, they fold sequences, and select what was asked.
#include <gtest/gtest.h>

#include <cstring>
#include <sstream>

#include "analysis/report/edges/edge_feed.h"
#include "analysis/report/edges/edge_list.h"
#include "analysis/findings/identity.h"
#include "analysis/views/html/page_names.h"
#include "analysis/views/opening.h"
#include "analysis/views/text/report_screen.h"
#include "tests/analysis/page_support.h"
#include "tests/support/run_child.h"

extern "C" {
#include "analysis/views/html/page_tables.h"
#include "analysis/views/text/report_details.h"
#include "analysis/views/verdict_words.h"
}

namespace ptds
{
namespace
{

bool Has(const std::string &text, const std::string &part)
{
    return text.find(part) != std::string::npos;
}

/* A report of a part of a trace, with its calls added up; edges may be fed to it. */
class Selected
{
public:
    explicit Selected(const std::string &bytes, const struct selection &selection = {}) : trace_(bytes)
    {
        char message[TRACE_ERROR_SIZE] = "";
        report_details_begin(&stats_);
        status = report_build_watched(report.get(), trace_.source(), &selection, &stats_.watch, message);
        error = message;
    }
    ~Selected()
    {
        report_end(report.get());
        report_details_end(&stats_);
    }
    Selected(const Selected &) = delete;

    std::string Screen(unsigned rows = SCREEN_MOST_ROWS, struct site_namer *namer = nullptr) const
    {
        TextOf out;
        report_screen(report.get(), namer, rows, &out);
        return out.text;
    }

    std::string Details(size_t most = SCREEN_FINDINGS) const
    {
        TextOf out;
        report_details(report.get(), &stats_, nullptr, most, &out);
        return out.text;
    }

    void Feed(const struct edge &edge)
    {
        edges_.push_back(edge);
        Judge(report.get(), edges_);
    }

    int status;
    std::string error;
    std::unique_ptr<struct report> report{new struct report};

private:
    MemoryTrace trace_;
    struct call_stats stats_;
    std::vector<struct edge> edges_;
};

void ExpectFits(const std::string &screen, unsigned rows)
{
    auto lines = lines_of(screen);
    EXPECT_LE(lines.size(), rows - 1) << screen;
    for (const std::string &line : lines)
        EXPECT_LE(line.size(), static_cast<size_t>(SCREEN_COLUMNS)) << line;
}

/* Sites that block, each `apart` microseconds from the next one; `sites` costs fall. */
std::string Copies(unsigned sites, unsigned apart)
{
    std::string text = "setting policy=observe\n";
    unsigned at = 0;
    for (unsigned i = 0; i < sites; i++) {
        unsigned cost = 1000 + 100 * (sites - i);
        text += "1@" + std::to_string(at) + "+5 launch s=L k=k" + std::to_string(i) + " site=launch\n";
        text += "1@" + std::to_string(at + 10) + "+" + std::to_string(cost) +
                " copy s=L implicit from=device to=pageable bytes=4 site=s" + std::to_string(i) + "\n";
        at += 10 + cost + apart;
    }
    text += "1@" + std::to_string(at) + "+5 launch s=L k=last site=launch\n";
    text += "1@" + std::to_string(at + 2000 + 100 * sites) + "+3 sync s=L\n";
    return text;
}

TEST(Screen, FitsWhateverTheTraceSays)
{
    std::string text = "untabled cuNew\nbypass /very/long/" + std::string(200, 'x') + "\n";
    unsigned start = 0;
    const rule *rules[RULES_MOST];
    for (size_t i = 0, count = registry_all(rules); i < count; i++, start += 1000000) {
        std::istringstream bad(rules[i]->bad);
        for (std::string line; std::getline(bad, line);) {
            if (line.compare(0, 8, "setting ") == 0)
                text += line + "\n";
            if (line.empty() || !isdigit(static_cast<unsigned char>(line[0])))
                continue; /* about the whole trace, or named by the time of a call that has moved */
            size_t at = line.find('@'), end = line.find_first_of("+ ", at);
            unsigned time = static_cast<unsigned>(std::stoul(line.substr(at + 1, end - at - 1)));
            text += line.substr(0, at + 1) + std::to_string(start + time) + line.substr(end) + " site=s" +
                    std::to_string(start + time) + "\n";
        }
    }
    Selected report(BuildTrace(text));
    ASSERT_EQ(0, report.status);
    EXPECT_GE(report.report->findings.count, 10u);
    EXPECT_EQ(0u, report.Screen(24).find("!! all of this run is changed by ")) << report.Screen(24);
    for (unsigned rows : {0u, 24u, 30u, 33u, 40u, 500u})
        ExpectFits(report.Screen(rows), rows < 24 ? 24 : rows > 40 ? 40 : rows);
    EXPECT_TRUE(Has(report.Screen(24), "Not analysed:")) << report.Screen(24);
    EXPECT_TRUE(Has(report.Screen(24), "more:")) << "classes without a row of their own are named";
}

TEST(Screen, SaysWhatTheShownFindingsCover)
{
    Selected report(BuildTrace(Copies(30, 10000)));
    report.report->edges.analysed = false;
    rank_findings(report.report.get(), {0, 1});
    std::string screen = report.Screen();
    ExpectFits(screen, 40);
    EXPECT_TRUE(Has(screen, "Findings: 30 of 30, which save up to ")) << screen;
    /* The costliest two, and the rest in one. */
    EXPECT_TRUE(Has(screen, "28x  warning, at 28 call sites")) << screen;
    for (const char *part : {"sync-copy", "cuMemcpyDtoH_v2 at prog+0x", "behind k0", "-> Use the Async form",
                             "Next: ptds report", "Implicit orders: not analysed", "policy observe", "Not analysed:"})
        EXPECT_TRUE(Has(screen, part)) << part << "\n" << screen;
}

/* An object's name that leaves no room for the rest of its line. */
TEST(Screen, OfALongPlaceTheSymbolStays)
{
    std::string object = "a_library_whose_name_is_longer_than_what_a_terminal_has_room_for.so_symbol";
    std::string bytes = BuildTrace("setting policy=observe\n1@0 launch s=L k=k0\n"
                                   "1@10+9000 copy s=L implicit from=device to=pageable bytes=4 site=b@" +
                                   object + "\n" GOES_ON);
    size_t at = bytes.find(object);
    ASSERT_NE(std::string::npos, at);
    bytes[at + object.size() - strlen("_symbol")] = ' ';
    std::string screen = Selected(bytes).Screen();
    EXPECT_TRUE(Has(screen, "cuMemcpyDtoH_v2 at symbol+0x")) << screen;
    ExpectFits(screen, 40);
}

/* ... and of a long symbol the function, the file and the line. */
TEST(Screen, OfALongFunctionItsNameStays)
{
    struct site_namer namer = {};
    namer.name = [](site_namer *, const object_def *, uint64_t, char *symbol, size_t room) {
        snprintf(symbol, room, "%s",
                 "void (anonymous namespace)::outer::Work<int>((anonymous namespace)::Run*, unsigned int, int*)+0x1fb "
                 "(app.cu:42)");
        return true;
    };
    Selected selected(BuildTrace("setting policy=observe\n1@0 launch s=L k=k0\n"
                                 "1@10+9000 copy s=L implicit from=device to=pageable bytes=4 site=b\n" GOES_ON));
    std::string screen = selected.Screen(SCREEN_MOST_ROWS, &namer);
    EXPECT_TRUE(Has(screen, "cuMemcpyDtoH_v2 at Work (app.cu:42)")) << screen;
    ExpectFits(screen, 40);
    namer.name = [](site_namer *, const object_def *, uint64_t, char *symbol, size_t room) {
        snprintf(symbol, room, "%s", "work(int)+0x1f");
        return true;
    };
    EXPECT_TRUE(Has(selected.Screen(SCREEN_MOST_ROWS, &namer), "work(int)+0x1f")) << "what fits is whole";
}

TEST(Text, NoLineWhereNothingIsPredicted)
{
    Selected report(BuildTrace(Copies(1, 20)));
    TextOf out;
    report_text(report.report.get(), nullptr, &out);
    std::string lines = std::string(opening_default_stream(report.report.get()).text) + "\n" +
                        opening_blocked(report.report.get()).text + "\n";
    EXPECT_EQ(0u, report.report->what_if.used);
    EXPECT_TRUE(Has(out.text, lines)) << out.text;
}

TEST(Screen, BlockedIsUnknownWhereAWaitHasNoTime)
{
    Selected untimed(BuildTrace("1@0+2 launch s=N1 k=a\n1@10 sync s=N1\n1@50+2 launch s=N1 k=a\n"));
    Selected none(BuildTrace("1@0+2 launch s=N1 k=a\n1@50+2 launch s=N1 k=a\n"));
    EXPECT_EQ(0u, std::string(opening_blocked(untimed.report.get()).text).find("Blocked: unknown; "));
    EXPECT_EQ(0u, std::string(opening_blocked(none.report.get()).text).find("Blocked: no call waited; "));
}

TEST(Screen, TimesOfCallsThatHaveSome)
{
    Selected report(BuildTrace("setting policy=observe\n1@0 launch s=L k=a\n"
                               "1@10+9000 copy s=L implicit from=device to=pageable bytes=4\n"));
    std::istringstream lines(report.Details());
    std::string copy, launch, word;
    for (std::string line; std::getline(lines, line);) {
        copy = Has(line, "cuMemcpyDtoH_v2") && copy.empty() && Has(line, " 1 ") ? line : copy;
        launch = Has(line, "cuLaunchKernel") && launch.empty() && Has(line, " 1 ") ? line : launch;
    }
    EXPECT_TRUE(Has(copy, "9.0 ms")) << report.Details();
    EXPECT_TRUE(Has(launch, " -          -  cuLaunchKernel")) << report.Details();
}

TEST(Screen, FoldsWaitsThatOnlyExposeTheNext)
{
    Selected near(BuildTrace(Copies(3, 20))), far(BuildTrace(Copies(3, 10000)));
    rank_findings(near.report.get(), {0, 1});
    ASSERT_EQ(3u, near.report->findings.count);
    ASSERT_EQ(1u, near.report->sequences.count);
    EXPECT_EQ(3u, near.report->sequences.items[0].findings);
    EXPECT_EQ(near.report->totals.host_ns, near.report->sequences.items[0].host_ns);
    EXPECT_TRUE(Has(near.Screen(), "with #2 #3: one sequence")) << near.Screen();
    EXPECT_TRUE(Has(near.Details(), "removing one wait exposes the next: #1 #2 #3")) << near.Details();
    EXPECT_EQ(0u, far.report->sequences.count) << "far apart, each wait is its own";
    EXPECT_FALSE(Has(far.Screen(), "one sequence"));
}

/* Waits of a millisecond at sites by their letters: the next follows at once, behind a space after ten. How many findings
 * each sequence has. */
std::string Sequences(const std::string &waits)
{
    std::string text = "setting policy=observe\n", found;
    unsigned at = 0;
    for (char site : waits) {
        at += site == ' ' ? 10000 : 0;
        if (site == ' ')
            continue;
        text += "1@" + std::to_string(at) + "+5 launch s=L k=k site=launch\n1@" + std::to_string(at + 10) +
                "+1000 copy s=L implicit from=device to=pageable bytes=4 site=" + site + "\n";
        at += 1020;
    }
    Selected report(BuildTrace(text + "1@" + std::to_string(at) + "+5 launch s=L k=last site=launch\n1@" +
                               std::to_string(at + 5000) + "+3 sync s=L\n1@" + std::to_string(at + 5010) +
                               "+3 copy s=L implicit from=device to=pageable bytes=4 site=quick\n"));
    rank_findings(report.report.get(), {0, 1});
    for (size_t i = 0; i < report.report->sequences.count; i++)
        found += (i != 0 ? " " : "") + std::to_string(report.report->sequences.items[i].findings);
    return found;
}

/* More than half of a finding's waits lead to the other's. */
TEST(Screen, WhatFollowsMostlyIsASequence)
{
    EXPECT_EQ("2", Sequences("AC"));
    EXPECT_EQ("", Sequences("A C"));
    EXPECT_EQ("", Sequences("AC A")) << "half of them";
    EXPECT_EQ("2", Sequences("AC AC A"));
    EXPECT_EQ("3", Sequences("ABC"));
    EXPECT_EQ("3", Sequences("AC BC"));
    EXPECT_EQ("2 2", Sequences("AB CD"));
    EXPECT_EQ("2", Sequences("AC C C C")) << "whatever else it follows";
    EXPECT_EQ("", Sequences("AA AA"));
    EXPECT_EQ("", Sequences("AC A A BC B B")) << "two that lead to the same do not count together";
    EXPECT_EQ("", Sequences("AC AB A A")) << "nor one that leads to two";
}

TEST(Screen, ThreadsAreNotFoldedTogether)
{
    std::string text = "1@0 launch s=L k=a\n"
                       "1@10+3000 copy s=L implicit from=device to=pageable bytes=4 site=one\n"
                       "2@3020 launch s=L k=b\n"
                       "2@3030+3000 copy s=L implicit from=device to=pageable bytes=4 site=two\n";
    Selected report(BuildTrace(text));
    EXPECT_EQ(0u, report.report->sequences.count);
}

TEST(Screen, VerdictsWhereThereAreEdges)
{
    Selected report(BuildTrace(Copies(2, 10000)));
    const struct finding *top = report.report->findings.items[0];
    struct edge edge = Edge(EDGE_HOST, VERDICT_NOT_NEEDED, 0, 1, 1, 10, 1, 0);
    edge.to.stack = top->stack;
    edge.to.api = static_cast<uint16_t>(top->api);
    report.Feed(edge);
    edge.verdict = VERDICT_NEEDED;
    report.Feed(edge);
    edge.verdict = VERDICT_MAYBE_NEEDED;
    edge.to.stack = 77;
    report.Feed(edge);
    std::string screen = report.Screen();
    EXPECT_TRUE(Has(screen, "Implicit orders: 1 needed, 1 maybe needed, 1 not needed")) << screen;
    EXPECT_TRUE(Has(screen, "  warning, 1 needed\n      cu")) << screen;
    EXPECT_TRUE(Has(screen, "  warning\n")) << "the other finding has none\n" << screen;
}

TEST(EdgeList, GivesUpFalseOnesFirst)
{
    struct edge_list list;
    edge_list_begin(&list);
    struct edge edge = Edge(EDGE_FIFO, VERDICT_NOT_NEEDED, 1, 1, 1, 2, 2, 1);
    for (unsigned i = 0; i < EDGES_KEPT; i++)
        list.sink.edge(&list.sink, &edge);
    edge.verdict = VERDICT_NEEDED;
    for (unsigned i = 0; i < 5; i++)
        list.sink.edge(&list.sink, &edge);
    edge.kind = static_cast<edge_kind>(99);
    list.sink.edge(&list.sink, &edge);
    EXPECT_EQ(5u, list.dropped);
    unsigned bearing = 0;
    for (size_t i = 0; i < list.kept.count; i++)
        bearing += list.kept.items[i].verdict == VERDICT_NEEDED;
    EXPECT_EQ(5u, bearing);
    EXPECT_EQ(static_cast<size_t>(EDGES_KEPT), list.kept.count);
    edge_list_end(&list);
}

const char two_threads[] = "1@0 launch s=L k=a\n"
                           "1@10+3000 copy s=L implicit from=device to=pageable bytes=4 site=one\n"
                           "2@10000 launch s=B1 k=b\n"
                           "2@10010+5000 copy s=L implicit from=device to=pageable bytes=4 site=two\n"
                           "1@3100 launch s=N9 k=c\n1@7000+3 sync s=N9\n"
                           "2@15100 launch s=N9 k=c\n2@21000+3 sync s=N9\n";

TEST(Selection, OfAThread)
{
    struct selection selection = {};
    selection.thread = "1";
    Selected report(BuildTrace(two_threads), selection);
    ASSERT_EQ(0, report.status);
    std::string details = report.Details();
    EXPECT_TRUE(Has(details, "Selected: thread 1; 4 of 8 recorded calls")) << details;
    EXPECT_EQ(2980000u, report.report->totals.host_ns);
    EXPECT_FALSE(Has(details, "5.0 ms")) << details;
    selection.thread = "9";
    Selected none(BuildTrace(two_threads), selection);
    EXPECT_EQ(-1, none.status);
    EXPECT_TRUE(Has(none.error, "no thread \"9\"")) << none.error;
}

TEST(Selection, OfThreadsByName)
{
    TraceBuilder builder;
    builder.Thread(1, "worker");
    builder.Thread(2, "worker");
    builder.Thread(3, "main");
    for (uint32_t thread = 1; thread <= 3; thread++) {
        CallSpec call;
        call.thread = thread;
        call.enter = thread;
        builder.Call(call);
    }
    struct selection selection = {};
    selection.thread = "worker";
    Selected report(builder.Bytes(), selection);
    EXPECT_EQ(2u, report.report->totals.recorded);
    selection.thread = "walker";
    Selected none(builder.Bytes(), selection);
    EXPECT_EQ(-1, none.status);
    EXPECT_TRUE(Has(none.error, "3 (main)")) << none.error;
}

TEST(Selection, OfAStreamAndATime)
{
    struct selection selection = {};
    selection.stream = 2; /* B1 */
    Selected stream(BuildTrace(two_threads), selection);
    EXPECT_EQ(1u, stream.report->totals.recorded);
    selection.stream = 99;
    EXPECT_EQ(-1, Selected(BuildTrace(two_threads), selection).status);
    selection = {};
    selection.has_from = true;
    selection.from_ns = 5000000;
    Selected late(BuildTrace(two_threads), selection);
    EXPECT_EQ(5u, late.report->totals.recorded);
    EXPECT_EQ(4980000u, late.report->totals.host_ns);
    selection.has_to = true;
    selection.to_ns = 10001000;
    Selected between(BuildTrace(two_threads), selection);
    EXPECT_EQ(2u, between.report->totals.recorded);
    TraceBuilder timeless;
    timeless.header.clock = PTDS_CLOCK_TSC;
    timeless.Call(CallSpec());
    EXPECT_EQ(-1, Selected(timeless.Bytes(), selection).status) << "no times, no range of time";
}

TEST(Selection, RulesSeeWhatIsNotSelected)
{
    /* The copy waits for what the other thread launched: without seeing that, there is nothing to wait for. */
    struct selection selection = {};
    selection.thread = "2";
    Selected report(BuildTrace("1@0 launch s=L k=a\n2@10+5000 copy s=L implicit from=device to=pageable bytes=4\n"
                               "2@5100 launch s=N9 k=b\n2@11000+3 sync s=N9\n"),
                    selection);
    bool copy = false;
    for (size_t i = 0; i < report.report->findings.count; i++)
        copy |= std::string("sync-copy") == report.report->findings.items[i]->rule->id;
    EXPECT_TRUE(copy);
}

TEST(Selection, OfCallsThatRulesSpeakOfLater)
{
    /* The wait is judged at the second one, and the allocation flagged when another thread's call turns out to be held. */
    const rule *rules[RULES_MOST];
    unsigned judged = 0;
    for (size_t i = 0, count = registry_all(rules); i < count; i++) {
        if (rules[i]->on_judged == nullptr && rules[i]->on_held == nullptr)
            continue;
        auto of_rule = [&](const Selected &report) {
            uint64_t calls = 0;
            for (size_t j = 0; j < report.report->findings.count; j++)
                calls += report.report->findings.items[j]->rule == rules[i] ? report.report->findings.items[j]->count : 0;
            return calls;
        };
        uint64_t all = of_rule(Selected(BuildTrace(rules[i]->bad))), parts = 0;
        EXPECT_NE(0u, all) << rules[i]->id;
        for (const char *thread : {"1", "2", "3", "4", "5", "6"}) {
            struct selection selection = {};
            selection.thread = thread;
            Selected part(BuildTrace(rules[i]->bad), selection);
            if (part.status == 0)
                parts += of_rule(part);
        }
        EXPECT_EQ(all, parts) << rules[i]->id << ": each call belongs to one thread";
        struct selection late = {};
        late.has_from = true;
        late.from_ns = UINT64_MAX / 2;
        EXPECT_EQ(0u, Selected(BuildTrace(rules[i]->bad), late).report->findings.count) << rules[i]->id;
        judged++;
    }
    EXPECT_GE(judged, 5u);
}

TEST(Selection, AnOrderCountsByTheEndThatWaits)
{
    const char *text = "1@0 launch s=L k=a\n2@10 launch s=L k=b\n";
    for (const char *thread : {"1", "2"}) {
        struct selection selection = {};
        selection.thread = thread;
        Selected report(BuildTrace(text), selection);
        uint64_t verdicts[VERDICTS], all = 0;
        ASSERT_NE(nullptr, verdict_words_all(report.report.get(), verdicts));
        for (uint64_t count : verdicts)
            all += count;
        EXPECT_EQ(thread[0] == '2' ? 1u : 0u, all) << thread;
        edge_list single;
        edge_list_begin(&single);
        EXPECT_EQ(0, edge_feed_of_build()->run(edge_feed_of_build(), report.report.get(), &single.sink));
        EXPECT_EQ(all, single.kept.count) << "those drawn are those counted";
        edge_list_end(&single);
    }
}

TEST(FindingId, IsTheSameForTheSameSite)
{
    auto id = [](const std::string &text) {
        std::string thread = text.substr(0, 1);
        Selected report(BuildTrace(text + thread + "@9100 launch s=N9 k=c\n" + thread + "@30000+3 sync s=N9\n"));
        EXPECT_NE(0u, report.report->findings.count);
        return std::string(identity_of(&report.report->trace, report.report->findings.items[0]).text);
    };
    std::string one = id("1@0 launch s=L k=a\n1@10+5000 copy s=L implicit from=device to=pageable bytes=4 site=x\n");
    EXPECT_EQ(16u, one.size());
    EXPECT_EQ(one, id("7@0 launch s=L k=b\n7@10+9000 copy s=L implicit from=device to=pageable bytes=8 site=x\n"));
    EXPECT_NE(one, id("1@0 launch s=L k=a site=y\n1@10+5000 copy s=L implicit from=device to=pageable bytes=4 site=x\n"));
}

/* 0 is nobody; from 1 on they stand for the places in the list of names. */
TEST(Timeline, NumbersStandForNames)
{
    struct names names = {};
    for (uint32_t uid : {700u, 20u, 3u})
        page_names_number(&names, uid);
    EXPECT_EQ(0u, page_names_number(&names, 0));
    ASSERT_EQ(3u, names.uids.count);
    for (uint32_t i = 0; i < 3; i++)
        EXPECT_EQ(i + 1, page_names_number(&names, names.uids.items[i]));
    EXPECT_EQ(700u, names.uids.items[0]);
    page_names_free(&names);
}

TEST(Timeline, SaysHowManyEdgesItHoldsAndWhatItsNumbersMean)
{
    std::vector<struct edge> edges(3, Edge(EDGE_FIFO, VERDICT_NEEDED, 0, 1, 1, 10, 1, 1));
    Page page(BuildTrace(Copies(1, 20)), &edges);
    ASSERT_EQ(0, page.status);
    EXPECT_TRUE(Has(page.html, "\"region_flags\":{\"OPEN\":1,\"EARLIER\":2,\"LATER\":4}"));
    EXPECT_TRUE(Has(page.html, "\"edges\":3,\"edges_left_out\":0")) << page.html.substr(page.html.size() - 3000);
}

TEST(Timeline, KeepsTheStretchThatLostTheMost)
{
    std::string text;
    for (unsigned i = 0; i < 400; i++)
        text += "1@" + std::to_string(i * 100) + "+3 launch s=N1 k=a\n";
    text += "1@40000+9000 copy s=N1 from=device to=pageable bytes=4\n";
    for (unsigned i = 500; i < 900; i++)
        text += "1@" + std::to_string(i * 100) + "+3 launch s=N1 k=a\n";
    Page page(BuildTrace(text), nullptr, 80);
    ASSERT_EQ(0, page.status);
    EXPECT_TRUE(Has(page.html, "\"operations\":80,\"operations_seen\":801")) << page.html.substr(page.html.size() - 3000);
    struct timeline timeline;
    timeline_begin(&timeline, 80);
    MemoryTrace trace(BuildTrace(text));
    std::unique_ptr<struct report> report(new struct report);
    char error[TRACE_ERROR_SIZE];
    ASSERT_EQ(0, report_build_watched(report.get(), trace.source(), nullptr, &timeline.watch, error));
    timeline_decide(&timeline);
    ASSERT_EQ(80u, timeline_count(&timeline));
    bool there = false;
    for (uint64_t i = 0; i < 80; i++)
        there |= timeline_at(&timeline, i)->op == PTDS_OP_COPY;
    EXPECT_TRUE(there);
    timeline_end(&timeline);
    report_end(report.get());
}

} // namespace
} // namespace ptds

/* SPDX-License-Identifier: Apache-2.0
 *
 * All that the analysis holds of a trace, as lines: so that a test can compare the whole of it with literals. Numbers are
 * the report's own; ids are the trace's (#1), and a place is the number of its stack (@1). What is 0 is left out.
 */
#ifndef PTDS_TESTS_ANALYSIS_TOLD_H
#define PTDS_TESTS_ANALYSIS_TOLD_H

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "analysis/findings/identity.h"
#include "analysis/repair/repair.h"
#include "analysis/report/default_cost.h"
#include "analysis/report/edges/edge_feed.h"
#include "analysis/report/edges/edge_list.h"
#include "analysis/report/outcome.h"
#include "analysis/views/gap_words.h"
#include "analysis/views/report_words.h"
#include "analysis/whatif/whatif.h"
#include "tests/analysis/support.h"
#include "tests/analysis/told_lines.h"

namespace ptds
{

class Told : public ToldLines
{
public:
    explicit Told(const std::string &trace, const struct selection *part = nullptr) : trace_(BuildTrace(trace))
    {
        struct report report;
        struct recorded recorded;
        char error[TRACE_ERROR_SIZE] = "";
        recorded_begin(&recorded);
        EXPECT_EQ(0, report_build_watched(&report, trace_.source(), part, &recorded.watch, error)) << error;
        Run(report);
        for (size_t i = 0; i < report.findings.count; i++)
            Finding(report, *report.findings.items[i]);
        Lists(report);
        Edges(report.edges);
        Feed(report);
        EXPECT_EQ(0, residual_find(&report));
        Residual(report);
        Repair(report);
        struct whatif whatif = whatif_of(&report, &recorded);
        WhatIf(whatif);
        report_end(&report);
        recorded_end(&recorded);
    }
    Told(const Told &) = delete;

private:
    template <size_t N> void Numbers(const std::string &name, const uint64_t (&values)[N])
    {
        std::string all;
        bool any = false;
        for (uint64_t value : values) {
            all += (all.empty() ? "" : "/") + std::to_string(value);
            any |= value != 0;
        }
        if (any)
            Word(name + "=" + all);
    }
    /* What its calls answered, a bit an answer, and what is said of all of them. */
    void Goes(const struct report &report, const struct removed_question &about)
    {
        std::string all, said;
        for (unsigned policy = 0; policy < REMOVED_POLICIES; policy++) {
            enum removed goes = removed_by_policy(&report.trace.defs, &about, static_cast<enum removed_policy>(policy));
            all += (all.empty() ? "" : "/") + std::to_string(about.calls.under[policy]);
            said += (said.empty() ? "" : "/") + std::string(removed_keys[goes]);
        }
        Word("goes=" + all + "=" + said);
    }
    void End(const std::string &name, const struct edge_end &end)
    {
        Word(name + " " + std::to_string(end.thread) + "@" + std::to_string(end.ticks) + " op" + std::to_string(end.op) +
             " s#" + std::to_string(end.stream) + (end.target != end.stream ? ">#" + std::to_string(end.target) : "") +
             (end.object != 0 ? " k#" + std::to_string(end.object) : "") +
             (end.stack != 0 ? " @" + std::to_string(end.stack) : "") + (end.twin ? " twin" : ""));
    }
    void Pair(const struct edge_pair &pair)
    {
        static const char *const access[] = {"-", "R", "W", "?"};
        End("pair", pair.first);
        End(access[pair.first_access] + std::string(" then"), pair.second);
        Word(access[pair.second_access]);
        Number("address", pair.address);
        Number("size", pair.size);
        Number("of", pair.allocation);
        if (pair.definite)
            Word("definite");
    }
    void Run(const struct report &report)
    {
        const struct report_totals &t = report.totals;
        Line("run");
        Number("ns", t.run_ns);
        Number("calls", t.calls);
        Number("failed", t.failed);
        Number("recorded", t.recorded);
        Number("default", t.default_stream);
        Number("remapped", t.remapped);
        Numbers("kept", t.kept);
        Number("kept-all", t.kept_all);
        Number("failed-default", t.failed_default);
        Number("opaque", t.opaque);
        Numbers("touch-all", t.touch_all);
        Number("untimed-waits", t.untimed_waits);
        Number("unknown-streams", t.unknown_streams);
        Number("unplaced", t.unplaced);
        Number("unknown-generations", t.unknown_generations);
        Numbers("streams", t.streams);
        Number("program-streams", t.program_streams);
        Number("threads-ns", t.threads_ns);
        Number("blocked-ns", t.blocked_ns);
        Number("host-ns", t.host_ns);
        Number("costed", t.costed);
        Number("lost", trace_not_kept(&report.trace));
        if (t.gpu_operations != 0) {
            Line("gpu");
            Number("operations", t.gpu_operations);
            Number("timed", t.gpu_timed);
            Number("busy-ns", t.gpu_busy_ns);
            Number("span-ns", t.gpu_span_ns);
            Number("default-ns", t.gpu_default_ns);
            Number("gpus", t.gpus);
        }
        Line("start-up");
        Numbers("calls", report.startup.calls);
        Numbers("ns", report.startup.ns);
        Number("over-at", report.startup.over_at);
        struct outcome outcome = outcome_of(&report);
        struct default_stream by_default = default_cost_of(&report);
        Line(std::string("outcome ") + doubt_names[outcome.doubt] + (outcome.complete ? "" : ", not complete") +
             (outcome.little ? ", little" : "") + ", " + default_cost_names[by_default.cost]);
        Number("most-ns", by_default.most_ns);
        Number("or-more", by_default.or_more);
        Number("joins", report.gain.joins);
        Number("finding", outcome.finding != nullptr ? outcome.finding->serial : 0);
        gap_words(
            &report, [](void *data, const char *line) { static_cast<Told *>(data)->Sentence("gap", line); }, this);
    }
    void Finding(const struct report &report, const struct finding &f)
    {
        Line(f.rule->id + std::string(" ") + severity_names[f.severity] + (f.doubt != DOUBT_NONE ? " " : "") +
             (f.doubt != DOUBT_NONE ? doubt_names[f.doubt] : "") + (f.fold != FOLD_SHOWN ? " fold:" : "") +
             (f.fold != FOLD_SHOWN ? fold_names[f.fold] : ""));
        if (f.stack != 0)
            Word("@" + std::to_string(f.stack));
        if (f.has_api)
            Word(report_words_api(&report, &f) + std::string(f.twin ? " twin" : ""));
        Number("detail", f.detail);
        Number("calls", f.count);
        Number("from", f.first);
        Number("to", f.last);
        Number("ns", f.host_ns);
        Number("weight", f.weight_ns);
        Number("known", f.known);
        Number("unknown", f.unknown);
        Numbers("verdicts", f.verdicts);
        Number("timed", f.timed);
        Number("given-up", f.given_up);
        Number("may-be-given-up", f.may_be_given_up);
        Number("serial", f.serial);
        Number("sequence", f.sequence);
        Goes(report, removed_by_policy_question(&f));
        for (unsigned set = 0; set < FINDING_SETS; set++) {
            std::string all;
            for (uint32_t i = 0; i < f.sets[set].count; i++)
                all += (all.empty() ? "" : ",") + std::to_string(f.sets[set].id[i]);
            if (!all.empty())
                Word(finding_set_names[set] + ("=" + all) + (f.sets[set].more ? ",..." : ""));
        }
        for (const struct finding_number &number : f.numbers)
            if (number.key != nullptr)
                Word(number.key + ("=" + std::to_string(number.value)));
        if (f.text != nullptr)
            Word("\"" + std::string(f.text) + "\"");
        if (f.has_pair)
            Pair(f.pair);
        Word(std::string("id=") + identity_of(&report.trace, &f).text);
    }
    void Lists(const struct report &report)
    {
        for (size_t i = 0; i < report.sequences.count; i++) {
            Line("sequence " + std::to_string(i + 1));
            Number("ns", report.sequences.items[i].host_ns);
            Number("first", report.sequences.items[i].first);
            Number("findings", report.sequences.items[i].findings);
        }
        for (size_t i = 0; i < report.entries.count; i++) {
            const struct entry &entry = report.entries.items[i];
            Line("entry " + std::to_string(entry.first));
            Number("findings", entry.findings);
            Number("places", entry.places);
            Number("ns", entry.host_ns);
            Number("calls", entry.calls);
            Number("known", entry.known);
            Number("advised", entry.advised);
        }
        Sums(report.sums);
    }
    void Edges(const struct edge_table &edges)
    {
        static const char *const losses[] = {"kept", "possible", "definite"};
        Line("edges");
        for (unsigned kind = 0; kind < EDGE_KINDS; kind++)
            Numbers(edge_kind_names[kind], edges.counts[kind]);
        Numbers("reasons", edges.reasons);
        Numbers("lost", edges.lost);
        Number("ungrouped", edges.ungrouped);
        Number("races", edges.totals.races);
        Number("possible-races", edges.totals.possible_races);
        Number("dropped", edges.totals.dropped);
        Number("unplaced", edges.totals.unplaced);
        for (size_t i = 0; i < edges.groups.count; i++) {
            const struct edge_group &group = edges.groups.items[i];
            Line(edge_kind_names[group.example.kind]);
            Numbers("counts", group.counts);
            Word(losses[group.example.loss]);
            Number("reason", group.example.reason);
            End("from", group.example.from);
            End("to", group.example.to);
            if (group.example.verdict != VERDICT_NOT_NEEDED)
                Pair(group.example.pair);
        }
    }
    /* Single edges are those that were counted. */
    static void Feed(const struct report &report)
    {
        struct edge_list list;
        uint64_t counts[EDGE_KINDS][VERDICTS] = {};
        edge_list_begin(&list);
        struct edge_feed *feed = edge_feed_of_build();
        ASSERT_EQ(0, feed->run(feed, &report, &list.sink));
        for (size_t i = 0; i < list.kept.count; i++)
            counts[list.kept.items[i].kind][list.kept.items[i].verdict]++;
        EXPECT_EQ(0, memcmp(counts, report.edges.counts, sizeof counts));
        EXPECT_EQ(0u, list.dropped);
        edge_list_end(&list);
    }
    void Residual(const struct report &report)
    {
        for (unsigned kind = 0; report.residual.known && kind < RESIDUAL_KINDS; kind++) {
            const struct residual_part &part = report.residual.part[kind];
            if (part.calls == 0)
                continue;
            Line("still " + std::to_string(kind));
            Number("ns", part.ns);
            Number("calls", part.calls);
            Number("most", part.most_ns);
            Number("at", part.stack);
            Number("api", part.api);
            Goes(report, residual_goes(&report, static_cast<enum residual_kind>(kind)));
        }
    }
    void Repair(const struct report &report)
    {
        struct repair repair;
        ASSERT_EQ(0, repair_of(&repair, &report, ORDER_PER_THREAD));
        Line("per-thread needs");
        Number("waits", repair.needed);
        Number("perhaps", repair.maybe_needed);
        Number("unplaced", repair.unplaced);
        Number("partly", repair.partly);
        Number("wide", repair.wide);
        for (size_t i = 0; i < repair.waits.count; i++) {
            const struct repair_wait &wait = repair.waits.items[i];
            Word(std::to_string(wait.first) + (wait.verdict == VERDICT_NEEDED ? ">" : "?") + std::to_string(wait.second) +
                 (wait.at == CONFLICT_AFTER_WAIT ? "'" : ""));
        }
        for (size_t i = 0; i < repair.places.count; i++)
            Place(repair.places.items[i]);
        repair_end(&repair);
    }
    void Place(const struct repair_place &place)
    {
        Line(std::string("place ") + (place.verdict == VERDICT_NEEDED ? "needed" : "perhaps"));
        Number("waits", place.waits);
        Number("calls", place.calls);
        Number("at", place.at);
        Number("reason", place.reason);
        End("from", place.first);
        End("to", place.second);
        Number("one-memory", place.one_memory);
        Number("more-firsts", place.more_firsts);
        Number("more-seconds", place.more_seconds);
        Pair(place.pair);
        if (place.made.thread != 0)
            End("made", place.made);
    }
    void WhatIf(const struct whatif &whatif)
    {
        Line("what-if doubt=" + std::to_string(whatif.doubt));
        Number("recorded", whatif.recorded);
        Number("replayed", whatif.replayed);
        Number("gpu", whatif.gpu);
        Number("timed", whatif.gpu_timed);
        Number("needed", whatif.needed);
        Number("perhaps", whatif.maybe_needed);
        if (whatif.doubt != WHATIF_SURE)
            return;
        Number("spread-us", whatif.spread / 1000);
        for (unsigned i = 0; i < WHATIF_POLICIES; i++) {
            Line(std::string("under ") + whatif_names[i]);
            Number("least-us", whatif.policies[i].least / 1000);
            Number("most-us", whatif.policies[i].most / 1000);
            for (unsigned part = 0; part < PARTS; part++)
                Number(whatif_parts[part], whatif.policies[i].spent.part[part] / 1000);
        }
    }

    MemoryTrace trace_;
};

} // namespace ptds

#endif

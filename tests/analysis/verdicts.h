/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace run through model and verdict engine, and the edges that came out. Shared by the verdict tests.
 */
#ifndef PTDS_TESTS_ANALYSIS_VERDICTS_H
#define PTDS_TESTS_ANALYSIS_VERDICTS_H

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "analysis/model/model.h"
#include "analysis/order/verdict.h"
#include "analysis/order/verdict_memory.h"
#include "analysis/trace/merge.h"
#include "analysis/trace/trace.h"
#include "tests/analysis/support.h"

namespace ptds
{

class Judged : public edge_sink
{
public:
    explicit Judged(const std::string &bytes, bool sweep_always = false, unsigned anew_after = 0, unsigned few = 8)
        : memory_(bytes)
    {
        edge = [](edge_sink *sink, const struct edge *settled) { static_cast<Judged *>(sink)->edges.push_back(*settled); };
        struct trace trace;
        struct model model;
        merge merged;
        char error[TRACE_ERROR_SIZE];
        EXPECT_EQ(0, trace_read(&trace, memory_.source(), error)) << error;
        model_begin(&model, &trace);
        verdicts *engine = verdicts_begin(&model, this);
        if (sweep_always)
            verdicts_sweep_always(engine);
        verdicts_look_at(engine, few);
        verdicts_begin_anew_after(engine, anew_after);
        EXPECT_EQ(0, merge_begin(&merged, &trace));
        while (const call *next = merge_next(&merged)) {
            call_view view;
            calls[{next->r.enter, next->thread}] = {next->r.stack, next->r.op == PTDS_OP_LAUNCH ? next->r.object : 0};
            EXPECT_TRUE(model_enter(&model, next, &view));
            const verdicts_found *found = verdicts_take(engine, &view, merge_in_gap(&merged));
            if (found != nullptr && found->unordered != nullptr)
                races.push_back(*found->unordered);
            overtaken += found != nullptr && found->overtaken != nullptr;
            given_up += found != nullptr && found->given_up != nullptr;
            model_leave(&model, &view);
        }
        verdicts_end(engine, &totals);
        merge_end(&merged);
        model_end(&model);
        trace_close(&trace);
    }
    Judged(const Judged &) = delete;

    /* All edges, each as "kind microsecond>microsecond verdict", the reason behind "maybe needed", in order. */
    std::string Text() const
    {
        std::vector<std::string> lines;
        for (const struct edge &one : edges) {
            std::string line = std::string(edge_kind_names[one.kind]) + " " + std::to_string(one.from.ticks / 1000) + ">" +
                               std::to_string(one.to.ticks / 1000) + " " + Verdict(one.verdict);
            if (one.verdict == VERDICT_MAYBE_NEEDED)
                line += "(" + std::string(Reason(one.reason)) + ")";
            lines.push_back(line);
        }
        std::sort(lines.begin(), lines.end());
        std::string text;
        for (const std::string &line : lines)
            text += (text.empty() ? "" : "; ") + line;
        return text;
    }

    static const char *Verdict(enum verdict verdict)
    {
        static const char *const names[VERDICTS] = {"not needed", "needed", "maybe needed"};
        return names[verdict];
    }

    static const char *Reason(verdict_reason reason)
    {
        static const char *const names[VERDICT_REASONS] = {"none", "opaque", "access", "extent", "race",
                                                           "lost", "limit",  "host",   "time"};
        return names[reason];
    }

    std::vector<struct edge> edges;
    std::vector<edge_pair> races;
    unsigned overtaken = 0, given_up = 0;                                         /* calls */
    std::map<std::pair<uint64_t, uint32_t>, std::pair<uint32_t, uint32_t>> calls; /* by time and thread: stack and kernel */
    verdict_totals totals = {};

private:
    MemoryTrace memory_;
};

/* Memories of a trace, and what the engine must say of the calls behind them. */
inline const char verdict_memory[] = "1@0 alloc m=A ptr=0x10000 bytes=4096\n"
                                     "1@0 alloc m=B ptr=0x20000 bytes=4096\n"
                                     "1@0 alloc m=H ptr=0x30000 bytes=4096 kind=pinned\n";

struct VerdictCase {
    const char *name, *trace, *edges;
    unsigned races = 0;

    static std::string Name(const testing::TestParamInfo<VerdictCase> &row)
    {
        return row.param.name;
    }
};

} // namespace ptds

#endif

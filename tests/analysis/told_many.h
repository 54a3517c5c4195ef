/* SPDX-License-Identifier: Apache-2.0
 *
 * All that the analysis holds of several processes together, as lines: what told.h is of one. What is 0 is left out.
 */
#ifndef PTDS_TESTS_ANALYSIS_TOLD_MANY_H
#define PTDS_TESTS_ANALYSIS_TOLD_MANY_H

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "analysis/repair/merge_traces.h"
#include "analysis/report/many/fold.h"
#include "analysis/report/many/traced.h"
#include "analysis/report/many/traces.h"
#include "tests/analysis/support.h"
#include "tests/analysis/told_lines.h"

namespace ptds
{

class ToldMany : public ToldLines
{
public:
    explicit ToldMany(const std::vector<std::string> &texts)
    {
        std::vector<std::string> paths;
        for (const std::string &one : texts) {
            paths.push_back(WriteTemporary(BuildTrace(one)));
            EXPECT_TRUE(traces_add(&traces_, paths.back().c_str()));
        }
        traces_order(&traces_);
        fold_make(&folds_, &traces_);
        Processes();
        Runs();
        for (size_t i = 0; i < folds_.list.count; i++)
            Folded(folds_.list.items[i]);
        Sums(folds_.sums);
        Repairs();
        fold_free(&folds_);
        traces_free(&traces_);
        for (const std::string &path : paths)
            unlink(path.c_str());
    }
    ToldMany(const ToldMany &) = delete;

private:
    void Processes()
    {
        uint64_t origin = traces_origin(&traces_);
        Line("all from=" + std::to_string(origin));
        Number("unreadable", traces_.unreadable);
        Number("gpu", traces_gpu_totals(&traces_).gpu_operations);
        Number("gpu-timed", traces_gpu_totals(&traces_).gpu_timed);
        for (size_t i = 0; i < traces_.list.count; i++) {
            const traced *one = traces_.list.items[i];
            char name[100];
            traced_name(one, name, sizeof name);
            Line(name);
            Number("first", one->first_ticks);
            Number("real", traced_realtime(one, 5000000));
            Number("time", traced_time(one, origin, 5000000));
            Number("time-of-first", traced_time(one, origin, one->first_ticks));
            Number("reasons",
                   traced_incomplete(
                       one,
                       [](void *data, const char *line) { static_cast<ToldMany *>(data)->Line(std::string("- ") + line); },
                       this));
        }
    }
    void Runs()
    {
        const struct runs &runs = folds_.runs;
        Line("runs");
        for (unsigned doubt = 0; doubt < DOUBTS; doubt++)
            Number(doubt_names[doubt], runs.outcomes[doubt]);
        Number("incomplete", runs.incomplete);
        Number("little", runs.little);
        Number("gains", runs.gains);
        Number("most", runs.most);
        Number("or-more", runs.or_more);
        Number("most-ns", runs.most_ns);
        Number("shortest", runs.shortest_ns);
        Number("longest", runs.longest_ns);
        Number("calls", runs.calls);
        Number("default", runs.default_stream);
        Number("remapped", runs.remapped);
        Number("threads-ns", runs.threads_ns);
        Number("blocked-ns", runs.blocked_ns);
        Number("start-up", runs.startup_ns);
        Number("blocked-known", runs.blocked_known);
        Number("cost-unknown", runs.cost_unknown);
        Number("small", runs.small);
        Number("unrecorded", runs.unrecorded);
        Number("host-ns", folds_.host_ns);
        Number("known", folds_.known);
    }
    void Folded(const struct folded &one)
    {
        Line(std::string(one.finding->rule->id) + (one.shown ? "" : " not shown") + (one.advised ? " advised" : ""));
        Number("serial", one.finding->serial);
        Number("of", one.process);
        Number("calls", one.count);
        Number("ns", one.host_ns);
        Number("known", one.known);
        Number("unknown", one.unknown);
        Number("weight", one.weight_ns);
        struct spread spread = fold_spread(&one);
        Number("least", spread.least);
        Number("median", spread.median);
        Number("most", spread.most);
        Number("most-of", spread.most_process);
        Number("processes", spread.processes);
        for (size_t i = 0; one.shares.count > 1 && i < one.shares.count; i++) {
            const struct share &share = one.shares.items[i];
            text += " (" + std::to_string(share.process) + ":" + std::to_string(share.count) + "/" +
                    std::to_string(share.host_ns) + "/" + std::to_string(share.known) + "/" +
                    std::to_string(share.unknown) + ")";
        }
    }
    static std::string End(const edge_end &end)
    {
        return std::to_string(end.thread) + "@" + std::to_string(end.ticks) + " #" + std::to_string(end.stream) +
               (end.stack != 0 ? " @" + std::to_string(end.stack) : "");
    }
    void Repairs()
    {
        struct repairs repairs;
        ASSERT_EQ(0, merge_traces_repairs(&repairs, &traces_, ORDER_PER_THREAD));
        Line("per-thread needs");
        Number("waits", repairs.all.needed);
        Number("perhaps", repairs.all.maybe_needed);
        Number("unplaced", repairs.all.unplaced);
        Number("partly", repairs.all.partly);
        Number("wide", repairs.all.wide);
        Number("traces", repairs.traces);
        Number("needing", repairs.needing);
        Number("maybe", repairs.maybe);
        for (size_t i = 0; i < repairs.all.places.count; i++) {
            const repair_place &place = repairs.all.places.items[i];
            Line("place of " + std::to_string(repairs.where.items[i].trace) + " in " +
                 std::to_string(repairs.where.items[i].traces) + ": " + End(place.first) + ", " + End(place.second));
            Number("verdict", place.verdict);
            Number("at", place.at);
            Number("reason", place.reason);
            Number("waits", place.waits);
            Number("calls", place.calls);
            Number("one-memory", place.one_memory);
            Number("more-firsts", place.more_firsts);
            Number("more-seconds", place.more_seconds);
            Number("address", place.pair.address);
            if (place.made.thread != 0)
                text += " made " + End(place.made);
        }
        merge_traces_end(&repairs);
    }

    struct traces traces_ = {};
    struct folds folds_ = {};
};

} // namespace ptds

#endif

// SPDX-License-Identifier: Apache-2.0
//
// The model against what a real driver was measured to do: who waits for whom, which call completes what, event
// generations, what is pending when, and that memory goes with live streams.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <sstream>
#include <list>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "analysis/model/model_orders.h"
#include "tests/analysis/support.h"
#include "analysis/model/model_slots.h"
#include "analysis/trace/merge.h"

namespace ptds
{
namespace
{

/* Feeds a trace to a model that follows it as run, as written, and under legacy order; `at` sees each call before the model
 * has taken it in. */
class Fed
{
public:
    explicit Fed(const std::string &bytes, std::function<void(struct model *, const call_view &)> at = {}) : memory_(bytes)
    {
        char error[TRACE_ERROR_SIZE];
        EXPECT_EQ(0, trace_read(&trace_, memory_.source(), error)) << error;
        model_begin(&model, &trace_);
        EXPECT_EQ(EXPLICIT, model_orders_replay(&model, ORDER_EXPLICIT));
        EXPECT_EQ(LEGACY, model_orders_replay(&model, ORDER_LEGACY));
        merge merged;
        EXPECT_EQ(0, merge_begin(&merged, &trace_));
        while (const call *next = merge_next(&merged)) {
            call_view view;
            calls_.push_back(*next);
            EXPECT_TRUE(model_enter(&model, &calls_.back(), &view));
            if (at)
                at(&model, view);
            model_leave(&model, &view);
            views.push_back(view);
        }
        merge_end(&merged);
    }
    ~Fed()
    {
        model_end(&model);
        trace_close(&trace_);
    }
    Fed(const Fed &) = delete;

    enum Which : uint32_t { EXPLICIT, LEGACY, REAL };

    /* Does the first call's operation come before the last one on the stream of the second? */
    bool Before(Which which, size_t first, size_t second) const
    {
        const struct order *order = which == REAL ? &model.real : &model.replays.items[which].order;
        return order_before(order, Slot(which, first), views[first].number, Slot(which, second));
    }

    struct model model;
    std::vector<call_view> views;

private:
    uint32_t Slot(Which which, size_t at) const
    {
        return which == REAL ? views[at].target : model_orders_replay_slot(&model, which, &views[at]);
    }

    MemoryTrace memory_;
    struct trace trace_;
    std::list<call> calls_; /* of the views */
};

struct Pair {
    const char *first, *second;
    int second_thread;
    bool waits;
};

class WhoWaits : public testing::TestWithParam<Pair>
{
};

TEST_P(WhoWaits, AsMeasured)
{
    const Pair &pair = GetParam();
    Fed fed(BuildTrace(std::string("1@0 launch s=") + pair.first + "\n" + std::to_string(pair.second_thread) +
                       "@10 launch s=" + pair.second + "\n"));
    EXPECT_EQ(pair.waits, fed.Before(Fed::LEGACY, 0, 1));
    EXPECT_EQ(pair.waits, fed.Before(Fed::REAL, 0, 1));
    bool own = std::string(pair.first) == pair.second && (pair.first[0] != 'L' || pair.second_thread == 1);
    EXPECT_EQ(own, fed.Before(Fed::EXPLICIT, 0, 1));
}

const Pair measured[] = {
    {"L", "L", 1, true},    {"L", "L", 2, true},    {"L", "P1", 1, true},   {"L", "P2", 2, true},  {"L", "B1", 1, true},
    {"L", "N1", 1, false},  {"P1", "L", 1, true},   {"P1", "L", 2, true},   {"P1", "P1", 1, true}, {"P1", "P2", 2, false},
    {"P1", "B1", 1, false}, {"P1", "N1", 1, false}, {"B1", "L", 1, true},   {"B1", "L", 2, true},  {"B1", "P1", 1, false},
    {"B1", "B1", 1, true},  {"B1", "B2", 1, false}, {"B1", "N1", 1, false}, {"N1", "L", 1, false}, {"N1", "P1", 1, false},
    {"N1", "B1", 1, false}, {"N1", "N1", 2, true},  {"N1", "N2", 1, false},
};
INSTANTIATE_TEST_SUITE_P(Table, WhoWaits, testing::ValuesIn(measured), [](const testing::TestParamInfo<Pair> &row) {
    return std::string(row.param.first) + "_then_" + row.param.second + "_of_" + std::to_string(row.param.second_thread);
});

TEST(Orders, LegacyWorkJoinsStreamsAcross)
{
    Fed fed(BuildTrace("1@0 launch s=B1\n1@1 launch s=L\n1@2 launch s=B2\n"));
    EXPECT_TRUE(fed.Before(Fed::LEGACY, 0, 2));
    EXPECT_FALSE(fed.Before(Fed::EXPLICIT, 0, 2));
}

TEST(Orders, ContextsDoNotMeet)
{
    Fed fed(BuildTrace("1@0 launch s=B1\n1@1 launch s=L ctx=2\n1@2 launch s=L ctx=1\n"));
    EXPECT_FALSE(fed.Before(Fed::LEGACY, 0, 1));
    EXPECT_TRUE(fed.Before(Fed::LEGACY, 0, 2));
    EXPECT_FALSE(fed.Before(Fed::LEGACY, 1, 2));
}

TEST(Orders, AskedAndRealDifferWhereWorkWasRemapped)
{
    Fed fed(BuildTrace("1@0 launch s=L to=P1\n2@1 launch s=L to=P2\n"));
    EXPECT_TRUE(fed.Before(Fed::LEGACY, 0, 1));
    EXPECT_FALSE(fed.Before(Fed::REAL, 0, 1));
}

TEST(Orders, AHostSyncOrdersTheSameThreadsLaterWork)
{
    Fed fed(BuildTrace("1@0 launch s=N1\n1@1+5 sync s=N1\n1@10 launch s=N2\n2@11 launch s=N3\n"));
    EXPECT_TRUE(fed.Before(Fed::EXPLICIT, 0, 2));
    EXPECT_FALSE(fed.Before(Fed::EXPLICIT, 0, 3));
}

TEST(Orders, AFailedOrCapturedOperationOrdersNothing)
{
    Fed fed(BuildTrace("1@0 launch s=B1\n1@1 launch s=L result=700\n1@2 launch s=B2\n"
                       "1@3 launch s=N1 capturing\n"));
    EXPECT_FALSE(fed.Before(Fed::LEGACY, 0, 2));
    EXPECT_EQ(2u, fed.model.works);
}

/* What comes before each stream's last operation under legacy order, by the rule alone: all that is before what it comes
 * right behind. */
class Rule
{
public:
    using Set = std::vector<bool>;

    /* The operation of the stream `on`: "L", "B..." or "N...". */
    void Take(const std::string &on)
    {
        Set before = last_[on];
        if (on == "L")
            for (const auto &[stream, set] : last_)
                Join(before, stream[0] == 'B' ? set : Set());
        if (on[0] == 'B')
            Join(before, last_["L"]);
        before.resize(count_ + 1);
        before[count_++] = true;
        last_[on] = before;
    }
    void Record(const std::string &on)
    {
        event_ = last_[on];
    }
    void Wait(const std::string &on)
    {
        Join(last_[on], event_);
    }
    bool Before(size_t first, const std::string &on) const
    {
        const Set &set = last_.at(on);
        return first < set.size() && set[first];
    }

private:
    static void Join(Set &into, const Set &from)
    {
        into.resize(std::max(into.size(), from.size()));
        for (size_t i = 0; i < from.size(); i++)
            into[i] = into[i] || from[i];
    }

    std::map<std::string, Set> last_;
    Set event_;
    size_t count_ = 0;
};

/* Few and many streams between two operations of the legacy stream; events that bring work of others. */
TEST(Orders, OfManyStreamsAreAsTheRuleSays)
{
    for (unsigned seed = 1; seed <= 20; seed++) {
        std::mt19937 random(seed);
        std::map<std::string, size_t> last;
        std::string text;
        Rule rule;
        for (unsigned i = 0, few = 3; i < 500; i++) {
            few = random() % 40 == 0 ? (random() % 2 != 0 ? 3 : 100) : few;
            unsigned kind = random() % 16, which = random() % few;
            std::string on = kind < 2 ? "L" : kind == 2 ? "N1" : "B" + std::to_string(which + 1);
            const char *act = kind == 3 || (kind == 2 && which == 0) ? "record" : kind == 4 ? "wait" : "launch";
            if (act == std::string("wait"))
                rule.Wait(on);
            rule.Take(on);
            if (act == std::string("record"))
                rule.Record(on);
            last[on] = i;
            text += "1@" + std::to_string(i) + " " + act + " s=" + on + (act[0] == 'l' ? "" : " e=E") + "\n";
        }
        Fed fed(BuildTrace(text));
        for (const auto &[stream, at] : last)
            for (size_t first = 0; first < fed.views.size(); first++)
                ASSERT_EQ(rule.Before(first, stream), fed.Before(Fed::LEGACY, first, at)) << seed << " " << first << stream;
    }
}

/* As many as it takes for some to meet in the same place of what was looked at lately. */
TEST(Orders, ALaunchIsNotTakenForOneThatDiffersInItsEndOnly)
{
    std::string text;
    for (int i = 0; i < 1500; i++)
        text += "1@" + std::to_string(i) + " launch s=B1" + (i % 2 == 0 ? "" : " result=" + std::to_string(i)) + "\n";
    Fed fed(BuildTrace(text));
    for (size_t i = 0; i < fed.views.size(); i++)
        EXPECT_EQ(i % 2 == 0, fed.views[i].succeeded) << i;
}

TEST(Events, AWaitOrdersByTheGenerationItNames)
{
    Fed fed(BuildTrace("1@0 launch s=N1\n1@1 record s=N1 e=E\n1@2 launch s=N1\n1@3 wait s=N2 e=E\n1@4 launch s=N2\n"));
    EXPECT_TRUE(fed.Before(Fed::EXPLICIT, 0, 4));
    EXPECT_FALSE(fed.Before(Fed::EXPLICIT, 2, 4)) << "work after the record";
}

TEST(Events, ReRecordedMeansTheNewRecording)
{
    Fed fed(BuildTrace("1@0 launch s=N1\n1@1 record s=N1 e=E\n1@2 launch s=N3\n1@3 record s=N3 e=E\n"
                       "1@4 wait s=N2 e=E\n1@5 launch s=N2\n"));
    EXPECT_FALSE(fed.Before(Fed::EXPLICIT, 0, 5));
    EXPECT_TRUE(fed.Before(Fed::EXPLICIT, 2, 5));
}

TEST(Events, ADestroyedOnesPlaceServesAnother)
{
    std::string text;
    for (int i = 0; i < 100; i++) {
        std::string at = std::to_string(10 * i), event = " e=E" + std::to_string(i);
        text += "1@" + at + " record s=N1" + event + "\n1@" + at + "5 event-destroy" + event + "\n";
    }
    Fed fed(
        BuildTrace(text + "1@9990 launch s=N1\n1@9991 record s=N1 e=E\n1@9992 wait s=N2 e=E\n1@9993 wait s=N3 e=E7 g=1\n"));
    EXPECT_EQ(1u, fed.model.events.count);
    EXPECT_EQ(1u, fed.model.real.events.count);
    EXPECT_EQ(1u, fed.model.replays.items[Fed::LEGACY].order.events.count);
    EXPECT_TRUE(fed.Before(Fed::REAL, 200, 202));
    EXPECT_FALSE(fed.Before(Fed::REAL, 200, 203));
    EXPECT_EQ(1u, fed.model.real.unknown_generations);
}

TEST(Events, WaitingForAnEventNeverRecordedIsNothing)
{
    Fed fed(BuildTrace("1@0 launch s=N1\n1@1 wait s=N2 e=E\n1@2 launch s=N2\n"));
    EXPECT_FALSE(fed.Before(Fed::EXPLICIT, 0, 2));
    EXPECT_EQ(0u, fed.model.real.unknown_generations);
}

TEST(Events, AGenerationTheTraceDoesNotHoldIsCountedAndOrdersNothing)
{
    Fed fed(BuildTrace("1@0 launch s=N1\n1@1 record s=N1 e=E\n1@2 wait s=N2 e=E g=5\n1@3 launch s=N2\n"));
    EXPECT_FALSE(fed.Before(Fed::EXPLICIT, 0, 3));
    EXPECT_EQ(1u, fed.model.real.unknown_generations);
}

/* Is the stream of the first call still pending when the last one is entered? */
bool PendingAtEnd(const std::string &text)
{
    bool pending = false;
    uint32_t first = MODEL_NO_SLOT;
    Fed fed(BuildTrace(text), [&](struct model *model, const call_view &view) {
        if (first == MODEL_NO_SLOT)
            first = view.target;
        pending = model_is_pending(model, first);
    });
    return pending;
}

struct Completion {
    const char *name, *call;
    bool legacy, per_thread, blocking, non_blocking;
};

class WhatCompletes : public testing::TestWithParam<Completion>
{
};

TEST_P(WhatCompletes, AsMeasured)
{
    const Completion &row = GetParam();
    auto done = [&](const std::string &busy) {
        return !PendingAtEnd("1@0 launch s=" + busy + "\n1@10+100 " + row.call + "\n1@1000 none\n");
    };
    EXPECT_EQ(row.legacy, done("L"));
    EXPECT_EQ(row.per_thread, done("P1"));
    EXPECT_EQ(row.blocking, done("B1"));
    EXPECT_EQ(row.non_blocking, done("N1"));
}

const Completion completions[] = {
    {"free", "free ptr=1", true, true, true, true},
    {"ctx_sync", "ctx-sync", true, true, true, true},
    {"stack_limit", "ctx-limit flags=0", true, true, true, true},
    {"other_limit", "ctx-limit flags=2", false, false, false, false},
    {"dtoh", "copy s=L implicit from=device to=pageable bytes=4", true, true, true, false},
    {"dtoh_pinned", "copy s=L implicit from=device to=pinned bytes=4", true, true, true, false},
    {"htod", "copy s=L implicit from=pageable to=device bytes=4", true, true, true, false},
    {"dtoh_twin", "copy s=P1 implicit twin from=device to=pinned bytes=4", true, true, false, false},
    {"htod_twin_pageable", "copy s=P1 implicit twin from=pageable to=device bytes=1048576", false, true, false, false},
    {"memset_host", "memset s=L implicit to=pinned bytes=4", true, true, true, false},
    {"sync_legacy", "sync s=L", true, true, true, false},
    {"sync_per_thread", "sync s=P1", false, true, false, false},
    {"dtod", "copy s=L implicit from=device to=device bytes=4", false, false, false, false},
    {"memset_device", "memset s=L implicit to=device bytes=4", false, false, false, false},
    {"dtoh_async_pinned", "copy s=L from=device to=pinned bytes=4", false, false, false, false},
    {"dtoh_async_pageable", "copy s=L from=device to=pageable bytes=4", true, true, true, false},
    {"query_legacy", "query s=L", true, true, true, false},
    {"query_not_ready", "query s=L result=600", false, false, false, false},
    {"module_load_quick", "module-load", false, false, false, false},
};
INSTANTIATE_TEST_SUITE_P(Table, WhatCompletes, testing::ValuesIn(completions),
                         [](const testing::TestParamInfo<Completion> &row) { return std::string(row.param.name); });

TEST(Pending, ASyncTellsNothingBeforeItReturns)
{
    EXPECT_TRUE(PendingAtEnd("1@0 launch s=N1\n1@10+100 sync s=N1\n2@50 none\n"));
    EXPECT_FALSE(PendingAtEnd("1@0 launch s=N1\n1@10+100 sync s=N1\n2@111 none\n"));
    EXPECT_TRUE(PendingAtEnd("1@0 launch s=N1\n1@10+100 sync s=N1\n2@50 launch s=N1\n2@111 none\n"))
        << "work after its entry";
}

TEST(Pending, AnEventSyncCompletesWhatCameBeforeTheRecord)
{
    EXPECT_FALSE(PendingAtEnd("1@0 launch s=N1\n1@1 record s=N1 e=E\n1@2+100 event-sync e=E\n1@200 none\n"));
    EXPECT_TRUE(
        PendingAtEnd("1@0 launch s=N1\n1@1 record s=N1 e=E\n1@2 launch s=N1\n1@3+100 event-sync e=E\n1@200 none\n"));
    EXPECT_FALSE(PendingAtEnd("1@0 launch s=B1\n1@1 record s=L e=E\n1@2+100 event-sync e=E\n1@200 none\n"));
}

/* It may have loaded all that time, and waited for nothing. */
TEST(Pending, ALongLoadTellsNothing)
{
    EXPECT_TRUE(PendingAtEnd("1@0 launch s=N1\n1@10+9000 module-load\n1@10000 none\n"));
}

TEST(Pending, FreesOfNothingTellNothing)
{
    EXPECT_TRUE(PendingAtEnd("1@0 launch s=N1\n1@10+1 free ptr=0\n1@200 none\n"));
    EXPECT_TRUE(PendingAtEnd("1@0 launch s=N1\n1@10+1 free ptr=1 result=1\n1@200 none\n"));
}

/* Of a load of 50 ms, the last call but one: how long it waited, and may have waited, in us. */
using Waited = std::pair<long, long>;
Waited WaitOfLoad(const std::string &before, const std::string &ran)
{
    Fed fed(BuildTrace(before + "1@1000+50000 module-load\n1@60000 none\n" + ran));
    const call_view &load = fed.views[fed.views.size() - 2];
    EXPECT_EQ(load.lost_ns != 0, load.blocked);
    return {std::lround(double(load.lost_ns) / 1e3), std::lround(double(load.at_most_ns) / 1e3)};
}

/* As long as the GPU had work, and 50 us for the thread to wake up. Without times on the GPU nobody knows. */
TEST(Cost, ALoadWaitsNoLongerThanTheGpuHadWork)
{
    const Waited unknown(0, 49800), idle(0, 0);
    const std::string first = "1@0 launch s=N1\n", second = "1@10 launch s=N2\n", same = "1@2 launch s=N1\n";
    EXPECT_EQ(unknown, WaitOfLoad(first, ""));
    EXPECT_EQ(Waited(3055, 3055), WaitOfLoad(first, "device-run 1@0 5+4000\n"));
    EXPECT_EQ(idle, WaitOfLoad(first, "device-run 1@0 5+400\n"));
    EXPECT_EQ(Waited(7050, 7050), WaitOfLoad(first + second, "device-run 1@0 5+4000\ndevice-run 1@10 20+7980\n"));
    EXPECT_EQ(unknown, WaitOfLoad(first + second, "device-run 1@0 5+4000\n"));
    EXPECT_EQ(Waited(3055, 3055), WaitOfLoad(first + same, "device-run 1@2 5+4000\n")) << "it ended after the first";
    EXPECT_EQ(unknown, WaitOfLoad(first + same, "device-run 1@0 5+4000\n"));
}

/* A wait itself is what it took: work that others gave to the GPU while it was on its way there delays it, too. */
TEST(Cost, ASynchronisationIsNotCutByTimesOnTheGpu)
{
    Fed fed(BuildTrace("1@0 launch s=N1\n1@1000+50000 ctx-sync\n1@60000 none\ndevice-run 1@0 5+4000\n"));
    EXPECT_NEAR(49980, double(fed.views[1].lost_ns) / 1e3, 1);
}

TEST(Cost, TicksAreConvertedAndABlockedCallIsTold)
{
    std::vector<call_view> views;
    Fed fed(BuildTrace("tsc\n1@0 launch s=N1\n1@10+5000 sync s=N1\n1@6000+5 sync s=N1\n"));
    EXPECT_NEAR(5000000, static_cast<double>(fed.views[1].ns), 2);
    EXPECT_TRUE(fed.views[1].blocked);
    EXPECT_EQ(1u, fed.views[1].waits.count);
    EXPECT_FALSE(fed.views[2].blocked);
    EXPECT_EQ(0u, fed.views[2].waits.count);
}

TEST(Memory, GoesWithLiveStreams)
{
    TraceBuilder builder;
    for (uint32_t i = 1; i <= 2000; i++) {
        builder.Stream(i, PTDS_STREAM_NON_BLOCKING);
        builder.StreamGone(i, i * 1000 + 900);
        CallSpec launch, sync;
        launch.enter = i * 1000;
        launch.op = PTDS_OP_LAUNCH;
        sync.enter = i * 1000 + 10;
        sync.leave = i * 1000 + 20;
        sync.op = PTDS_OP_STREAM_SYNC;
        sync.flags = PTDS_CALL_TIMED;
        launch.stream = sync.stream = i;
        builder.Call(launch);
        builder.Call(sync);
    }
    Fed fed(builder.Bytes());
    EXPECT_LE(fed.model.streams.count, 2u);
}

TEST(Memory, IsBoundedWhateverTheTraceNames)
{
    TraceBuilder builder;
    for (uint32_t i = 1; i <= 6000; i++) {
        CallSpec launch;
        launch.enter = i;
        launch.op = PTDS_OP_LAUNCH;
        launch.stream = i * 7919;
        builder.Call(launch);
    }
    Fed fed(builder.Bytes());
    EXPECT_EQ(static_cast<size_t>(MODEL_MOST_STREAMS), fed.model.streams.count);
    EXPECT_GT(fed.model.unplaced, 0u);
}

// Only a damaged trace uses a stream that is gone; by then another one may have its slot.
TEST(Memory, WhatIsLikeAnEarlierLaunchDoesNotOutliveItsStream)
{
    TraceBuilder builder;
    builder.Stream(1, PTDS_STREAM_NON_BLOCKING);
    builder.StreamGone(1, 900);
    builder.Stream(2, PTDS_STREAM_NON_BLOCKING);
    auto call = [&](uint64_t enter, uint32_t stream, unsigned op) {
        CallSpec made;
        made.enter = enter;
        made.leave = enter + 10;
        made.op = static_cast<uint8_t>(op);
        made.stream = stream;
        made.flags = op == PTDS_OP_STREAM_SYNC ? PTDS_CALL_TIMED : 0;
        builder.Call(made);
    };
    call(100, 1, PTDS_OP_LAUNCH);
    call(200, 1, PTDS_OP_LAUNCH);
    call(300, 1, PTDS_OP_STREAM_SYNC);
    call(1000, 2, PTDS_OP_LAUNCH);
    call(1100, 1, PTDS_OP_LAUNCH);
    call(1200, 2, PTDS_OP_LAUNCH);
    Fed fed(builder.Bytes(), [](struct model *model, const call_view &view) {
        EXPECT_EQ(view.call->r.stream, model->streams.items[view.target].uid) << view.call->r.enter;
    });
    EXPECT_EQ(6u, fed.views.size());
    EXPECT_NE(0u, fed.views[1].alike);
    EXPECT_EQ(fed.views[0].alike, fed.views[1].alike);
}

// Two classes that differ in one thing only must not be one: whatever the second call is taken for, alone it is the same.
TEST(Classes, ACallIsToTheModelWhatItWouldBeAlone)
{
    struct {
        unsigned op;
        uint32_t stream, target, flags, result, kinds;
        uint64_t word;
    } calls[] = {
        {PTDS_OP_LAUNCH, 1, 1, 0, 0, 0, 0},
        {PTDS_OP_LAUNCH, 1, 1, 0, 1, 0, 0}, /* failed */
        {PTDS_OP_LAUNCH, 1, 1, PTDS_CALL_CAPTURING, 0, 0, 0},
        {PTDS_OP_LAUNCH, 1, 2, PTDS_CALL_REMAPPED, 0, 0, 0},
        {PTDS_OP_LAUNCH, 2, 2, 0, 0, 0, 0},
        {PTDS_OP_COPY, 1, 1, PTDS_CALL_IMPLICIT, 0, PTDS_MEMORY_PAGEABLE, 4},
        {PTDS_OP_COPY, 1, 1, PTDS_CALL_IMPLICIT, 0, PTDS_MEMORY_DEVICE | PTDS_MEMORY_DEVICE << 4, 4},
        {PTDS_OP_COPY, 1, 1, PTDS_CALL_IMPLICIT | PTDS_CALL_TWIN, 0, PTDS_MEMORY_DEVICE | PTDS_MEMORY_PAGEABLE << 4, 4},
        {PTDS_OP_COPY, 2, 2, PTDS_CALL_TIMED, 0, PTDS_MEMORY_PAGEABLE, 4},
        {PTDS_OP_EVENT_RECORD, 1, 1, 0, 0, 0, 0},
        {PTDS_OP_EVENT_WAIT, 2, 2, 0, 0, 0, 0},
        {PTDS_OP_EVENT_SYNC, 0, 0, PTDS_CALL_TIMED, 0, 0, 0},
        {PTDS_OP_STREAM_QUERY, 2, 2, 0, 0, 0, 0},
        {PTDS_OP_STREAM_QUERY, 2, 2, 0, 600, 0, 0}, /* not ready */
        {PTDS_OP_STREAM_SYNC, 2, 2, PTDS_CALL_TIMED, 0, 0, 0},
        {PTDS_OP_CTX_SYNC, 0, 0, PTDS_CALL_TIMED, 0, 0, 0},
        {PTDS_OP_FREE, 0, 0, PTDS_CALL_TIMED, 0, 0, 0}, /* of NULL: it waits for nothing */
        {PTDS_OP_FREE, 0, 0, PTDS_CALL_TIMED, 0, 0, 4096},
    };
    TraceBuilder builder;
    builder.Clock(0, 0);
    builder.Clock(1000000, 1000000);
    builder.Stream(1, PTDS_STREAM_LEGACY);
    builder.Stream(2, PTDS_STREAM_BLOCKING);
    uint64_t now = 0;
    for (unsigned turn = 0; turn < 3; turn++)
        for (const auto &one : calls) {
            CallSpec made;
            made.thread = 1 + turn % 2;
            made.enter = now += 1000;
            made.leave = now + 10 + 100 * turn;
            made.op = static_cast<uint8_t>(one.op);
            made.stream = one.stream;
            made.target = one.target;
            made.flags = one.flags;
            made.result = static_cast<uint16_t>(one.result);
            made.kinds = static_cast<uint8_t>(one.kinds);
            made.object = one.op >= PTDS_OP_EVENT_RECORD && one.op <= PTDS_OP_EVENT_SYNC ? 7 : 0;
            made.generation = made.object != 0 ? turn + 1 : 0;
            made.words = {one.word};
            builder.Call(made);
        }
    Fed fed(builder.Bytes());
    Fed alone(builder.Bytes(), [](struct model *model, const call_view &) { model->era++; });
    ASSERT_EQ(3 * std::size(calls), fed.views.size());
    for (size_t i = 0; i < fed.views.size(); i++) {
        const call_view &one = fed.views[i], &other = alone.views[i];
        SCOPED_TRACE("turn " + std::to_string(i / std::size(calls)) + ", call " + std::to_string(i % std::size(calls)));
        EXPECT_EQ(other.number, one.number);
        EXPECT_EQ(other.thread, one.thread);
        EXPECT_EQ(other.asked, one.asked);
        EXPECT_EQ(other.target, one.target);
        EXPECT_EQ(other.succeeded, one.succeeded);
        EXPECT_EQ(other.plain, one.plain);
        EXPECT_EQ(other.work, one.work);
        EXPECT_EQ(other.submits, one.submits);
        EXPECT_EQ(other.scope, one.scope);
        EXPECT_EQ(other.completes, one.completes);
        EXPECT_EQ(other.own_only, one.own_only);
        EXPECT_EQ(other.staged, one.staged);
        EXPECT_EQ(other.waits.count, one.waits.count);
        EXPECT_EQ(other.timed, one.timed);
        EXPECT_EQ(other.ns, one.ns);
        EXPECT_EQ(other.blocked, one.blocked);
        if (i < std::size(calls) || i % std::size(calls) >= std::size(calls) - 2)
            continue;
        EXPECT_EQ(i >= 2 * std::size(calls), one.alike == fed.views[i % std::size(calls)].alike) << "thread by thread";
    }
}

// Where nothing came between two launches that changes what the second one comes after, the model does not work it out
// again.
TEST(Classes, ALaunchIsAgainOnlyWhereNothingNewIsBeforeIt)
{
    const struct {
        const char *between;
        bool again;
    } cases[] = {
        {"", true},
        {"1@20 none\n", true},
        {"1@20+5 function-load\n", true},
        {"2@20 launch s=N1 k=a\n", false},
        {"2@20 launch s=B1 k=a\n", false},
        {"1@20 memset s=L ptr=0x1000 bytes=4\n", false},
        {"1@20 record s=N1 e=E\n", false},
        {"1@20+5 sync s=B1\n", false},
        {"2@20+5 sync s=N1\n", false},
    };
    for (const auto &one : cases) {
        SCOPED_TRACE(one.between);
        const std::string launch = " launch s=B1 k=a\n",
                          bytes = BuildTrace("1@0" + launch + "1@10" + launch + one.between + "1@100" + launch);
        Fed fed(bytes);
        Fed alone(bytes, [](struct model *model, const call_view &) { model->era++; });
        const call_view &last = fed.views.back();
        EXPECT_EQ(one.again, last.again);
        EXPECT_FALSE(alone.views.back().again);
        for (uint32_t slot = 0; slot < fed.model.streams.count; slot++)
            EXPECT_EQ(vclock_get(&alone.model.real.streams.items[last.target].clock, slot),
                      vclock_get(&fed.model.real.streams.items[last.target].clock, slot));
    }
}

// Each would be larger than the other after its turn, and the memory gone after some thirty turns.
/* Where the memory is not known, the function's name may say that host memory takes part. */
TEST(Copies, DirectionsByTheNamesOfFunctions)
{
    struct {
        const char *api;
        bool completes;
    } const rows[] = {
        {"cuMemcpyDtoH_v2", true}, {"cuMemcpyHtoD_v2", true}, {"cuMemcpyDtoD_v2", false}, {"cuMemcpy", false}};
    for (const auto &row : rows) {
        Fed fed(
            BuildTrace(std::string("1@0 launch s=L k=a\n1@10+5 copy s=L implicit from=unknown to=unknown bytes=4 api=") +
                       row.api + "\n"));
        ASSERT_EQ(2u, fed.views.size());
        EXPECT_EQ(WAIT_STREAM, fed.views[1].scope) << row.api;
        EXPECT_EQ(row.completes, fed.views[1].completes) << row.api;
    }
}

/* A wait for a stream of a context that is not current is about the stream's. */
TEST(Contexts, AreTheStreamsWhicheverIsCurrent)
{
    TraceBuilder builder;
    builder.Stream(1, PTDS_STREAM_BLOCKING, 2);
    for (uint32_t stream : {1, 0, 9}) { /* the last one nobody has seen made */
        CallSpec call;
        call.enter = 1000 + stream;
        call.op = stream != 0 ? PTDS_OP_STREAM_SYNC : PTDS_OP_CTX_SYNC;
        call.stream = stream;
        call.context = 1;
        builder.Call(call);
    }
    Fed fed(builder.Bytes());
    uint32_t one, two;
    ASSERT_TRUE(model_slots_context(&fed.model, 1, &one));
    ASSERT_TRUE(model_slots_context(&fed.model, 2, &two));
    EXPECT_NE(one, two);
    ASSERT_EQ(3u, fed.views.size());
    for (const call_view &view : fed.views)
        EXPECT_EQ(view.asked_kind == PTDS_STREAM_BLOCKING ? two : one, view.context) << view.call->r.stream;
}

/* From every kind of memory to every kind, by the forms without a stream argument and by the others. */
TEST(Copies, OfAllKindsOfMemory)
{
    const std::string host = "pageable pinned registered", other = "device pool array global mapped ipc";
    auto among = [](const std::string &kinds, const std::string &kind) { return kinds.find(kind) != std::string::npos; };
    std::istringstream words(host + " " + other + " managed unknown");
    const std::vector<std::string> kinds{std::istream_iterator<std::string>(words), {}};
    for (const std::string &from : kinds)
        for (const std::string &to : kinds)
            for (bool implicit : {true, false}) {
                Fed fed(BuildTrace("1@0 launch s=L k=a\n1@10+5 copy s=L " + std::string(implicit ? "implicit " : "") +
                                   "from=" + from + " to=" + to + " bytes=4 api=cuMemcpy\n"));
                const bool nobody_knows = from == "managed" || to == "managed" || (from == "unknown" && to == "unknown");
                bool done, waits;
                if (implicit) {
                    done = among(host, from) || among(host, to);
                    waits = done || nobody_knows;
                } else {
                    done = to == "pageable" && !among(host, from);
                    waits = done || from == "pageable" || to == "pageable" || nobody_knows;
                }
                ASSERT_EQ(2u, fed.views.size());
                EXPECT_EQ(waits ? WAIT_STREAM : WAIT_NONE, fed.views[1].scope) << implicit << from << " to " << to;
                EXPECT_EQ(done, fed.views[1].completes) << implicit << from << " to " << to;
            }
}

TEST(Clock, ClocksThatJoinEachOtherInTurnStopGrowing)
{
    vclock one = {}, other = {};
    ASSERT_TRUE(vclock_raise(&one, 8, 1));
    ASSERT_TRUE(vclock_raise(&other, 2, 1));
    for (int i = 0; i < 16; i++) {
        ASSERT_TRUE(vclock_join(&one, &other));
        ASSERT_TRUE(vclock_join(&other, &one));
    }
    EXPECT_LE(one.room, 16u);
    EXPECT_LE(other.room, 16u);
    vclock_free(&one);
    vclock_free(&other);
}

} // namespace
} // namespace ptds

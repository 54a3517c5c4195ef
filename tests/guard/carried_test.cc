/* SPDX-License-Identifier: Apache-2.0
 *
 * What the driver is asked on behalf of a program's work, word by word and in its order: which events are recorded where,
 * who waits for them, and what is done where the driver refuses.
 */
extern "C" {
#include "interpose/guard/carry_out/issue.h"
#include "interpose/guard/guard.h"
}

#include "tests/guard/script.h"

#include <unistd.h>

#include <atomic>
#include <thread>

extern "C" {
#include "interpose/base/gate.h"
#include "interpose/state/contexts.h"
}

namespace
{

class Carried : public Script
{
protected:
    std::function<void(struct call *)> about(CUevent event)
    {
        return [=](struct call *C) { C->event = event; };
    }
    void begin_record(Caller *by, CUevent event, Way way = kDefault)
    {
        begin(by, way, API_cuEventRecord, PTDS_OP_EVENT_RECORD, about(event));
    }
    void begin_await(Caller *by, CUevent event, Way way = kDefault)
    {
        begin(by, way, API_cuStreamWaitEvent, PTDS_OP_EVENT_WAIT, about(event));
    }
    /* Whether another thread waits with its call until this one's, which is on its way, is over. */
    template <class Call> bool waits_for_end(Caller *of, const Call &call)
    {
        std::atomic<bool> begun{false}, done{false};
        std::thread other([&] {
            begun = true;
            call();
            done = true;
        });
        while (!begun)
            usleep(100);
        usleep(20000);
        const bool waited = !done;
        EXPECT_EQ("", g_said);
        end(of);
        other.join();
        return waited;
    }
};

TEST_F(Carried, WhatTouchesTheSameMemory)
{
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("L1", writes(b_, &n_));
    EXPECT_EQ("e1 on L0; L1 after e1; L1", writes(b_, &m_));
    EXPECT_EQ("L1", writes(b_, &m_));
    EXPECT_EQ("e1 on L1; L0 after e1; L0", reads(a_, &n_));
    EXPECT_EQ("L0", writes(a_, &m_)) << "it waited for all of that lane";
    EXPECT_EQ("e1 on L1; L2 after e1; L2", reads(c_, &n_)) << "not for the other reader";
    EXPECT_EQ("L2", reads(c_, &n_));
    EXPECT_EQ("L1", reads(b_, &n_));
    EXPECT_EQ("e1 on L2; L1 after e1; e1 on L0; L1 after e1; L1", writes(b_, &n_)) << "both readers, the newest first";
    EXPECT_EQ("L1", writes(b_, &n_));
}

/* Blocking streams come after the default stream and it after them; among each other they are promised nothing newer than
 * the default stream's last operation. */
TEST_F(Carried, BlockingStreams)
{
    struct stream *s = stream("S"), *t = stream("T");
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("e1 on L0; S after e1; S", writes(a_, &m_, s));
    EXPECT_EQ("S", writes(a_, &m_, s));
    EXPECT_EQ("e1 on S; L0 after e1; L0", writes(a_, &m_));
    EXPECT_EQ("e1 on S; e2 on L0; S after e2; S", writes(a_, &m_, s)) << "marked: what it did before the default stream";
    EXPECT_EQ("S", writes(a_, &n_, s));
    EXPECT_EQ("e2 on L0; T after e2; T", writes(a_, &m_, t));
    EXPECT_EQ("T", writes(a_, &n_, t));
    EXPECT_EQ("e2 on T; L1 after e2; e2 on S; L1 after e2; L1", writes(b_, &n_));
    EXPECT_EQ("L1", writes(b_, &m_));
    EXPECT_EQ("e2 on T; e3 on L1; T after e3; T", writes(b_, &m_, t));
}

/* The other one is promised what was there at the default stream's operation, and waits for the mark of that. */
TEST_F(Carried, ABlockingStreamThatHasGoneOnSince)
{
    struct stream *s = stream("S"), *t = stream("T");
    EXPECT_EQ("S", writes(a_, &m_, s));
    EXPECT_EQ("L0", writes(a_, &n_));
    EXPECT_EQ("e1 on S; S", writes(a_, &seen_, s));
    EXPECT_EQ("T after e1; T", writes(a_, &m_, t));
    EXPECT_EQ("T", writes(a_, &seen_, t));
    EXPECT_EQ("e2 on T; L0 after e2; e2 on S; L0 after e2; L0", writes(a_, &seen_));
}

/* What is known to be done is nothing to mark, and nobody's oldest work. */
TEST_F(Carried, ABlockingStreamThatTheHostHasWaitedFor)
{
    struct stream *s = stream("S"), *t = stream("T");
    const auto host_function = [&] {
        on_ = t;
        return call(a_, kOn, API_cuLaunchHostFunc, PTDS_OP_HOST_FUNCTION,
                    [](struct call *C) { C->touched.opaque = OPAQUE_HOST_FUNCTION; });
    };
    EXPECT_EQ("S", writes(a_, &m_, s));
    EXPECT_EQ("S", syncs(a_, kOn));
    EXPECT_EQ("L0", writes(a_, &n_));
    EXPECT_EQ("L1", writes(b_, &seen_));
    EXPECT_EQ("L2", writes(c_, &m_));
    EXPECT_EQ("e1 on L2; S after e1; S", writes(a_, &m_, s)) << "no mark";
    EXPECT_EQ("e1 on L2; T after e1; e1 on L1; T after e1; e1 on L0; T after e1; T", host_function())
        << "nor is it promised anything of that one";
    EXPECT_EQ("e1 on T; L0 after e1; L0", reads(a_, &n_)) << "all comes after it";
    EXPECT_EQ("e1 on S; e2 on L0; S after e2; S", writes(a_, &n_, s)) << "and that has come after the other one";
}

/* Nothing orders these but what events carry. */
TEST_F(Carried, NonBlockingStreams)
{
    struct stream *s = stream("S"), *n = stream("N", CU_STREAM_NON_BLOCKING);
    const CUevent e = event("E"), timed = event("F", CU_EVENT_DEFAULT);
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("N", writes(a_, &m_, n));
    EXPECT_EQ("N", records(a_, e, kOn));
    EXPECT_EQ("e1 on L0; L1 after e1; L1", writes(b_, &m_));
    EXPECT_EQ("e1 on N; N", writes(a_, &n_, n)) << "marked: what the event stands for";
    EXPECT_EQ("L1", awaits(b_, e)) << "the program's own wait";
    EXPECT_EQ("L1", writes(b_, &n_)) << "newer than the event";
    EXPECT_EQ("L1", writes(b_, &m_)) << "older, and waited for";
    EXPECT_EQ("e2 on L1; L2 after e2; L2", writes(c_, &m_)) << "and with it that one";
    EXPECT_EQ("e2 on L2; L0 after e2; L0", writes(a_, &m_));
    EXPECT_EQ("e2 on L0; S after e2; S", writes(a_, &m_, s));
    EXPECT_EQ("e2 on L0; e3 on S; L0 after e3; L0", records(a_, timed)) << "what it measures is all";
    EXPECT_EQ("e3 on S; S", (on_ = s, awaits(a_, timed, kOn)));
    EXPECT_EQ("S", writes(a_, &m_, s));
    EXPECT_EQ("N", (on_ = n, awaits(a_, timed, kOn)));
    EXPECT_EQ("N", writes(a_, &m_, n));
}

/* A kernel that writes what the host can touch may tell it by that: also in a graph, of which it is known which nodes write
 * what. */
TEST_F(Carried, WhatMayTellTheHost)
{
    struct memory pinned = make_memory(9);
    pinned.host = 1;
    const auto launches_graph = [this](uint8_t host_sides) {
        return call(b_, kDefault, API_cuGraphLaunch, PTDS_OP_GRAPH_LAUNCH, [=](struct call *C) {
            touching(&seen_, 1)(C);
            C->host_sides = host_sides;
        });
    };
    EXPECT_EQ("L0", writes(a_, &pinned));
    EXPECT_EQ("L1", launches_graph(0));
    EXPECT_EQ("e1 on L0; L1 after e1; L1", launches_graph(CALL_KERNEL_TO_HOST));
    EXPECT_EQ("L0", writes(a_, &pinned));
    EXPECT_EQ("e1 on L0; L1 after e1; L1", call(b_, kDefault, API_cuLaunchKernel, PTDS_OP_LAUNCH, touching(&seen_, 1)));
}

/* Nobody but its thread can record on a 0x2, and after a default operation each of its own is marked at once. */
TEST_F(Carried, TheStreamOfAThread)
{
    struct stream *s = stream("S");
    EXPECT_EQ("0x2", writes(a_, &m_, kOwn));
    EXPECT_EQ("e1 on legacy; L0 after e1; L0", writes(a_, &m_)) << "which comes after all blocking ones";
    EXPECT_EQ("e1 on 0x2; e2 on L0; 0x2 after e2; 0x2; e2 on 0x2", writes(a_, &m_, kOwn));
    EXPECT_EQ("L1 after e2; L1", writes(b_, &m_));
    EXPECT_EQ("e3 on L1; 0x2 after e3; 0x2; e3 on 0x2", writes(b_, &m_, kOwn));
    EXPECT_EQ("e4 on L1; S after e4; S", writes(a_, &m_, s));
    EXPECT_EQ("e4 on S; L1 after e4; L1 after e3; L1", writes(b_, &m_));
}

TEST_F(Carried, TheLegacyStreamItself)
{
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("e1 on L0; legacy after e1; legacy; e1 on legacy", writes(a_, &m_, kLegacy)) << "marked at once, too";
    EXPECT_EQ("legacy; e1 on legacy", writes(a_, &m_, kLegacy)) << "the same mark anew";
    EXPECT_EQ("L1 after e1; L1", writes(b_, &m_));
    EXPECT_EQ("legacy; e1 on legacy", writes(a_, &n_, kLegacy));
    EXPECT_EQ("e2 on L1; 0x2 after e2; 0x2; e2 on 0x2", writes(c_, &m_, kOwn));
    EXPECT_EQ("0x2 after e1; 0x2; e3 on 0x2", writes(a_, &n_, kOwn));
}

/* One of the program's own stands for the default stream. */
TEST_F(Carried, AStreamInTheDefaultStreamsPlace)
{
    struct stream *s = stream("S"), *t = stream("T"), *n = stream("N", CU_STREAM_NON_BLOCKING);
    EXPECT_EQ("T", writes(a_, &m_, t));
    EXPECT_EQ("e1 on T; S after e1; S", (on_ = s, writes(a_, &m_, kAsDefault)));
    EXPECT_EQ("e1 on T; e2 on S; T after e2; T", writes(a_, &m_, t));
    EXPECT_EQ("e2 on T; N after e2; N", (on_ = n, writes(a_, &m_, kAsDefault)));
    EXPECT_EQ("e2 on N; L0 after e2; L0", writes(b_, &m_));
}

TEST_F(Carried, SeveralLanesOfOneThread)
{
    spread_ = 3;
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("L1", writes(a_, &n_));
    EXPECT_EQ("L0", writes(a_, &m_)) << "a chain stays where it is";
    EXPECT_EQ("L2", writes(a_, &seen_));
    EXPECT_EQ("L0", reads(a_, &m_));
    EXPECT_EQ("e1 on L2; L0 after e1; e1 on L1; L0 after e1; L0", records(a_, event("E"))) << "of the whole thread";
    EXPECT_EQ("L1", writes(a_, &n_));
    EXPECT_EQ("e1 on L0; L1 after e1; L1", call(a_, kDefault, API_cuLaunchHostFunc, PTDS_OP_HOST_FUNCTION,
                                                [](struct call *C) { C->touched.opaque = OPAQUE_HOST_FUNCTION; }));
    spread_ = 1;
    EXPECT_EQ("e1 on L1; L3 after e1; L3", writes(b_, &seen_));
}

/* ---- contexts ---- */

TEST_F(Carried, CopiesBetweenDevicesComeAfterAllContexts)
{
    struct context *other = fresh("C2", 2);
    Caller *d = thread(other);
    const auto copies = [this] { return call(a_, kDefault, API_cuMemcpyPeer, PTDS_OP_COPY, copying(&n_, 1)); };
    EXPECT_EQ("L4", writes(d, &m_));
    g_current = context_->handle;
    EXPECT_EQ("L0", writes(a_, &m_)) << "contexts have nothing to do with each other";
    EXPECT_EQ("into C2; e1 on L4; back; L0 after e1; L0", copies());
    g_current = other->handle;
    EXPECT_EQ("into C1; e2 on L0; back; L4 after e2; L4", writes(d, &n_)) << "the copy, of which all default streams hear";
    EXPECT_EQ("L4", writes(d, &m_));
    g_current = context_->handle;
    EXPECT_EQ("into C2; e1 on L4; back; L0 after e1; L0", copies());
    g_current = other->handle;
    EXPECT_EQ("L4", writes(d, &m_));
    g_current = context_->handle;
    g_refused = {"into C2"};
    EXPECT_EQ("into C2 refused; host after L4; L0", copies());
    EXPECT_EQ(context_->handle, g_current);
    EXPECT_TRUE(g_pushed.empty());
}

/* Legacy stream and 0x2 are the current context's: they wait in the caller's. */
TEST_F(Carried, ADefaultStreamWaitsForAnotherContextsLane)
{
    const CUevent e = event("E");
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("L1", records(b_, e));
    Caller *d = thread(fresh("C2", 2));
    EXPECT_EQ("legacy; e1 on legacy", awaits(d, e, kLegacy));
    EXPECT_EQ("into C1; e2 on L0; back; legacy after e2; legacy; e1 on legacy", writes(d, &m_, kLegacy));
    Caller *f = thread(fresh("C3", 2));
    EXPECT_EQ("0x2", awaits(f, e, kOwn));
    EXPECT_EQ("into C1; e2 on L0; back; 0x2 after e2; 0x2", reads(f, &m_, kOwn));
    g_current = context_->handle;
}

/* And what is done for the other context is done in that. */
TEST_F(Carried, TheHostWaitsForAnotherContextsLegacyStream)
{
    const CUevent e = event("E");
    EXPECT_EQ("0x2", writes(c_, &m_, kOwn));
    EXPECT_EQ("L0", records(a_, e));
    Caller *d = thread(fresh("C2", 2));
    EXPECT_EQ("L4", awaits(d, e));
    g_refused = {"e1"};
    EXPECT_EQ("into C1; e1 on legacy refused; back; into C1; host after legacy; back; L4", writes(d, &m_));
    g_refused = {"into"};
    Caller *f = thread(fresh("C3", 2));
    EXPECT_EQ("L6", awaits(f, e));
    EXPECT_EQ("into C1 refused; into C1 refused; L6", reads(f, &m_)) << "that is said on standard error";
    g_current = context_->handle;
}

/* What a context had goes with it: nobody waits for it, and no event of its comes back. */
TEST_F(Carried, AContextThatGoes)
{
    struct context *other = fresh("C2", 2);
    Caller *d = thread(other);
    struct stream *s = stream("S");
    EXPECT_EQ("L4", writes(d, &m_));
    EXPECT_EQ("e1 on L4; S after e1; S", writes(d, &m_, s));
    const unsigned lane = d->lane();
    other->gone = CONTEXT_GONE;
    g_current = context_->handle;
    EXPECT_EQ("",
              call(a_, kNoStream, API_cuCtxDestroy_v2, PTDS_OP_CTX_DESTROY, [=](struct call *C) { C->context = other; }));
    EXPECT_EQ(nullptr, other->pool);
    EXPECT_FALSE(guard_state.order.lanes[lane]->open);
    EXPECT_EQ("L0", call(a_, kDefault, API_cuMemcpyPeer, PTDS_OP_COPY, copying(&m_, 1)));
    EXPECT_NE(nullptr, context_->pool) << "whose destruction nobody asked for";
    EXPECT_EQ("", call(a_, kNoStream, API_cuCtxDestroy_v2, PTDS_OP_CTX_DESTROY));
    EXPECT_NE(nullptr, context_->pool) << "nor did it go";
    Caller *later = thread(fresh("C3", 1));
    EXPECT_EQ("0x2", writes(later, &n_, kOwn)) << "the default stream of the one before it had work";
    EXPECT_EQ("e2 on legacy; L6 after e2; L6", writes(later, &n_));
}

/* Of a call on two streams the driver hears at once: it has the second one's turn, and no gate any more. */
TEST_F(Carried, ACallOnTwoStreams)
{
    struct stream *s = stream("S");
    begin(a_, kDefault, API_cuMemsetD8Async, PTDS_OP_MEMSET, touching(&m_, 1));
    EXPECT_EQ(uint64_t{HELD_TURN | HELD_GATE}, a_->thread.held & 0xff);
    EXPECT_EQ(uint32_t{GATE_HELD}, issue_lanes[a_->lane()].gate);
    a_->call.stream = s;
    guard_stream_work(&a_->call);
    EXPECT_EQ(0u, issue_lanes[a_->lane()].gate);
    EXPECT_EQ(issue_lanes[a_->lane()].tickets, issue_lanes[a_->lane()].serving);
    EXPECT_EQ(uint64_t{HELD_TURN}, a_->thread.held & 0xff);
    EXPECT_EQ(s->lane - 1, a_->thread.held >> 8 & 0xffff);
    EXPECT_EQ(0u, a_->thread.held >> 24 & 0xff) << "no mark follows";
    EXPECT_EQ("e1 on L0; S after e1; L0", end(a_));
    EXPECT_EQ(0u, a_->thread.held);
}

/* ---- several threads that look for a lane at once ---- */

TEST_F(Carried, WhileALaneIsLookedForAnotherThreadMakesIt)
{
    struct stream *late = stream("U");
    for (int i = 0; i < 256; i++)
        EXPECT_EQ("T", writes(c_, &m_, stream("T")));
    const auto lanes = [](const char *name) {
        int count = 0;
        for (unsigned i = 0; i < guard_state.order.high; i++)
            count += guard_state.order.lanes[i]->open && named(issue_lanes[i].handle) == name;
        return count;
    };
    struct memory unwritten = make_memory(50);
    const auto another = [&] { EXPECT_EQ("T", reads(c_, &unwritten, stream("T"))) << "a lane is free again"; };
    g_meanwhile = [&] { EXPECT_EQ("T?; U", writes(b_, &n_, late)); };
    EXPECT_EQ("T?; U", writes(a_, &n_, late));
    EXPECT_EQ(1, lanes("U"));
    another();
    g_meanwhile = [&] { EXPECT_EQ("T?; L0", writes(b_, &seen_)); };
    EXPECT_EQ("T?; L0", writes(a_, &seen_));
    EXPECT_EQ(1, lanes("L0"));
    EXPECT_EQ(2u, issue_users(a_->lane()));
    EXPECT_EQ(1u, context_->pool->opened);
    another();
    g_meanwhile = [&] { EXPECT_EQ("T?; e1 on L0; legacy after e1; legacy; e1 on legacy", writes(b_, &seen_, kLegacy)); };
    EXPECT_EQ("T?; legacy; e1 on legacy", writes(a_, &seen_, kLegacy));
    EXPECT_EQ(1, lanes("legacy"));
    another();
}

/* What is registered of an event reaches the driver in the same order: its records, and the waits for them. */
TEST_F(Carried, WhatThreadsDoWithAnEventTakesTurns)
{
    struct stream *s = on_ = stream("S");
    const CUevent e = event("E"), other = event("F");
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("L0", records(a_, e));
    EXPECT_EQ("L1", records(b_, e));
    begin_record(a_, e);
    EXPECT_TRUE(waits_for_end(a_, [&] { begin_await(b_, e, kOn); })) << "else the driver would wait for the record before";
    EXPECT_EQ("S", end(b_));
    EXPECT_EQ("S", writes(b_, &m_, s));
    begin_await(a_, e);
    EXPECT_TRUE(waits_for_end(a_, [&] { begin_record(b_, e); }));
    EXPECT_EQ("L1", end(b_));
    begin_record(a_, e);
    EXPECT_TRUE(waits_for_end(a_, [&] { begin_record(b_, e); }));
    EXPECT_EQ("L1", end(b_));
    begin_await(a_, e);
    EXPECT_TRUE(waits_for_end(a_, [&] { begin_await(b_, e); })) << "whoever records it next waits for the last one alone";
    EXPECT_EQ("L1", end(b_));
    begin_record(a_, e);
    EXPECT_FALSE(waits_for_end(a_, [&] { begin_record(b_, other); })) << "which nobody uses";
    EXPECT_EQ("L1", end(b_));
    begin_record(a_, other);
    EXPECT_FALSE(waits_for_end(a_, [&] { begin_await(b_, e); }));
    EXPECT_EQ("L1", end(b_));
}

TEST_F(Carried, WhoUsesAnEventFirstWaitsForNobody)
{
    begin(a_, kDefault, API_cuMemsetD8Async, PTDS_OP_MEMSET, touching(&m_, 1));
    EXPECT_EQ("L1", records(b_, event("E")));
    EXPECT_EQ("L0", end(a_));
}

/* ---- what the driver refuses ---- */

TEST_F(Carried, WhereThereIsNoEventTheHostWaits)
{
    EXPECT_EQ("L0", writes(a_, &m_));
    g_refused = {"e1"};
    EXPECT_EQ("e1 on L0 refused; host after L0; L1", writes(b_, &m_));
    g_refused = {"L0"};
    EXPECT_EQ("e1 on L1; L0 after e1 refused; host after L1; L0 refused", writes(a_, &m_));
    g_refused = {"e1", "host"};
    EXPECT_EQ("e1 on L0 refused; host after L0 refused; L1", writes(b_, &m_)) << "that is said on standard error";
    context_->pool->events = 0;
    g_refused = {"new"};
    EXPECT_EQ("new event refused; host after L1; L0", writes(a_, &m_));
    g_refused = {};
    void *const create = driver_real[API_cuEventCreate][0];
    driver_real[API_cuEventCreate][0] = nullptr;
    EXPECT_EQ("host after L0; L1", writes(b_, &m_));
    driver_real[API_cuEventCreate][0] = create;
    EXPECT_EQ("new event; e2 on L1; L0 after e2; L0", writes(a_, &m_));
    EXPECT_EQ("e2 on L0; L1 after e2; L1", writes(b_, &m_));
    EXPECT_EQ("e2 on L1; L0 after e2; L0", writes(a_, &m_)) << "it is kept";
    EXPECT_EQ(0u, g_tense);
}

TEST_F(Carried, AMarkThatIsRefused)
{
    struct stream *s = stream("S"), *t = stream("T");
    EXPECT_EQ("S", writes(a_, &m_, s));
    EXPECT_EQ("L0", writes(a_, &n_));
    const uint32_t events = context_->pool->events;
    g_refused = {"e1 on S"};
    EXPECT_EQ("e1 on S refused; e1 on L0; S after e1; S", writes(a_, &n_, s));
    EXPECT_EQ(events, context_->pool->events);
    EXPECT_EQ("host after S; T", writes(b_, &m_, t)) << "who relies on it finds none";
    g_refused = {};
    EXPECT_EQ("e1 on T; L0 after e1; e1 on S; L0 after e1; L0", (writes(a_, &n_, t), writes(a_, &n_)));
    EXPECT_EQ("e1 on S; e2 on T; S after e2; S", writes(a_, &m_, s));
    EXPECT_EQ("L0", writes(a_, &seen_));
    EXPECT_EQ("e2 on S; e3 on L0; S after e3; S", writes(a_, &n_, s));
    g_refused = {"T after e2"};
    EXPECT_EQ("e3 on T; T after e2 refused; host after S; T", writes(b_, &m_, t));
}

/* The stream goes all the same: nobody can wait for it afterwards. */
TEST_F(Carried, AMarkThatIsRefusedOfAStreamThatGoes)
{
    struct stream *s = stream("S"), *t = stream("T");
    EXPECT_EQ("S", writes(a_, &m_, s));
    g_refused = {"e1 on S"};
    EXPECT_EQ("e1 on S refused; host after S", destroys(b_, s));
    g_refused = {};
    EXPECT_EQ("L0", writes(a_, &m_)) << "known to be done";
    EXPECT_EQ("T", writes(a_, &n_, t));
    g_refused = {"e1 on T"};
    begin_capture(t);
    EXPECT_EQ("e1 on T refused; host after T", said());
    EXPECT_EQ("L0", writes(a_, &n_));
    end_capture(t);
}

/* All of its marks are being waited for at that moment, so none can be recorded anew. */
TEST_F(Carried, NoMarkIsLeftForAStreamThatGoes)
{
    struct stream *s = stream("S");
    EXPECT_EQ("S", writes(a_, &m_, s));
    struct lane *lane = guard_state.order.lanes[s->lane - 1];
    for (struct mark &mark : lane->marks)
        mark.pins = 1;
    EXPECT_EQ("host after S", destroys(b_, s));
    EXPECT_EQ("L0", writes(a_, &m_)) << "known to be done";
    for (struct mark &mark : lane->marks)
        mark.pins = 0;
}

/* The context cannot be made current: the mark's event is still that of an earlier moment. */
TEST_F(Carried, AMarkThatCannotBeRecordedIsNone)
{
    struct stream *s = stream("S"), *t = stream("T");
    EXPECT_EQ("S", writes(a_, &m_, s));
    EXPECT_EQ("L0", writes(a_, &n_));
    EXPECT_EQ("e1 on S; S", writes(a_, &m_, s));
    const unsigned lane = s->lane - 1;
    fresh("C2", 1);
    g_refused = {"into"};
    for (int i = 0; i < ORDER_MARKS; i++)
        EXPECT_EQ("into C1 refused; S", (writes(a_, &n_), writes(a_, &m_, s)));
    EXPECT_EQ(0u, guard_state.order.lanes[lane]->newest) << "the place of the first one";
    EXPECT_EQ("host after S; T", writes(b_, &m_, t));
    g_current = context_->handle;
}

/* A capture is open: the thread has to say that it knows, for as long as it waits. The legacy stream is not touched while
 * that would end the capture. */
TEST_F(Carried, WhereTheHostWaitsDuringACapture)
{
    struct stream *n = stream("N", CU_STREAM_NON_BLOCKING), *s = stream("S");
    EXPECT_EQ("0x2", writes(b_, &seen_, kOwn));
    EXPECT_EQ("L0", writes(a_, &m_));
    begin_capture(n);
    g_refused = {"e1"};
    EXPECT_EQ("e1 on L0 refused; relaxed; host after L0; not relaxed; L1", writes(b_, &m_));
    begin_capture(s);
    g_refused = {"relaxed"};
    EXPECT_EQ("relaxed refused; host after legacy; L0", writes(a_, &seen_));
    end_capture(s);
    end_capture(n);
}

/* A part that a lane touches again and again is no claim on the rest: another's part has nothing to wait for. */
/* Half of all numbers that turns have came after the mark's: it is waited for, and its turn is not. */
TEST_F(Carried, AMarkOfLongAgo)
{
    struct stream *s = stream("S"), *t = stream("T");
    EXPECT_EQ("S", writes(a_, &m_, s));
    EXPECT_EQ("L0", writes(a_, &n_));
    EXPECT_EQ("e1 on S; S", writes(a_, &seen_, s));
    struct issue_lane *issuing = &issue_lanes[s->lane - 1];
    issuing->tickets += 0x80000010u, issuing->serving += 0x80000010u;
    EXPECT_EQ("T after e1; T", writes(b_, &m_, t));
}

TEST_F(Carried, PartsOfAMemoryAreNoClaimOnIt)
{
    const auto part = [this](Caller *by, uint64_t begin) {
        return call(by, kDefault, API_cuMemsetD8Async, PTDS_OP_MEMSET, [=](struct call *C) {
            touching(&m_, 1)(C);
            C->touched.at[0].begin = begin;
            C->touched.at[0].end = begin + 10;
        });
    };
    for (int i = 0; i < 4; i++) {
        EXPECT_EQ("L0", part(a_, 0));
        EXPECT_EQ(0, a_->call.guarded.again);
    }
    EXPECT_EQ("L1", part(b_, 10));
    EXPECT_EQ("L1", part(b_, 10));
    EXPECT_EQ("L0", part(a_, 0));
    EXPECT_EQ("e1 on L1; L0 after e1; L0", part(a_, 5));
}

} // namespace

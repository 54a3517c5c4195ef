/* SPDX-License-Identifier: Apache-2.0
 *
 * A host that has waited, as legacy's wait had it, for work that only the device can see: where it takes that memory away,
 * shows it to others or asks whether the work is done, it waits for it; for no more than that, and in nobody's turn.
 */
#include "tests/guard/script.h"

extern "C" {
#include "interpose/footprint/touch.h"
#include "interpose/guard/carry_out/issue.h"
#include "interpose/guard/carry_out/pool_streams.h"
#include "interpose/guard/carry_out/program_event.h"
#include "interpose/guard/carry_out/wait_deferred.h"
#include "interpose/guard/guard.h"
}

namespace
{

class Settled : public Script
{
protected:
    /* The host is about to take it away. */
    std::string unmaps(Caller *by, struct memory *memory, uint8_t op = PTDS_OP_UNMAP, uint32_t writes = 1)
    {
        return call(by, kNoStream, API_cuMemUnmap, op, [=](struct call *C) {
            if (memory)
                touching(memory, writes)(C);
            else
                C->touched.opaque = OPAQUE_OTHER;
            wait_deferred_memory_leaves(C);
        });
    }
    /* It takes some access away. */
    std::string denies(Caller *by, struct memory *memory, uint32_t writes)
    {
        return unmaps(by, memory, PTDS_OP_NONE, writes);
    }
    std::string shows(Caller *by, struct memory *memory)
    {
        memory->host |= 1;
        return call(by, kNoStream, API_cuIpcGetMemHandle, PTDS_OP_NONE,
                    [=](struct call *C) { wait_deferred_memory_shown(C, memory); });
    }
    std::string asks(Caller *by, CUevent event)
    {
        return on_event(by, kNoStream, API_cuEventQuery, PTDS_OP_EVENT_QUERY, event);
    }
    std::string measures(Caller *by, CUevent from, CUevent to)
    {
        return call(by, kNoStream, API_cuEventElapsedTime, PTDS_OP_EVENT_ELAPSED, [=](struct call *C) {
            C->event = to;
            C->word[0] = reinterpret_cast<uint64_t>(from);
        });
    }
    std::string queries(Caller *by, Way way = kDefault)
    {
        return call(by, way, API_cuStreamQuery, PTDS_OP_STREAM_QUERY);
    }
    std::string queries(Caller *by, struct stream *on)
    {
        on_ = on;
        return queries(by, kOn);
    }
};

/* ---- memory that goes ---- */

TEST_F(Settled, MemoryThatIsUnmapped)
{
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("L1", reads(b_, &n_));
    EXPECT_EQ("L2", syncs(c_)) << "the device's alone";
    EXPECT_EQ("e1 on L0; host after e1", unmaps(c_, &m_));
    EXPECT_EQ("", unmaps(c_, &m_)) << "it is done";
    EXPECT_EQ("e1 on L1; host after e1", unmaps(c_, &n_)) << "who reads it, too";
    EXPECT_EQ("L2", writes(c_, &m_)) << "known to be done";
}

TEST_F(Settled, MemoryOfABlockingStreamThatIsUnmapped)
{
    EXPECT_EQ("S", writes(a_, &m_, stream("S")));
    EXPECT_EQ("L0", syncs(a_));
    EXPECT_EQ("e1 on S; host after e1", unmaps(a_, &m_));
}

/* All turns are over before the host waits for any. */
TEST_F(Settled, OutOfTurn)
{
    reads(a_, &m_);
    reads(b_, &m_);
    syncs(c_);
    EXPECT_EQ("e1 on L1; e2 on L0; host after e1; host after e2", unmaps(c_, &m_));
}

/* Work that nobody has waited for may not use what is unmapped either. Where it keeps some access it may; and so may who
 * uses another part of a reservation. */
TEST_F(Settled, WhatNobodyHasWaitedFor)
{
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("", denies(c_, &m_, 1));
    EXPECT_EQ("e1 on L0; host after e1", unmaps(c_, &m_));
    n_.host = MEMORY_RESERVATION;
    EXPECT_EQ("L0", writes(a_, &n_));
    EXPECT_EQ("", unmaps(c_, &n_));
    EXPECT_EQ("L1", syncs(c_));
    EXPECT_EQ("e1 on L0; host after e1", unmaps(c_, &n_));
}

TEST_F(Settled, AccessThatIsTakenAway)
{
    EXPECT_EQ("L0", reads(a_, &m_));
    EXPECT_EQ("L1", writes(b_, &n_));
    EXPECT_EQ("L2", syncs(c_));
    EXPECT_EQ("", denies(c_, &m_, 0)) << "it may read still";
    EXPECT_EQ("e1 on L0; host after e1", denies(c_, &m_, 1));
    EXPECT_EQ("e1 on L1; host after e1", denies(c_, &n_, 0));
}

TEST_F(Settled, MemoryThatIsNotKnown)
{
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("L1", syncs(c_));
    EXPECT_EQ("L2", writes(b_, &n_));
    EXPECT_EQ("e1 on L0; host after e1", unmaps(c_, nullptr)) << "all that was promised";
}

/* What came after the host's wait is not waited for where a mark stands for what was before. */
TEST_F(Settled, WhatWasThereAlone)
{
    struct stream *s = stream("S"), *n = stream("N", CU_STREAM_NON_BLOCKING);
    EXPECT_EQ("S", writes(a_, &m_, s));
    EXPECT_EQ("L0", writes(b_, &n_));
    EXPECT_EQ("L1", syncs(c_));
    EXPECT_EQ("e1 on S; S", writes(a_, &seen_, s));
    EXPECT_EQ("e2 on L0; e3 on S; L0 after e3; L0", writes(b_, &seen_));
    EXPECT_EQ("N", writes(a_, &n_, n).substr(0, 1));
    EXPECT_EQ("host after e1", denies(c_, &m_, 1));
    EXPECT_EQ("host after e2", denies(c_, &n_, 1));
}

/* One wait for all that was promised of a lane, by its newest work. */
TEST_F(Settled, WhatCameAfterItAndWasPromisedToo)
{
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("L0", writes(a_, &n_));
    EXPECT_EQ("L1", syncs(c_));
    EXPECT_EQ("e1 on L0; host after e1", denies(c_, &m_, 1));
    EXPECT_EQ("", denies(c_, &n_, 1));
    EXPECT_EQ(0u, guard_state.order.too_wide);
}

/* The memory's oldest use is done, and the others were promised to nobody. */
TEST_F(Settled, WhatWasThereAndIsDone)
{
    struct stream *s = stream("S");
    const CUevent e = event("E");
    EXPECT_EQ("S", writes(a_, &m_, s));
    EXPECT_EQ("S", records(a_, e, kOn));
    EXPECT_EQ("L0", writes(b_, &n_));
    EXPECT_EQ("L1", syncs(c_));
    EXPECT_EQ("e1 on S; S", writes(a_, &m_, s));
    EXPECT_EQ("host after E", asks(a_, e));
    EXPECT_EQ("", denies(c_, &m_, 1));
}

/* Work on the short way is not registered until somebody looks. */
TEST_F(Settled, WorkThatGoesTheShortWay)
{
    for (int i = 0; i < 3; i++)
        writes(a_, &m_);
    EXPECT_EQ("L0", syncs(a_));
    EXPECT_EQ("L0", writes(a_, &m_));
    ASSERT_EQ(1, a_->call.guarded.again);
    EXPECT_EQ("e1 on L0; host after e1", unmaps(c_, &m_));
}

TEST_F(Settled, WorkThatMayTouchAnything)
{
    EXPECT_EQ("L0", call(a_, kDefault, API_cuLaunchHostFunc, PTDS_OP_HOST_FUNCTION,
                         [](struct call *C) { C->touched.opaque = OPAQUE_HOST_FUNCTION; }));
    EXPECT_EQ("", unmaps(c_, &m_)) << "promised to nobody";
    EXPECT_EQ("e1 on L0; L1 after e1; L1", syncs(c_));
    EXPECT_EQ("", unmaps(c_, &m_));
}

/* ---- all that was promised ---- */

TEST_F(Settled, AllBeforeACallThatTells)
{
    struct call C = {};
    C.thread = &c_->thread;
    C.api = API_cuMemGetInfo_v2;
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("L1", writes(b_, &n_));
    wait_deferred_all(&C);
    EXPECT_EQ("", said()) << "promised to nobody";
    EXPECT_EQ("L2", syncs(c_));
    wait_deferred_all(&C);
    EXPECT_EQ("e1 on L1; e2 on L0; host after e1; host after e2", said());
    wait_deferred_all(&C);
    EXPECT_EQ("", said());
}

/* Only then is it worth while to ask the driver once more. */
TEST_F(Settled, WhereMemoryLacks)
{
    struct call C = {};
    C.thread = &c_->thread;
    C.api = API_cuMemAlloc_v2;
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ(0, wait_deferred_where_lacking(&C));
    EXPECT_EQ("", said());
    EXPECT_EQ("L1", syncs(c_));
    errno = ENOTTY;
    EXPECT_EQ(1, wait_deferred_where_lacking(&C));
    EXPECT_EQ(ENOTTY, errno);
    EXPECT_EQ("e1 on L0; host after e1", said());
    EXPECT_EQ(0, wait_deferred_where_lacking(&C));
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("L1", syncs(c_));
    guard_on = 0;
    EXPECT_EQ(0, wait_deferred_where_lacking(&C));
    guard_on = 1;
    EXPECT_EQ("", said());
}

/* Other rows may touch it, too. */
TEST_F(Settled, OnlyWhereTheRowSaysSo)
{
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("L1", syncs(c_));
    EXPECT_EQ("", call(c_, kNoStream, API_cuMemMap, PTDS_OP_UNMAP, [this](struct call *C) {
                  touching(&m_, 1)(C);
                  wait_deferred_memory_leaves(C);
              }));
    EXPECT_EQ("", call(c_, kNoStream, API_cuMemMap, PTDS_OP_NONE,
                       [this](struct call *C) { wait_deferred_memory_shown(C, &m_); }));
    EXPECT_NE(0u, guard_state.order.lanes[a_->lane()]->host) << "others see it all the same";
    EXPECT_EQ("e1 on L0; host after e1", unmaps(c_, &m_));
}

/* ---- what the driver refuses, and what is out of reach ---- */

TEST_F(Settled, WhereThereIsNoEventTheHostWaitsForTheStream)
{
    writes(a_, &m_);
    syncs(c_);
    g_refused = {"e1 on L0"};
    EXPECT_EQ("e1 on L0 refused; host after L0", unmaps(c_, &m_));
    EXPECT_EQ("", unmaps(c_, &m_));
    writes(a_, &m_);
    syncs(c_);
    g_refused = {"host"};
    EXPECT_EQ("e1 on L0; host after e1 refused", unmaps(c_, &m_));
    g_refused = {};
    EXPECT_EQ("e1 on L0; host after e1", unmaps(c_, &m_)) << "it is not known to be done";
}

/* Programs free memory when the driver has ended, or the context: what was pending is over. */
TEST_F(Settled, WhereTheDriverIsGone)
{
    for (CUresult gone : {CUDA_ERROR_DEINITIALIZED, CUDA_ERROR_CONTEXT_IS_DESTROYED}) {
        writes(a_, &m_);
        syncs(c_);
        g_refused = {"host"};
        g_refusal = gone;
        EXPECT_EQ("e1 on L0; host after e1 refused", unmaps(c_, &m_));
        g_refused = {};
        EXPECT_EQ("", unmaps(c_, &m_));
    }
}

TEST_F(Settled, AStreamThatIsDestroyedOrCaptured)
{
    struct stream *s = stream("S"), *t = stream("T");
    writes(a_, &m_, s);
    writes(a_, &n_, t);
    syncs(c_);
    EXPECT_EQ("e1 on S", destroys(a_, s));
    begin_capture(t);
    EXPECT_EQ("e2 on T", said());
    EXPECT_EQ("relaxed; host after e1; not relaxed", unmaps(c_, &m_));
    EXPECT_EQ("relaxed; host after e2; not relaxed", unmaps(c_, &n_));
    end_capture(t);
}

/* On its own 0x2 the thread can record, and nobody else. */
TEST_F(Settled, TheStreamOfAThread)
{
    EXPECT_EQ("0x2", writes(a_, &m_, kOwn));
    EXPECT_EQ("0x2", writes(b_, &n_, kOwn));
    EXPECT_EQ("legacy", syncs(c_, kLegacy)) << "the driver waits for nobody here";
    EXPECT_EQ("e1 on 0x2; host after e1", unmaps(a_, &m_));
    EXPECT_EQ("e1 on legacy; host after e1", unmaps(a_, &n_));
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("0x2; e1 on 0x2", writes(b_, &n_, kOwn)) << "marked from then on";
    EXPECT_EQ("L1", syncs(c_));
    EXPECT_EQ("host after e1", unmaps(a_, &n_));
}

TEST_F(Settled, AnotherContext)
{
    writes(a_, &m_);
    syncs(b_);
    fresh("C2", 1);
    EXPECT_EQ("into C1; e1 on L0; back; into C1; host after e1; back", unmaps(c_, &m_));
    g_current = context_->handle;
}

/* A call inside of which this one is made had the turn, and keeps it where there is nothing to wait for. */
TEST_F(Settled, InsideOfAnotherCall)
{
    const CUevent e = event("E");
    on_ = stream("S");
    writes(a_, &m_);
    records(b_, e, kOn);
    syncs(c_);
    struct call C = {};
    C.thread = &a_->thread;
    C.api = API_cuMemUnmap;
    C.op = PTDS_OP_UNMAP;
    for (int i = 0; i < 3; i++) {
        begin(a_, kDefault, API_cuMemsetD8Async, PTDS_OP_MEMSET, touching(&n_, 1));
        if (i == 0)
            wait_deferred_event(&C, event("F"));
        if (i == 1) {
            touching(&m_, 1)(&C);
            wait_deferred_memory_leaves(&C);
        } else if (i == 2) {
            wait_deferred_event(&C, e);
        }
        EXPECT_EQ(i == 0, a_->thread.held != 0) << i;
        EXPECT_EQ(i == 0 ? "" : i == 1 ? "e1 on L0; host after e1" : "host after E", said());
        EXPECT_EQ("L0", end(a_));
    }
}

/* ---- memory that is shown to others ---- */

TEST_F(Settled, MemoryThatOthersGet)
{
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("L1", reads(b_, &n_));
    EXPECT_EQ("L2", syncs(c_));
    EXPECT_EQ("e1 on L0; host after e1", shows(c_, &m_));
    EXPECT_EQ("e1 on L1; host after e1", shows(c_, &n_)) << "others may write what it reads";
    EXPECT_EQ("", shows(c_, &m_));
}

/* What was pending before counts as well, however it went. */
TEST_F(Settled, WhatIsPendingWhenOthersGetIt)
{
    for (int i = 0; i < 4; i++)
        EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ(1, a_->call.guarded.again);
    const moment registered = guard_state.order.now;
    EXPECT_EQ("", shows(c_, &m_)) << "nobody was promised it";
    const struct lane *lane = guard_state.order.lanes[a_->lane()];
    EXPECT_EQ(lane->last, lane->host) << "the newest, too";
    EXPECT_EQ(registered + 1, lane->host);
    EXPECT_EQ("e1 on L0; L1 after e1; L1", syncs(c_));
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ(0, a_->call.guarded.again);
    EXPECT_EQ("e1 on L0; L1 after e1; L1", syncs(c_));
}

/* A call that was looked at before others got the memory, and is registered after that. */
TEST_F(Settled, ACallThatIsOnItsWayThen)
{
    for (int i = 0; i < 3; i++)
        writes(a_, &m_);
    EXPECT_EQ("L0", call(a_, kDefault, API_cuMemsetD8Async, PTDS_OP_MEMSET, [this](struct call *C) {
                  touching(&m_, 1)(C);
                  EXPECT_EQ("", shows(c_, &m_));
              }));
    EXPECT_EQ(0, a_->call.guarded.again);
    const struct lane *lane = guard_state.order.lanes[a_->lane()];
    EXPECT_EQ(lane->last, lane->host);
    EXPECT_EQ("e1 on L0; L1 after e1; L1", syncs(c_));
    EXPECT_EQ("L1", syncs(c_));
    EXPECT_EQ("", shows(c_, &m_));
}

/* By a lane whose use of the memory is noted behind one that is done. */
TEST_F(Settled, WhatIsPendingBehindWhatIsDone)
{
    writes(a_, &m_);
    EXPECT_EQ("e1 on L0; L1 after e1; L1", writes(b_, &m_));
    EXPECT_EQ("L0", syncs(a_));
    const struct lane *done = guard_state.order.lanes[a_->lane()], *pending = guard_state.order.lanes[b_->lane()];
    EXPECT_EQ(done->last, done->completed);
    EXPECT_EQ("e1 on L1; host after e1", shows(c_, &m_));
    EXPECT_EQ(pending->last, pending->host);
    EXPECT_EQ(0u, done->host);
}

/* The oldest and the newest of what the host may see. */
TEST_F(Settled, WhatIsPendingBesideOtherWorkOfTheHosts)
{
    writes(a_, &m_);
    writes(a_, &seen_);
    writes(a_, &n_);
    const struct lane *lane = guard_state.order.lanes[a_->lane()];
    EXPECT_EQ(lane->last - 1, lane->host_first);
    shows(c_, &m_);
    EXPECT_EQ(lane->last - 2, lane->host_first);
    EXPECT_EQ(lane->last - 1, lane->host);
    shows(c_, &n_);
    EXPECT_EQ(lane->last - 2, lane->host_first);
    EXPECT_EQ(lane->last, lane->host);
}

/* ---- events ---- */

TEST_F(Settled, AnEventThatTheHostAsksFor)
{
    struct stream *s = stream("S");
    const CUevent e = event("E"), f = event("F");
    EXPECT_EQ("S", writes(a_, &m_, s));
    EXPECT_EQ("S", records(a_, e, kOn));
    result_ = CUDA_ERROR_NOT_READY;
    EXPECT_EQ("", asks(a_, e)) << "promised to nobody";
    EXPECT_EQ("", asks(a_, f));
    result_ = CUDA_SUCCESS;
    EXPECT_EQ("L0", syncs(a_));
    EXPECT_EQ("host after E", asks(a_, e));
    EXPECT_EQ("", asks(a_, e)) << "it is done";
    EXPECT_EQ("S", records(a_, e, kOn).substr(0, 1));
    EXPECT_EQ("", asks(a_, e)) << "recorded anew";
}

/* By an event that the host has waited for, on a stream of which it knows nothing. */
TEST_F(Settled, AnEventBehindAnother)
{
    struct stream *n = stream("N", CU_STREAM_NON_BLOCKING);
    const CUevent e = event("E"), f = event("F");
    EXPECT_EQ("N", writes(a_, &m_, n));
    EXPECT_EQ("N", records(a_, e, kOn));
    EXPECT_EQ("L0", awaits(a_, e));
    EXPECT_EQ("L1", records(b_, f));
    EXPECT_EQ("", on_event(b_, kNoStream, API_cuEventSynchronize, PTDS_OP_EVENT_SYNC, f));
    EXPECT_EQ("host after E", asks(b_, e));
}

TEST_F(Settled, WhoWaitsForAnEventWaitsInTheDriver)
{
    struct stream *s = stream("S");
    const CUevent e = event("E");
    writes(a_, &m_, s);
    records(a_, e, kOn);
    syncs(a_);
    EXPECT_EQ("", on_event(a_, kNoStream, API_cuEventSynchronize, PTDS_OP_EVENT_SYNC, e));
}

TEST_F(Settled, BothEventsThatTheHostMeasuresBy)
{
    struct stream *s = stream("S"), *t = stream("T");
    const CUevent e = event("E", CU_EVENT_DEFAULT), f = event("F", CU_EVENT_DEFAULT);
    writes(a_, &m_, s);
    records(a_, e, kOn);
    writes(a_, &n_, t);
    records(a_, f, kOn);
    result_ = CUDA_ERROR_NOT_READY;
    EXPECT_EQ("", measures(a_, e, f));
    result_ = CUDA_SUCCESS;
    syncs(a_);
    EXPECT_EQ("host after F; host after E", measures(a_, e, f));
    EXPECT_EQ("", measures(a_, nullptr, nullptr));
}

/* A launch's event is done when the kernel begins: that the host was promised its end is enough. */
TEST_F(Settled, TheEventOfALaunch)
{
    const CUevent e = event("E");
    on_ = stream("S");
    EXPECT_EQ("S", call(a_, kOn, API_cuLaunchKernelEx, PTDS_OP_LAUNCH, [=](struct call *C) {
                  C->event = e;
                  C->word[2] = 0;
              }));
    result_ = CUDA_ERROR_NOT_READY;
    EXPECT_EQ("", asks(a_, e));
    result_ = CUDA_SUCCESS;
    EXPECT_EQ("L0", syncs(a_));
    EXPECT_EQ("host after E", asks(a_, e));
}

/* Somebody else may have recorded it since, behind what nobody has waited for. */
TEST_F(Settled, AnEventThatOthersRecordToo)
{
    struct stream *s = stream("S");
    const CUevent e = event("E");
    writes(a_, &m_, s);
    records(a_, e, kOn);
    program_event_recorded_elsewhere(e);
    syncs(a_);
    EXPECT_EQ("e1 on S; host after e1", asks(a_, e));
    writes(a_, &m_, s);
    records(a_, e, kOn);
    program_event_recorded_elsewhere(e);
    syncs(a_);
    writes(a_, &n_, s);
    EXPECT_EQ("", asks(a_, e)) << "the stream has newer work";
}

/* ---- streams ---- */

TEST_F(Settled, AStreamThatTheHostAsksFor)
{
    struct stream *s = stream("S");
    EXPECT_EQ("S", writes(a_, &m_, s));
    result_ = CUDA_ERROR_NOT_READY;
    EXPECT_EQ("S", queries(a_, s)) << "promised to nobody";
    result_ = CUDA_SUCCESS;
    EXPECT_EQ("L0", syncs(a_));
    EXPECT_EQ("e1 on S; host after e1; S", queries(a_, s));
    EXPECT_EQ("S", queries(a_, s)) << "it is done";
    EXPECT_EQ("S", writes(a_, &m_, s));
    EXPECT_EQ("L0", syncs(a_));
    EXPECT_EQ("e1 on S; S", writes(a_, &m_, s));
    EXPECT_EQ("S", queries(a_, s)) << "there is newer work";
}

TEST_F(Settled, ADefaultStreamThatTheHostAsksFor)
{
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("L1", syncs(b_));
    EXPECT_EQ("e1 on L0; host after e1; legacy", queries(a_));
    EXPECT_EQ("0x2; e1 on 0x2", writes(c_, &n_, kOwn));
    EXPECT_EQ("L1", syncs(b_));
    EXPECT_EQ("host after e1; 0x2", queries(c_, kOwn));
}

TEST_F(Settled, AllLanesOfAThreadThatAsks)
{
    spread_ = 2;
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("L1", writes(a_, &n_));
    EXPECT_EQ("L2", syncs(b_).substr(0, 2));
    EXPECT_EQ("e1 on L1; e2 on L0; host after e1; host after e2; legacy", queries(a_));
}

TEST_F(Settled, TheOtherLaneOfAThreadThatAsks)
{
    spread_ = 2;
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("L1", writes(a_, &n_));
    EXPECT_EQ("L2", syncs(b_).substr(0, 2));
    EXPECT_EQ("e1 on L1; host after e1", unmaps(b_, &n_));
    EXPECT_EQ("e1 on L0; host after e1; legacy", queries(a_));
}

/* The default stream is done when all threads' and all blocking streams' work is. */
TEST_F(Settled, WhatOthersLeaveOnTheDefaultStreamThatTheHostAsksFor)
{
    struct stream *s = stream("S"), *n = stream("N", CU_STREAM_NON_BLOCKING);
    EXPECT_EQ("S", writes(a_, &m_, s));
    EXPECT_EQ("N", writes(a_, &seen_, n));
    EXPECT_EQ("L0", writes(b_, &n_));
    EXPECT_EQ("L1", syncs(c_));
    EXPECT_EQ("e1 on L0; e2 on S; host after e1; host after e2; legacy", queries(c_));
    EXPECT_EQ("legacy", queries(c_)) << "they are done";
    EXPECT_EQ("L0", writes(b_, &n_));
    EXPECT_EQ("legacy", queries(c_)) << "promised to nobody: the driver knows whether it is done";
}

/* Where it stands for the default stream by itself, it is asked itself. */
TEST_F(Settled, AStreamThatStandsForTheDefaultStream)
{
    on_ = stream("S");
    EXPECT_EQ("legacy", queries(a_, kAsDefault));
    on_ = stream("N", CU_STREAM_NON_BLOCKING);
    EXPECT_EQ("N", queries(a_, kAsDefault));
    struct context *apart = fresh("C2", 0);
    EXPECT_EQ(1u, pool_streams_make(apart, 1, CU_STREAM_NON_BLOCKING, 0, 0));
    g_said.clear();
    EXPECT_EQ("L4", queries(thread(apart)));
    g_current = context_->handle;
}

/* The legacy stream is busy as long as any blocking one is: all or nothing. */
TEST_F(Settled, TheLegacyStreamItself)
{
    struct stream *s = stream("S"), *n = stream("N", CU_STREAM_NON_BLOCKING);
    EXPECT_EQ("S", writes(a_, &m_, s));
    EXPECT_EQ("N", writes(a_, &seen_, n));
    EXPECT_EQ("L0", writes(a_, &n_));
    EXPECT_EQ("L1", syncs(b_));
    EXPECT_EQ("e1 on L0; e2 on S; host after e1; host after e2; legacy", queries(b_, kLegacy));
    EXPECT_EQ("S", writes(a_, &m_, s).substr(0, 1));
    EXPECT_EQ("L1", syncs(b_).substr(0, 2));
    EXPECT_EQ("L0", writes(a_, &n_));
    EXPECT_EQ("legacy", queries(b_, kLegacy)) << "busy anyhow";
}

} // namespace

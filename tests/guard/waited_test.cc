/* SPDX-License-Identifier: Apache-2.0
 *
 * What a host's wait waits for, what is known to be done after it, and what comes of more streams than there are lanes.
 */
extern "C" {
#include "interpose/guard/carry_out/issue.h"
#include "interpose/guard/carry_out/program_event.h"
#include "interpose/guard/carry_out/turn.h"
#include "interpose/guard/object_changes.h"
}

#include "tests/guard/script.h"

namespace
{

class Waited : public Script
{
protected:
    /* A copy or memset between memories of these kinds. */
    std::string copies(Caller *by, Way way, struct memory *memory, uint32_t writes, unsigned to, unsigned from,
                       uint16_t api = API_cuMemcpyDtoHAsync_v2)
    {
        return call(by, way, api, PTDS_OP_COPY, [=](struct call *C) {
            touching(memory, writes)(C);
            C->kinds = uint8_t(to | from << 4);
        });
    }
    std::string waits_for_all(Caller *by, uint16_t api = API_cuCtxSynchronize)
    {
        return call(by, kNoStream, api, PTDS_OP_CTX_SYNC);
    }
    std::string waits_for(Caller *by, CUevent event, uint8_t op = PTDS_OP_EVENT_SYNC)
    {
        return on_event(by, kNoStream, API_cuEventSynchronize, op, event);
    }
    std::string launches(Caller *by, bool tells)
    {
        return call(by, kDefault, API_cuLaunchKernel, PTDS_OP_LAUNCH, [=](struct call *C) {
            touching(&n_, 1)(C);
            C->touched.host = tells;
        });
    }
};

/* The host comes after what it can look at, wherever that is; of the rest legacy promises it nothing that it could see. */
TEST_F(Waited, ForTheDefaultStream)
{
    struct stream *s = stream("S");
    EXPECT_EQ("L0", writes(a_, &seen_));
    EXPECT_EQ("L1", writes(b_, &m_));
    EXPECT_EQ("e1 on L0; S after e1; S", writes(b_, &seen_, s));
    EXPECT_EQ("e1 on L0; e2 on S; L0 after e2; L0", syncs(a_)) << "the lane's mark stands for its work without the wait";
    EXPECT_EQ("L2", writes(c_, &seen_)) << "known to be done";
    EXPECT_EQ("e2 on L1; L2 after e2; L2", writes(c_, &m_)) << "not known";
}

TEST_F(Waited, ForAStream)
{
    struct stream *s = stream("S");
    EXPECT_EQ("S", writes(b_, &m_, s));
    EXPECT_EQ("L0", writes(a_, &seen_));
    EXPECT_EQ("e1 on S; S", writes(b_, &n_, s));
    EXPECT_EQ("e2 on S; e3 on L0; S after e3; S", syncs(a_, kOn));
    EXPECT_EQ("L1", writes(c_, &m_));
    EXPECT_EQ("L1", writes(c_, &n_));
    EXPECT_EQ("L1", writes(c_, &seen_));
    result_ = CUDA_ERROR_UNKNOWN;
    EXPECT_EQ("S", (writes(b_, &m_, s), syncs(a_, kOn)));
    result_ = CUDA_SUCCESS;
    EXPECT_EQ("e3 on L1; e4 on S; L1 after e4; L1", writes(c_, &m_));
}

TEST_F(Waited, AskedForOnly)
{
    const auto asks = [this] { return call(b_, kDefault, API_cuStreamQuery, PTDS_OP_STREAM_QUERY); };
    EXPECT_EQ("L0", writes(a_, &seen_));
    result_ = CUDA_ERROR_NOT_READY;
    EXPECT_EQ("e1 on L0; L1 after e1; legacy", asks()) << "the default stream is not done before that is";
    result_ = CUDA_SUCCESS;
    EXPECT_EQ("e1 on L0; L2 after e1; L2", reads(c_, &seen_));
    EXPECT_EQ("L1", writes(b_, &n_));
    EXPECT_EQ("e1 on L1; e2 on L0; L1 after e2; legacy", (writes(a_, &seen_), asks()));
    EXPECT_EQ("L2", writes(c_, &seen_)) << "known to be done";
    begin(b_, kDefault, API_cuStreamQuery, PTDS_OP_STREAM_QUERY);
    EXPECT_EQ(uint64_t{HELD_TURN | HELD_GATE}, b_->thread.held & 0xff) << "nobody comes in between";
    EXPECT_EQ(0u, b_->thread.held >> 24 & 0xff) << "no mark follows";
    end(b_);
}

TEST_F(Waited, ForTheContext)
{
    struct context *other = fresh("C2", 1);
    Caller *d = thread(other);
    EXPECT_EQ("L4", writes(d, &seen_));
    g_current = context_->handle;
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("", waits_for_all(b_));
    EXPECT_EQ("L1", writes(b_, &m_));
    EXPECT_EQ("", waits_for_all(b_, API_cuCtxSynchronize_v2)) << "of a context that it names";
    EXPECT_EQ("e1 on L1; L0 after e1; L0", writes(a_, &m_));
    result_ = CUDA_ERROR_UNKNOWN;
    EXPECT_EQ("", waits_for_all(b_));
    result_ = CUDA_SUCCESS;
    EXPECT_EQ("e1 on L0; L1 after e1; L1", writes(b_, &m_));
    begin(a_, kDefault, API_cuMemsetD8Async, PTDS_OP_MEMSET, touching(&n_, 1));
    EXPECT_EQ("", waits_for_all(b_));
    EXPECT_EQ("L0", end(a_));
    EXPECT_EQ("e1 on L0; L1 after e1; L1", writes(b_, &n_)) << "that was on its way";
    EXPECT_EQ("", waits_for_all(b_));
    EXPECT_EQ("into C2; e2 on L4; back; L0 after e2; L0",
              call(a_, kDefault, API_cuMemcpyPeer, PTDS_OP_COPY, copying(&m_, 1)))
        << "the other context's";
}

TEST_F(Waited, ForAnEvent)
{
    const CUevent e = event("E"), timed = event("T", CU_EVENT_DEFAULT);
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("L1", writes(b_, &seen_));
    EXPECT_EQ("e1 on L1; L2 after e1; L2", records(c_, e)) << "the host may ask it";
    result_ = CUDA_ERROR_NOT_READY;
    EXPECT_EQ("", waits_for(a_, e, PTDS_OP_EVENT_QUERY));
    result_ = CUDA_SUCCESS;
    EXPECT_EQ("e1 on L1; L0 after e1; L0", reads(a_, &seen_));
    EXPECT_EQ("e1 on L0; L1 after e1; L1", writes(b_, &seen_));
    EXPECT_EQ("e1 on L1; L2 after e1; L2", records(c_, e));
    begin(c_, kDefault, API_cuEventRecord, PTDS_OP_EVENT_RECORD, [=](struct call *C) { C->event = e; });
    EXPECT_EQ("", waits_for(b_, e)) << "which is being recorded anew";
    EXPECT_EQ("L2", end(c_));
    EXPECT_EQ("e1 on L1; L0 after e1; L0", writes(a_, &seen_));
    EXPECT_EQ("e1 on L0; L2 after e1; L2", records(c_, e));
    EXPECT_EQ("", waits_for(b_, e));
    EXPECT_EQ("L1", writes(b_, &seen_));
    EXPECT_EQ("L1", writes(b_, &m_));
    EXPECT_EQ("e1 on L1; L2 after e1; L2", records(c_, timed));
    EXPECT_EQ("", waits_for(b_, timed, PTDS_OP_EVENT_ELAPSED));
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("L0", (writes(a_, &m_), records(a_, e)));
    EXPECT_EQ("", waits_for(b_, e, PTDS_OP_EVENT_QUERY));
    EXPECT_EQ("L1", writes(b_, &m_));
}

/* Not before the driver has answered, and only what the event stood for when it was asked. */
TEST_F(Waited, ForAnEventThatIsAskedForMeanwhile)
{
    const CUevent e = event("E");
    const auto asks = [=](struct call *C) { C->event = e; };
    Caller *d = thread(context_);
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("L0", records(a_, e));
    begin(b_, kNoStream, API_cuEventSynchronize, PTDS_OP_EVENT_SYNC, asks);
    EXPECT_EQ("e1 on L0; L1 after e1; L1", reads(c_, &m_)) << "not known yet";
    EXPECT_EQ("", end(b_, kNoStream));
    EXPECT_EQ("L2", reads(d, &m_)) << "known";
    begin(b_, kNoStream, API_cuEventSynchronize, PTDS_OP_EVENT_SYNC, asks);
    EXPECT_EQ("L0", writes(a_, &n_));
    EXPECT_EQ("L0", records(a_, e));
    EXPECT_EQ("", end(b_, kNoStream));
    EXPECT_EQ("e1 on L0; L1 after e1; L1", reads(c_, &n_)) << "recorded anew since it was asked";
}

/* What legacy promises it holds whatever is on its way on the event's lane at that moment. */
TEST_F(Waited, ForAnEventOnALaneThatIsAtWork)
{
    struct stream *s = stream("S"), *n = stream("N", CU_STREAM_NON_BLOCKING);
    const CUevent e = event("E");
    EXPECT_EQ("S", writes(a_, &m_, s));
    EXPECT_EQ("L0", records(a_, e)) << "which comes after that";
    begin(a_, kDefault, API_cuMemsetD8Async, PTDS_OP_MEMSET, touching(&n_, 1));
    EXPECT_EQ("", waits_for(b_, e));
    EXPECT_EQ("L0", end(a_));
    EXPECT_EQ("e1 on S; N after e1; N", writes(b_, &m_, n));
}

TEST_F(Waited, ForAnEventThatIsRecordedAnewMeanwhile)
{
    struct stream *s = stream("S"), *n = stream("N", CU_STREAM_NON_BLOCKING);
    const CUevent e = event("E");
    EXPECT_EQ("S", writes(a_, &m_, s));
    EXPECT_EQ("L0", records(a_, e));
    begin(b_, kNoStream, API_cuEventSynchronize, PTDS_OP_EVENT_SYNC, [=](struct call *C) { C->event = e; });
    EXPECT_EQ("L0", records(a_, e));
    EXPECT_EQ("L0", records(a_, e));
    EXPECT_EQ("", end(b_, kNoStream));
    EXPECT_EQ("e1 on S; N after e1; N", writes(b_, &m_, n));
}

/* On its way: the driver may wait for the record before that. Nothing is done for certain, and what either one promises
 * holds. */
TEST_F(Waited, ForAnEventWhoseRecordIsOnItsWay)
{
    struct stream *s = stream("S"), *n = stream("N", CU_STREAM_NON_BLOCKING), *o = stream("O", CU_STREAM_NON_BLOCKING);
    const CUevent e = event("E");
    const auto recording = [=](struct call *C) { C->event = e; };
    EXPECT_EQ("S", writes(a_, &m_, s));
    EXPECT_EQ("L0", records(a_, e));
    on_ = o;
    begin(c_, kOn, API_cuEventRecord, PTDS_OP_EVENT_RECORD, recording);
    EXPECT_EQ("", waits_for(b_, e));
    EXPECT_EQ("O", end(c_));
    EXPECT_EQ("e1 on S; N after e1; N", writes(b_, &m_, n)) << "which the older one promises";
    EXPECT_EQ("e1 on S; S", writes(a_, &n_, s));
    begin(c_, kDefault, API_cuEventRecord, PTDS_OP_EVENT_RECORD, recording);
    EXPECT_EQ("", waits_for(b_, e));
    EXPECT_EQ("L1", end(c_));
    EXPECT_EQ("e2 on S; N after e2; N", writes(b_, &n_, n)) << "which the newer one promises";
}

/* The host has waited for it all the same. */
TEST_F(Waited, ForAnEventThatIsDestroyedMeanwhile)
{
    struct stream *n = stream("N", CU_STREAM_NON_BLOCKING);
    const CUevent e = event("E");
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("L1", records(c_, e));
    begin(b_, kNoStream, API_cuEventSynchronize, PTDS_OP_EVENT_SYNC, [=](struct call *C) { C->event = e; });
    EXPECT_EQ("", on_event(c_, kNoStream, API_cuEventDestroy_v2, PTDS_OP_EVENT_DESTROY, e));
    EXPECT_EQ("", end(b_, kNoStream));
    EXPECT_EQ("e1 on L0; N after e1; N", writes(b_, &m_, n));
}

/* The driver waits for what a graph's launch or another process has recorded since: nothing is known of the rest. */
TEST_F(Waited, ForAnEventThatSomebodyElseHasRecorded)
{
    const CUevent e = event("E"), foreign = event("F", CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
    const auto elsewhere = [&] { on_event(c_, kNoStream, API_cuCtxRecordEvent, PTDS_OP_CTX_EVENT_RECORD, e); };
    on_ = stream("S");
    EXPECT_EQ("S", writes(a_, &m_, kOn));
    EXPECT_EQ("S", records(a_, e, kOn));
    elsewhere();
    EXPECT_EQ("", waits_for(b_, e));
    EXPECT_EQ("e1 on S; L0 after e1; L0", writes(b_, &m_));
    EXPECT_EQ("e1 on S; S", writes(a_, &n_, kOn));
    EXPECT_EQ("S", records(a_, e, kOn));
    begin(b_, kNoStream, API_cuEventSynchronize, PTDS_OP_EVENT_SYNC, [=](struct call *C) { C->event = e; });
    elsewhere();
    EXPECT_EQ("", end(b_, kNoStream));
    EXPECT_EQ("e2 on S; L0 after e2; L0", writes(b_, &n_)) << "meanwhile";
    EXPECT_EQ("e2 on S; e3 on L0; S after e3; S", writes(a_, &n_, kOn));
    EXPECT_EQ("S", records(a_, foreign, kOn));
    EXPECT_EQ("", waits_for(b_, foreign));
    EXPECT_EQ("e3 on S; L0 after e3; L0", writes(b_, &n_));
}

TEST_F(Waited, EventsThatSomebodyElseRecords)
{
    const CUevent e = event("E"), foreign = event("F", CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("L1", awaits(b_, e)) << "never recorded";
    EXPECT_EQ("e1 on L0; L1 after e1; L1", awaits(b_, foreign)) << "nobody knows after what";
    EXPECT_EQ("e1 on L1; L0 after e1; L0", writes(a_, &m_)) << "nor what waits for it";
    EXPECT_EQ("e1 on L0; L1 after e1; L1", records(b_, foreign));
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("", on_event(c_, kNoStream, API_cuCtxRecordEvent, PTDS_OP_CTX_EVENT_RECORD, e));
    EXPECT_EQ("e1 on L0; L1 after e1; L1", awaits(b_, e));
    EXPECT_EQ("L0", (writes(a_, &m_), records(a_, e)));
    EXPECT_EQ("L2", awaits(c_, e)) << "recorded anew";
    EXPECT_EQ("L2", writes(c_, &m_)) << "recorded anew";
    result_ = CUDA_ERROR_UNKNOWN;
    EXPECT_EQ("L0", (writes(a_, &m_), records(a_, e)));
    result_ = CUDA_SUCCESS;
    EXPECT_EQ("L1", awaits(b_, e));
    EXPECT_EQ("e1 on L0; L1 after e1; L1", writes(b_, &m_));
    EXPECT_EQ("", on_event(c_, kNoStream, API_cuEventDestroy_v2, PTDS_OP_EVENT_DESTROY, e));
    EXPECT_EQ(nullptr, program_event_find(e));
    EXPECT_EQ("e1 on L0; L1 after e1; L1", (writes(a_, &m_), awaits(b_, e)));
    EXPECT_EQ("e1 on L2; L1 after e1; L1",
              (writes(c_, &n_), on_event(b_, kDefault, API_cuLaunchKernelEx, PTDS_OP_LAUNCH, e)));
    EXPECT_EQ(1, program_event_find(e)->timed);
}

/* A stream that waits for the event does not come after what it was recorded behind before. */
TEST_F(Waited, EventsThatSomebodyElseHasRecordedSince)
{
    struct stream *s = stream("S"), *n = stream("N", CU_STREAM_NON_BLOCKING);
    const CUevent e = event("E"), f = event("F", CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS), g = event("G");
    for (const CUevent event : {e, f}) {
        writes(a_, &m_, s);
        on_ = s;
        records(a_, event, kOn);
        on_event(c_, kNoStream, API_cuCtxRecordEvent, PTDS_OP_CTX_EVENT_RECORD, e);
        on_ = n;
        awaits(b_, event, kOn);
        records(c_, g);
        awaits(b_, g, kOn);
        const std::string newest = event == e ? "e1" : "e3";
        EXPECT_EQ(newest + " on S; N after " + newest + "; N", writes(b_, &m_, n));
    }
}

/* A kernel may tell the host by what it writes there. */
TEST_F(Waited, KernelsThatTheHostCanWatch)
{
    EXPECT_EQ("L0", writes(a_, &seen_));
    EXPECT_EQ("L1", launches(b_, false));
    EXPECT_EQ("e1 on L0; L1 after e1; L1", launches(b_, true));
}

/* ---- calls that wait themselves ---- */

TEST_F(Waited, SynchronousFormsGoAsAsynchronousOnes)
{
    driver_real[API_cuMemcpyDtoHAsync_v2][0] = reinterpret_cast<void *>(say_all);
    EXPECT_EQ("L0", writes(b_, &m_));
    EXPECT_EQ("L1", writes(c_, &seen_));
    const auto reads_m = [this] {
        return copies(a_, kImplicit, &m_, 0, PTDS_MEMORY_PINNED, PTDS_MEMORY_DEVICE, API_cuMemcpyDtoH_v2);
    };
    EXPECT_EQ("e1 on L1; L2 after e1; e1 on L0; L2 after e1; L2; host after L2", reads_m());
    EXPECT_EQ(CUDA_SUCCESS, a_->call.result);
    EXPECT_EQ(PTDS_CALL_IMPLICIT | PTDS_CALL_SHIM_EDGE | PTDS_CALL_SHIM_WAIT, a_->call.flags);
    EXPECT_EQ("L0", writes(b_, &seen_)) << "known to be done";
    g_refused = {"host"};
    EXPECT_EQ("e1 on L0; L2 after e1; L2; host after L2 refused", reads_m());
    EXPECT_EQ(CUDA_ERROR_UNKNOWN, a_->call.result) << "what the original would have said";
    g_refused = {};
    EXPECT_EQ("e1 on L2; L0 after e1; L0", writes(b_, &m_));
    result_ = CUDA_ERROR_INVALID_VALUE;
    EXPECT_EQ("e1 on L0; L2 after e1; L2", reads_m());
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, a_->call.result);
    result_ = CUDA_SUCCESS;
    driver_real[API_cuMemcpyDtoHAsync_v2][0] = nullptr;
    EXPECT_EQ("e1 on L0; legacy after e1; host after legacy; legacy; e1 on legacy", reads_m());
    EXPECT_EQ(PTDS_CALL_KEPT_NO_WAY, a_->call.flags & (PTDS_CALL_KEPT_NO_WAY | PTDS_CALL_KEPT_CAPTURE));
}

TEST_F(Waited, CopiesToPageableMemory)
{
    const unsigned pageable = PTDS_MEMORY_PAGEABLE, device = PTDS_MEMORY_DEVICE;
    EXPECT_EQ("L0", writes(a_, &n_));
    EXPECT_EQ("L1", writes(b_, &m_));
    EXPECT_EQ("e1 on L1; e2 on L0; L1 after e2; host after L1; L1", copies(b_, kDefault, &n_, 0, pageable, device));
    EXPECT_EQ("L0", writes(a_, &n_)) << "done when the driver returns";
    EXPECT_EQ("e2 on L0; L1 after e2; host after L1; L1", copies(b_, kDefault, &n_, 0, pageable, pageable));
    EXPECT_EQ("L1", copies(b_, kDefault, &n_, 0, device, pageable));
    result_ = CUDA_ERROR_UNKNOWN;
    EXPECT_EQ("host after L1; L1", copies(b_, kDefault, &n_, 0, pageable, device));
    result_ = CUDA_SUCCESS;
    EXPECT_EQ("e2 on L1; L0 after e2; L0", writes(a_, &n_)) << "not known";
    EXPECT_EQ("e2 on L0; legacy after e2; host after legacy; legacy; e2 on legacy",
              copies(b_, kLegacy, &n_, 0, pageable, device));
    EXPECT_EQ("host after legacy; legacy; e2 on legacy", copies(b_, kLegacyImplicit, &n_, 0, PTDS_MEMORY_PINNED, device));
    EXPECT_EQ("L0", writes(a_, &n_));
}

/* Each waits inside the driver, whatever its name says; nobody else's turn may have to come before it ends. */
TEST_F(Waited, CopiesThatTheDriverMakesSynchronous)
{
    const unsigned unknown = PTDS_MEMORY_UNKNOWN, pageable = PTDS_MEMORY_PAGEABLE, pinned = PTDS_MEMORY_PINNED,
                   registered = PTDS_MEMORY_REGISTERED, device = PTDS_MEMORY_DEVICE;
    const std::string settled = "host after S; S";
    on_ = stream("S");
    for (unsigned to : {pageable, pinned, registered, unknown})
        for (unsigned from : {pageable, pinned, registered, unknown})
            EXPECT_EQ(settled, copies(a_, kOn, &n_, 0, to, from)) << to << from;
    EXPECT_EQ(settled, copies(a_, kOn, &n_, 0, unknown, device));
    EXPECT_EQ("S", copies(a_, kOn, &n_, 0, pinned, device));
    EXPECT_EQ("S", copies(a_, kOn, &n_, 0, device, registered));
    const auto of_bytes = [&](unsigned to, unsigned from, uint64_t width, uint64_t height) {
        return call(a_, kOn, API_cuMemcpyHtoDAsync_v2, PTDS_OP_COPY, [=](struct call *C) {
            touching(&n_, 1)(C);
            C->kinds = uint8_t(to | from << 4);
            C->word[2] = width, C->word[3] = height;
            C->words = 6;
        });
    };
    const uint64_t mib = 1 << 20;
    EXPECT_EQ("S", of_bytes(device, pageable, mib, 1)) << "copied to a place of the driver's own";
    EXPECT_EQ(settled, of_bytes(device, pageable, mib + 1, 1));
    EXPECT_EQ("S", of_bytes(device, pageable, 1 << 10, 1 << 10));
    EXPECT_EQ(settled, of_bytes(device, pageable, 1000, 1049));
    EXPECT_EQ("S", of_bytes(device, pinned, 64 * mib, 1));
    EXPECT_EQ("S", of_bytes(pageable, device, 0, 1)) << "nothing";
    EXPECT_EQ("S", of_bytes(pageable, pageable, 16, 0)) << "nothing";
}

/* One that is still on its way is not taken for done. */
TEST_F(Waited, WhatIsDoneWhenTheDriverReturns)
{
    const auto large = [&](struct call *C) {
        touching(&m_, 1)(C);
        C->kinds = PTDS_MEMORY_DEVICE | PTDS_MEMORY_PAGEABLE << 4;
        C->word[2] = 1 << 30, C->word[3] = 1;
        C->words = 6;
    };
    EXPECT_EQ("host after L0; L0", call(a_, kDefault, API_cuMemcpyHtoDAsync_v2, PTDS_OP_COPY, large));
    EXPECT_EQ("e1 on L0; L1 after e1; L1", writes(b_, &m_)) << "the last part may be staged";
    const auto to_host = [&](struct call *C) {
        touching(&n_, 1)(C);
        C->host_sides = CALL_TO_HOST;
    };
    EXPECT_EQ("host after L0; L0", call(a_, kDefault, API_cuGraphLaunch, PTDS_OP_GRAPH_LAUNCH, to_host));
    EXPECT_EQ("e1 on L0; L1 after e1; L1", writes(b_, &n_)) << "other nodes of the graph";
    EXPECT_EQ("L0", call(a_, kDefault, API_cuGraphLaunch, PTDS_OP_GRAPH_LAUNCH, [&](struct call *C) {
                  touching(&seen_, 1)(C);
                  C->host_sides = 0;
              }));
}

/* ---- captures ---- */

TEST_F(Waited, WhatIsCapturedOrdersNothing)
{
    struct stream *s = stream("S");
    const CUevent e = event("E");
    EXPECT_EQ("S", writes(a_, &m_, s));
    begin_capture(s);
    EXPECT_EQ("e1 on S", said()) << "what was there before";
    EXPECT_EQ("S", writes(a_, &m_, s));
    EXPECT_EQ("S", records(a_, e, kOn));
    struct call recorded = {};
    recorded.thread = &a_->thread;
    capture_event_recorded(&recorded, e, s->handle, 0);
    EXPECT_EQ("L0 after e1; L0", writes(a_, &m_));
    EXPECT_EQ("legacy", awaits(a_, e)) << "it would take the stream into the capture, and is refused so";
    EXPECT_EQ(PTDS_CALL_KEPT_CAPTURE, a_->call.flags & PTDS_CALL_KEPT_CAPTURE);
    EXPECT_EQ("legacy", writes(a_, &m_, kLegacy));
    EXPECT_EQ("legacy", copies(a_, kImplicit, &m_, 0, PTDS_MEMORY_PINNED, PTDS_MEMORY_DEVICE, API_cuMemcpyDtoH_v2));
    EXPECT_EQ(PTDS_CALL_KEPT_CAPTURE, a_->call.flags & PTDS_CALL_KEPT_CAPTURE);
    end_capture(s);
    EXPECT_EQ("e2 on L0; S after e2; S", writes(a_, &m_, s));
    EXPECT_EQ("L1", writes(b_, &n_));
    EXPECT_EQ("e2 on L1; L0 after e2; e2 on S; L0 after e2; L0", awaits(a_, e))
        << "a graph's launch records it, whenever that is";
}

TEST_F(Waited, StreamsThatACaptureTakesIn)
{
    struct stream *s = stream("S"), *t = stream("T");
    const CUevent e = event("E");
    EXPECT_EQ("T", writes(a_, &m_, t));
    begin_capture(s);
    struct call recorded = {};
    recorded.thread = &a_->thread;
    capture_event_recorded(&recorded, e, s->handle, 0);
    EXPECT_EQ("e1 on T; T", (on_ = t, awaits(a_, e, kOn)));
    capture_event_awaited(&recorded, e, t->handle, 0);
    EXPECT_EQ("T", writes(a_, &m_, t));
    EXPECT_EQ("L0 after e1; L0", writes(a_, &m_));
    EXPECT_EQ("0x2", awaits(a_, e, kOwn));
    end_capture(s);
}

/* ---- more than there are lanes ---- */

TEST_F(Waited, StreamsThatComeAndGo)
{
    const auto come_and_go = [this](int count) {
        std::string all;
        for (int i = 0; i < count; i++) {
            struct stream *one = stream("T");
            all += writes(a_, &m_, one) + "; ";
            all += destroys(a_, one) + "; ";
        }
        return all;
    };
    EXPECT_EQ(std::string::npos, come_and_go(600).find("host"));
    EXPECT_LE(g_events, 256u) << "events of marks are used again";
    g_busy = {"event"};
    EXPECT_EQ(std::string::npos, come_and_go(10).find("host"));
    for (int i = 0; i < 256; i++)
        come_and_go(1);
    const std::string last = writes(a_, &m_, stream("U"));
    EXPECT_EQ(2 + 256, std::count(last.begin(), last.end(), '?')) << "two whenever a stream comes, then all";
    EXPECT_EQ("; host after all; U; host after all", last.substr(std::min(last.size(), last.find("; host"))));
    g_busy = {};
    EXPECT_EQ(std::string::npos, come_and_go(300).find("host"));
}

TEST_F(Waited, StreamsThatAreIdleMakeRoom)
{
    std::vector<struct stream *> streams;
    const auto another = [&] {
        streams.push_back(stream("T"));
        return folded(writes(a_, &n_, streams.back()));
    };
    const auto without = [&] {
        return std::count_if(streams.begin(), streams.end(), [](const struct stream *one) { return one->lane == 0; });
    };
    for (int i = 0; i < 256; i++)
        EXPECT_EQ("T", another()) << i;
    EXPECT_EQ(0, without());
    EXPECT_EQ("T?; T", another());
    EXPECT_EQ(1, without());
    g_busy = {"T"};
    EXPECT_EQ("T? x256; host after T; T", another());
    EXPECT_EQ(2, without());
    g_refused = {"T?"};
    EXPECT_EQ("T? refused x256; host after T; T", another());
    EXPECT_EQ(3, without());
}

/* No stream that the host could wait for has a lane. */
TEST_F(Waited, WhereNoLaneIsLeftTheHostWaitsForAll)
{
    struct stream *t = stream("T");
    const CUevent e = event("E");
    for (int i = 0; i < 255; i++)
        EXPECT_EQ("0x2", writes(thread(context_), &n_, kOwn)) << i;
    EXPECT_EQ("L0", records(a_, e));
    EXPECT_EQ("L0?; host after all; T; host after all", writes(a_, &n_, t));
    EXPECT_EQ("host after all; 0x2; host after all", writes(a_, &n_, kOwn));
    EXPECT_EQ("T", syncs(a_, kOn)) << "the driver waits";
    EXPECT_EQ("host after all; T; host after all", records(a_, e, kOn));
    EXPECT_EQ(0u, program_event_find(e)->recorded.at) << "all that it stands for is done";
    EXPECT_EQ("host after all; legacy; host after all", writes(b_, &n_));
    EXPECT_EQ(PTDS_CALL_KEPT_NO_WAY, b_->call.flags & PTDS_CALL_KEPT_NO_WAY);
    g_refused = {"host"};
    EXPECT_EQ("host after all refused; T", writes(a_, &n_, t));
    fresh("C2", 1);
    g_refused = {};
    EXPECT_EQ("into C1; host after all; back; T; into C1; host after all; back", writes(a_, &n_, t));
    g_refused = {"into"};
    EXPECT_EQ("into C1 refused; T", writes(a_, &n_, t));
    g_current = context_->handle;
}

/* During a capture a wait for the context would end it: the host waits for each lane, and for the mark of a stream that is
 * captured. */
TEST_F(Waited, WhereNoLaneIsLeftDuringACapture)
{
    struct stream *s = stream("S"), *t = stream("T");
    EXPECT_EQ("S", writes(a_, &m_, s));
    for (int i = 0; i < 255; i++)
        EXPECT_EQ("0x2", writes(thread(context_), &n_, kOwn)) << i;
    begin_capture(s);
    EXPECT_EQ("e1 on S", said());
    std::string all = "relaxed; host after e1; not relaxed; ";
    for (int i = 0; i < 255; i++)
        all += "relaxed; host after legacy; not relaxed; ";
    EXPECT_EQ(all + "T; relaxed; host after T; not relaxed", writes(a_, &n_, t));
    g_refused = {"host after e1"};
    const std::string said = writes(a_, &n_, t);
    EXPECT_EQ("; T", said.substr(said.size() - 3)) << "all had to be waited for";
    end_capture(s);
}

/* ---- threads that do not come back ---- */

TEST_F(Waited, AThreadThatEndsInACall)
{
    begin(a_, kDefault, API_cuMemsetD8Async, PTDS_OP_MEMSET, touching(&m_, 1));
    EXPECT_NE(0u, a_->thread.held);
    EXPECT_EQ(1u, issue_users(a_->lane()));
    object_changes_thread_ends(&a_->thread);
    EXPECT_EQ(0u, a_->thread.held);
    EXPECT_EQ("e1 on L0; L1 after e1; L1", writes(b_, &m_));
    EXPECT_EQ("L2", writes(c_, &n_));
}

/* Readers do not wait for each other, nor where one goes the short way. */
TEST_F(Waited, ForNobodyWhoReadsAsWell)
{
    for (int i = 0; i < 3; i++)
        EXPECT_EQ("L0", reads(a_, &m_));
    EXPECT_EQ(1, a_->call.guarded.again);
    EXPECT_EQ("L1", reads(b_, &m_));
    EXPECT_EQ("e1 on L0; L1 after e1; L1", writes(b_, &m_));
}

/* Questions about streams are nobody's turn. */
TEST_F(Waited, WhatIsNoWork)
{
    on_ = stream("S");
    for (const Way way : {kDefault, kImplicit, kOn, kAsDefault, kOwn, kLegacy}) {
        writes(a_, &m_, way == kImplicit ? kDefault : way);
        begin(a_, way, API_cuStreamGetFlags, PTDS_OP_NONE);
        EXPECT_EQ(GUARD_NOTHING, a_->call.guarded.kind) << way;
        EXPECT_EQ(0, a_->call.guarded.turn) << way;
        end(a_, way);
    }
}

/* A tool's call inside of this one has given its turn up. */
TEST_F(Waited, ATurnThatAToolGaveUpIsOver)
{
    begin(a_, kDefault, API_cuMemsetD8Async, PTDS_OP_MEMSET, touching(&m_, 1));
    EXPECT_EQ(1, a_->call.guarded.turn);
    EXPECT_EQ(1, a_->call.guarded.gate);
    turn_abandon(&a_->thread);
    const uint32_t serving = issue_lanes[a_->lane()].serving;
    EXPECT_EQ("L0", end(a_));
    EXPECT_EQ(0, a_->call.guarded.turn);
    EXPECT_EQ(0, a_->call.guarded.gate);
    EXPECT_EQ(serving, issue_lanes[a_->lane()].serving);
    EXPECT_EQ("e1 on L0; L1 after e1; L1", writes(b_, &m_));
}

/* Whoever relies on a mark waits for the turn in which it is recorded. */
TEST_F(Waited, MarksAreThoseOfTheirTurns)
{
    const auto in_last_turn = [](unsigned lane) {
        const struct issue_lane *issuing = &issue_lanes[lane];
        return issuing->marked_by[guard_state.order.lanes[lane]->newest] == issuing->serving - 1;
    };
    struct stream *s = stream("S"), *t = stream("T");
    for (struct stream *one : {s, t})
        for (int i = 0; i < 3; i++)
            writes(a_, one == s ? &m_ : &n_, one);
    const unsigned on_s = s->lane - 1, on_t = t->lane - 1;
    EXPECT_EQ("e1 on S", destroys(b_, s));
    EXPECT_TRUE(in_last_turn(on_s));
    begin_capture(t);
    EXPECT_EQ("e2 on T", said());
    EXPECT_TRUE(in_last_turn(on_t));
    end_capture(t);
    EXPECT_EQ("L0", writes(a_, &seen_));
    EXPECT_EQ("T", writes(b_, &n_, t));
    EXPECT_EQ("e3 on L0; L0", writes(a_, &seen_)) << "before it";
    EXPECT_TRUE(in_last_turn(a_->lane()));
    writes(c_, &n_, kOwn);
    EXPECT_TRUE(in_last_turn(c_->here.own_lane - 1u)) << "behind it";
}

/* Nobody recorded it: its event is there for others, and there is none where it had none. */
TEST_F(Waited, AMarkThatIsNotRecordedIsNone)
{
    const struct pool *pool = context_->pool;
    writes(a_, &m_);
    begin(b_, kOwn, API_cuMemsetD8Async, PTDS_OP_MEMSET, touching(&n_, 1));
    const unsigned events = pool->events;
    turn_abandon(&b_->thread);
    EXPECT_EQ(events, pool->events);
    end(b_);
    writes(b_, &n_, kOwn);
    EXPECT_EQ(events - 1, pool->events);
    begin(b_, kOwn, API_cuMemsetD8Async, PTDS_OP_MEMSET, touching(&n_, 1));
    const unsigned lane = b_->call.guarded.lane;
    const int mark = b_->call.guarded.mark_after;
    ASSERT_LE(0, mark);
    const CUevent kept = issue_lanes[lane].mark[mark];
    ASSERT_NE(nullptr, kept) << "that of the newest mark, which nobody needs";
    turn_abandon(&b_->thread);
    EXPECT_EQ(nullptr, issue_lanes[lane].mark[mark]);
    ASSERT_EQ(events, pool->events);
    EXPECT_EQ(kept, pool->event[events - 1]);
    end(b_);
}

/* The thread came back by a jump, and makes another call. */
TEST_F(Waited, AThreadThatLeftACall)
{
    begin(a_, kDefault, API_cuMemsetD8Async, PTDS_OP_MEMSET, touching(&m_, 1));
    EXPECT_EQ("L0", writes(a_, &n_));
    EXPECT_EQ("e1 on L0; L1 after e1; L1", writes(b_, &m_));
}

} // namespace

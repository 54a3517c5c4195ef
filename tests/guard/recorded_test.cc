// SPDX-License-Identifier: Apache-2.0
//
// Events that graphs record and wait for, that launches record when they begin, and that whole contexts wait for: what the
// guard takes them for. tests/apps/handovers/promises_events.c asks the same of whole programs.
extern "C" {
#include "interpose/guard/carry_out/program_event.h"
}

#include "tests/guard/script.h"

namespace
{

class Recorded : public Script
{
protected:
    std::string launches(Caller *by, struct memory *memory, CUevent event, uint64_t attributes = 0)
    {
        return call(by, kDefault, API_cuLaunchKernelEx, PTDS_OP_LAUNCH, [=](struct call *C) {
            touching(memory, 1)(C);
            C->word[2] = attributes << 48;
            C->event = event;
        });
    }
    std::string launches_graph(Caller *by, struct stream *on, int opaque = OPAQUE_EVENT)
    {
        on_ = on;
        return call(by, kOn, API_cuGraphLaunch, PTDS_OP_GRAPH_LAUNCH,
                    [=](struct call *C) { C->touched.opaque = uint8_t(opaque); });
    }
    std::string host_waits(Caller *by, CUevent event)
    {
        return on_event(by, kNoStream, API_cuEventSynchronize, PTDS_OP_EVENT_SYNC, event);
    }
    std::string context_waits(Caller *by, CUevent event)
    {
        return on_event(by, kNoStream, API_cuCtxWaitEvent, PTDS_OP_CTX_EVENT_WAIT, event);
    }
};

/* ---- graphs that record ---- */

TEST_F(Recorded, ByGraphsForEver)
{
    const CUevent e = event("E");
    program_event_in_graph(e, 0);
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("L0", records(a_, e));
    EXPECT_EQ("e1 on L0; L1 after e1; L1", awaits(b_, e)) << "the graph may have recorded it since";
    EXPECT_EQ("e1 on L0; L1 after e1; L1", (writes(a_, &m_), writes(b_, &m_)));
    EXPECT_EQ("e1 on L1; L0 after e1; L0", writes(a_, &m_));
    EXPECT_EQ("L0", records(a_, e));
    EXPECT_EQ("", host_waits(b_, e));
    EXPECT_EQ("e1 on L0; L1 after e1; L1", writes(b_, &m_)) << "the host knows nothing either";
}

TEST_F(Recorded, ByGraphsNoLongerWhereTheHandleIsAnothers)
{
    const CUevent e = event("E");
    program_event_in_graph(e, 0);
    on_event(c_, kNoStream, API_cuEventDestroy_v2, PTDS_OP_EVENT_DESTROY, e);
    program_event_created(e, CU_EVENT_DISABLE_TIMING, 0);
    EXPECT_EQ("L0", (writes(a_, &m_), records(a_, e)));
    EXPECT_EQ("L1", awaits(b_, e));
    EXPECT_EQ("L1", writes(b_, &m_));
    program_event_in_graph(e, 0);
    program_event_created(e, CU_EVENT_DISABLE_TIMING, 0); /* destroyed past the shim */
    EXPECT_EQ("e1 on L1; L0 after e1; L0", (writes(a_, &m_)));
    EXPECT_EQ("L0", records(a_, e));
    EXPECT_EQ("L2", awaits(c_, e));
    EXPECT_EQ("L2", writes(c_, &m_));
}

/* What the event stood for before is over with the record in the capture, on whichever stream that is. */
TEST_F(Recorded, ByLaunchesInACapture)
{
    struct stream *n = stream("N", CU_STREAM_NON_BLOCKING);
    const auto captures = [&](CUevent e, Way way) {
        on_ = n;
        return on_event(c_, way, API_cuLaunchKernelEx, PTDS_OP_LAUNCH, e);
    };
    const CUevent e = event("E"), f = event("F");
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("L0", (records(a_, e), records(a_, f)));
    begin_capture(n);
    EXPECT_EQ("N", captures(e, kOn));
    EXPECT_EQ("N", captures(nullptr, kOn));
    end_capture(n);
    EXPECT_TRUE(program_event_is_unsure(program_event_find(e)));
    EXPECT_EQ("e1 on L0; L1 after e1; L1", awaits(b_, e));
    struct call own = {};
    own.thread = &c_->thread;
    c_->thread.uid = 1;
    capture_began(&own, CU_STREAM_PER_THREAD);
    EXPECT_EQ("0x2", captures(f, kOwn));
    capture_ended(&own, CU_STREAM_PER_THREAD);
    EXPECT_TRUE(program_event_is_unsure(program_event_find(f)));
}

/* ---- graphs that wait ---- */

TEST_F(Recorded, ForGraphsThatWait)
{
    struct stream *n = stream("N", CU_STREAM_NON_BLOCKING), *o = stream("O", CU_STREAM_NON_BLOCKING);
    const CUevent e = event("E"), f = event("F");
    program_event_in_graph(e, 1);
    program_event_in_graph(f, 0);
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("L1", records(b_, e));
    EXPECT_EQ("L1", (writes(b_, &n_), records(b_, f)));
    EXPECT_EQ("N", writes(c_, &m_, n)) << "nothing is promised";
    EXPECT_EQ("e1 on L1; O after e1; e1 on L0; O after e1; O", launches_graph(c_, o));
    EXPECT_EQ("O", writes(c_, &m_, o));
    EXPECT_EQ("O", writes(c_, &n_, o)) << "for which no graph waits";
    EXPECT_EQ("e1 on L0; L0", writes(a_, &m_)) << "non-blocking streams are ordered by events alone";
    EXPECT_EQ("O", writes(c_, &m_, o)) << "which came after the record";
}

TEST_F(Recorded, ForGraphsThatWaitWithAllThatTheyTouch)
{
    struct stream *n = stream("N", CU_STREAM_NON_BLOCKING);
    const CUevent e = event("E");
    program_event_in_graph(e, 1);
    EXPECT_EQ("L0", (writes(a_, &m_), records(a_, e)));
    EXPECT_EQ("N", launches_graph(c_, n, 0)) << "who is seen through waits for no event";
    EXPECT_EQ("N", writes(c_, &m_, n));
}

TEST_F(Recorded, ForGraphsNoLongerWhereItIsGone)
{
    struct stream *n = stream("N", CU_STREAM_NON_BLOCKING);
    const CUevent e = event("E"), f = event("F"), g = event("G");
    for (const CUevent one : {e, f, g, f})
        program_event_in_graph(one, 1);
    EXPECT_EQ("L0", (writes(a_, &m_), records(a_, f)));
    on_event(c_, kNoStream, API_cuEventDestroy_v2, PTDS_OP_EVENT_DESTROY, f);
    EXPECT_EQ("N", launches_graph(c_, n));
    const CUevent other = event("O"); /* in the place of the one that is gone */
    EXPECT_EQ("L1", (writes(b_, &n_), records(b_, other)));
    EXPECT_EQ("N", launches_graph(c_, n)) << "no graph waits for this one";
    EXPECT_EQ("L1", (writes(b_, &n_), records(b_, e)));
    EXPECT_EQ("e1 on L1; N after e1; e1 on L0; N after e1; N", launches_graph(c_, n)) << "the others are there still";
    EXPECT_EQ("L1", (writes(b_, &n_), records(b_, g)));
    EXPECT_EQ("e1 on L1; N after e1; N", launches_graph(c_, n));
}

/* ---- launches that record when they begin ---- */

TEST_F(Recorded, ByLaunchesThatHaveBegun)
{
    struct stream *s = stream("S"), *n = stream("N", CU_STREAM_NON_BLOCKING);
    const CUevent e = event("E");
    EXPECT_EQ("L0", writes(a_, &n_));
    EXPECT_EQ("L0", launches(a_, &m_, e));
    EXPECT_EQ("", host_waits(b_, e));
    EXPECT_EQ("L1", writes(b_, &n_)) << "what came before the kernel is done";
    EXPECT_EQ("e1 on L0; L1 after e1; L1", writes(b_, &m_)) << "the kernel is not";
    EXPECT_EQ("e1 on L1; L0 after e1; L0", launches(a_, &m_, e));
    on_ = s;
    EXPECT_EQ("S", awaits(c_, e, kOn));
    EXPECT_EQ("e1 on L0; S after e1; S", writes(c_, &m_, s));
    EXPECT_EQ("e1 on L0; e2 on S; L0 after e2; L0", launches(a_, &m_, e));
    on_ = n;
    EXPECT_EQ("N", awaits(c_, e, kOn));
    EXPECT_EQ("N", writes(c_, &m_, n)) << "which the kernel may be waiting for";
}

TEST_F(Recorded, ByLaunchesThatMayBeginEarlier)
{
    const CUevent e = event("E");
    EXPECT_EQ("L0", writes(a_, &n_));
    EXPECT_EQ("L0", launches(a_, &m_, e, PTDS_LAUNCH_PROGRAMMATIC));
    EXPECT_EQ("", host_waits(b_, e));
    EXPECT_EQ("e1 on L0; L1 after e1; L1", writes(b_, &n_)) << "not even what came before the kernel is done";
    EXPECT_EQ("e1 on L1; L0 after e1; L0", launches(a_, &m_, e, PTDS_LAUNCH_OTHER)) << "the event is for all of it";
    EXPECT_EQ("", host_waits(c_, e));
    EXPECT_EQ("L2", writes(c_, &n_));
}

/* ---- contexts that wait ---- */

TEST_F(Recorded, ForWholeContexts)
{
    struct stream *n = stream("N", CU_STREAM_NON_BLOCKING), *o = stream("O", CU_STREAM_NON_BLOCKING);
    const CUevent e = event("E"), f = event("F"), never = event("G");
    EXPECT_EQ("O", (writes(a_, &n_, o), on_ = o, records(a_, f, kOn)));
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("L1", records(c_, e));
    EXPECT_EQ("", context_waits(b_, never));
    result_ = CUDA_ERROR_UNKNOWN;
    EXPECT_EQ("", context_waits(b_, e));
    result_ = CUDA_SUCCESS;
    EXPECT_EQ("N", reads(b_, &m_, n)) << "it does not wait yet";
    EXPECT_EQ("", context_waits(b_, e));
    EXPECT_EQ("e1 on L0; N after e1; N", reads(b_, &m_, n));
    EXPECT_EQ("N", reads(b_, &n_, n));
    EXPECT_EQ("", context_waits(b_, f));
    EXPECT_EQ("e1 on O; N after e1; N", reads(b_, &n_, n)) << "what it was recorded behind";
}

} // namespace

/* SPDX-License-Identifier: Apache-2.0
 *
 * A host that has waited, as legacy's wait had it, for work that only the device can see: where it takes that memory away,
 * shows it to others or asks whether the work is done, it waits for it; for no more than that, and in nobody's turn.
 */
#include "tests/guard/script.h"

namespace
{

class Settled : public Script
{
protected:
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
    guard_event_recorded_elsewhere(e);
    syncs(a_);
    EXPECT_EQ("e1 on S; host after e1", asks(a_, e));
    writes(a_, &m_, s);
    records(a_, e, kOn);
    guard_event_recorded_elsewhere(e);
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
    EXPECT_EQ("e1 on L0; host after e1; L0", queries(a_));
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
    EXPECT_EQ("e1 on L1; e2 on L0; host after e1; host after e2; L1", queries(a_));
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

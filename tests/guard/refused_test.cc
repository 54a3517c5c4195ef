/* SPDX-License-Identifier: Apache-2.0
 *
 * What the driver refuses has not happened: events carry what they carried before, objects that were to be destroyed live
 * on, and what they were promised still holds.
 */
#include "tests/guard/script.h"

#include <unistd.h>

#include <thread>

namespace
{

class Refused : public Script
{
protected:
    template <class Ask> auto refused(Ask ask)
    {
        result_ = CUDA_ERROR_UNKNOWN;
        const auto said = ask();
        result_ = CUDA_SUCCESS;
        return said;
    }
    std::string launches(Caller *by, CUevent event, Way way = kDefault)
    {
        return on_event(by, way, API_cuLaunchKernelEx, PTDS_OP_LAUNCH, event);
    }
    static std::string recorded_on(CUevent event)
    {
        lock_take(&guard_state.lock);
        const unsigned lane = guard_event_find(event)->recorded.lane;
        lock_drop(&guard_state.lock);
        return named(rails[lane].handle);
    }
    std::string awaits_on(struct stream *on, CUevent event)
    {
        on_ = on;
        return awaits(b_, event, kOn);
    }
    std::string destroys_event(CUevent event)
    {
        return on_event(b_, kNoStream, API_cuEventDestroy_v2, PTDS_OP_EVENT_DESTROY, event);
    }
};

/* The launch was to record the event behind the second write, of which the event so tells nothing. */
TEST_F(Refused, ALaunchRecordsNoEvent)
{
    struct stream *s = stream("S");
    const CUevent e = event("E");
    EXPECT_EQ("L0", launches(a_, e));
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("L0", refused([&] { return launches(a_, e); }));
    EXPECT_EQ("S", awaits_on(s, e));
    EXPECT_EQ("e1 on L0; S after e1; S", writes(b_, &m_, s));
}

/* Of a lane that nobody else has, the event alone tells the stream that it comes after the write. */
TEST_F(Refused, ARecordLeavesTheOneBefore)
{
    struct stream *n = stream("N", CU_STREAM_NON_BLOCKING);
    const CUevent e = event("E");
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("L1", records(c_, e));
    EXPECT_EQ("L1", refused([&] { return records(c_, e); }));
    EXPECT_EQ("e1 on L0; L1 after e1; L1", refused([&] { return launches(c_, e); }));
    EXPECT_EQ("N", awaits_on(n, e));
    EXPECT_EQ("e1 on L0; N after e1; N", writes(b_, &m_, n));
}

TEST_F(Refused, AnEventsEndLeavesWhatItCarries)
{
    struct stream *n = stream("N", CU_STREAM_NON_BLOCKING);
    const CUevent e = event("E");
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("L1", records(c_, e));
    EXPECT_EQ("", refused([&] { return destroys_event(e); }));
    EXPECT_EQ("N", awaits_on(n, e));
    EXPECT_EQ("e1 on L0; N after e1; N", writes(b_, &m_, n));
}

TEST_F(Refused, AStreamsEndLeavesWhatItWasPromised)
{
    struct stream *n = stream("N", CU_STREAM_NON_BLOCKING);
    const CUevent e = event("E");
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("L1", records(c_, e));
    EXPECT_EQ("N", awaits_on(n, e));
    EXPECT_EQ("e1 on N", refused([&] { return destroys(b_, n); }));
    EXPECT_EQ("e2 on L0; N after e2; N", writes(b_, &m_, n));
}

/* Another thread has recorded it meanwhile, or a graph's launch before. */
TEST_F(Refused, ARecordLeavesAnotherThreads)
{
    struct stream *n = stream("N", CU_STREAM_NON_BLOCKING);
    const CUevent e = event("E");
    const auto recording = [=](struct call *C) { C->event = e; };
    EXPECT_EQ("L0", records(a_, e));
    EXPECT_EQ("L0", writes(a_, &m_));
    begin(b_, kDefault, API_cuEventRecord, PTDS_OP_EVENT_RECORD, recording);
    std::thread other([&] { begin(c_, kDefault, API_cuEventRecord, PTDS_OP_EVENT_RECORD, recording); });
    while (recorded_on(e) != "L2")
        usleep(100);
    EXPECT_EQ("L1", refused([&] { return end(b_); }));
    other.join();
    EXPECT_EQ("L2", end(c_));
    EXPECT_EQ("N", awaits_on(n, e));
    EXPECT_EQ("e1 on L0; N after e1; N", writes(b_, &m_, n)) << "what the newer one carries";
    EXPECT_EQ("", on_event(c_, kNoStream, API_cuCtxRecordEvent, PTDS_OP_CTX_EVENT_RECORD, e));
    refused([&] { return records(a_, e); });
    EXPECT_EQ(1, guard_event_find(e)->elsewhere);
    records(a_, e);
    EXPECT_EQ(0, guard_event_find(e)->elsewhere);
}

/* An answer to a question about the event is no refusal to record it. */
TEST_F(Refused, AQuestionLeavesTheRecord)
{
    struct stream *n = stream("N", CU_STREAM_NON_BLOCKING);
    const CUevent e = event("E");
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("L1", records(c_, e));
    EXPECT_EQ("", refused([&] { return on_event(b_, kNoStream, API_cuEventQuery, PTDS_OP_EVENT_QUERY, e); }));
    EXPECT_EQ("N", refused([&] { return awaits_on(n, e); }));
    EXPECT_EQ("N", awaits_on(n, e));
    EXPECT_EQ("e1 on L0; N after e1; N", writes(b_, &m_, n));
}

} // namespace

/* SPDX-License-Identifier: Apache-2.0
 *
 * What the driver refuses has not happened: events carry what they carried before, objects that were to be destroyed live
 * on, and what they were promised still holds.
 */
extern "C" {
#include "interpose/guard/carry_out/issue.h"
#include "interpose/guard/carry_out/program_event.h"
}

#include "tests/guard/script.h"

#include <unistd.h>

#include <thread>

extern "C" {
#include "interpose/base/lock.h"
}

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
        const unsigned lane = program_event_find(event)->recorded.lane;
        lock_drop(&guard_state.lock);
        return named(issue_lanes[lane].handle);
    }
    std::string awaits_on(struct stream *on, CUevent event)
    {
        on_ = on;
        return awaits(b_, event, kOn);
    }
    void begins_record(Caller *by, CUevent event)
    {
        begin(by, kDefault, API_cuEventRecord, PTDS_OP_EVENT_RECORD, [=](struct call *C) { C->event = event; });
    }
    /* The second is registered before the driver has answered the first, on a lane that nobody has worked on. */
    void record_at_once(CUevent event, CUresult first, CUresult second)
    {
        begins_record(b_, event);
        const std::string before = recorded_on(event);
        std::thread other([&] { begins_record(c_, event); });
        while (recorded_on(event) == before)
            usleep(100);
        result_ = first;
        end(b_);
        other.join();
        result_ = second;
        end(c_);
        result_ = CUDA_SUCCESS;
    }
    /* Another thread's wait is registered, and goes on when the record's turn is over. */
    std::thread awaits_behind(struct stream *on, CUevent event)
    {
        on_ = on;
        const auto awaited_on = [=] {
            lock_take(&guard_state.lock);
            const CUstream handle = issue_lanes[program_event_find(event)->lane].handle;
            lock_drop(&guard_state.lock);
            return handle;
        };
        std::thread other(
            [=] { begin(b_, kOn, API_cuStreamWaitEvent, PTDS_OP_EVENT_WAIT, [=](struct call *C) { C->event = event; }); });
        while (awaited_on() != on->handle)
            usleep(100);
        return other;
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
    EXPECT_EQ(1, program_event_find(e)->elsewhere);
    records(a_, e);
    EXPECT_EQ(0, program_event_find(e)->elsewhere);
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

/* The mark, and the stream is about to go: the host waits for it as long as it can. */
TEST_F(Refused, AnOlderMarkOfAStreamThatGoes)
{
    struct stream *s = stream("S");
    EXPECT_EQ("L0", writes(b_, &seen_));
    EXPECT_EQ("S", writes(a_, &m_, s));
    g_refused = {"e1 on S"};
    on_ = s;
    EXPECT_EQ("e1 on S refused; e1 on L0; S after e1; S", refused([&] { return syncs(a_, kOn); }));
    g_refused = {};
    EXPECT_EQ("host after S", destroys(b_, s));
    EXPECT_EQ(0u, g_tense);
    EXPECT_EQ("e1 on L0; L0", writes(b_, &m_)) << "its own mark";
}

/* What follows comes after nothing by that. */
TEST_F(Refused, AWaitIsNone)
{
    const CUevent e = event("E");
    struct stream *s = stream("S");
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("L0", records(a_, e));
    EXPECT_EQ("S", refused([&] { return awaits_on(s, e); }));
    EXPECT_EQ("e1 on L0; S after e1; S", reads(b_, &m_, s));
    EXPECT_EQ("L1", refused([&] { return awaits(b_, e); }));
    EXPECT_EQ("e1 on L0; L1 after e1; L1", reads(b_, &m_));
    EXPECT_EQ("L2", awaits(c_, e));
    EXPECT_EQ("L2", reads(c_, &m_)) << "but by one that the driver has made";
}

/* Another thread has recorded the event anew before the driver made the wait: nobody knows for which of them. */
TEST_F(Refused, AWaitThatMayBeForAnotherRecord)
{
    const CUevent e = event("E");
    struct stream *s = stream("S");
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("L0", records(a_, e));
    on_ = s;
    begin(b_, kOn, API_cuStreamWaitEvent, PTDS_OP_EVENT_WAIT, [=](struct call *C) { C->event = e; });
    EXPECT_EQ("", on_event(c_, kNoStream, API_cuCtxRecordEvent, PTDS_OP_CTX_EVENT_RECORD, e));
    EXPECT_EQ("S", end(b_));
    EXPECT_EQ("e1 on L0; S after e1; S", writes(b_, &m_, s));
}

/* Of two records that were on their way at once the driver has made neither. */
TEST_F(Refused, TwoRecordsLeaveTheOneBefore)
{
    struct stream *n = stream("N", CU_STREAM_NON_BLOCKING);
    const CUevent e = event("E");
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("L0", records(a_, e));
    record_at_once(e, CUDA_ERROR_UNKNOWN, CUDA_ERROR_UNKNOWN);
    EXPECT_EQ(1, program_event_find(e)->elsewhere) << "which of them is left is not known";
    EXPECT_EQ("N", awaits_on(n, e));
    EXPECT_EQ("e1 on L0; N after e1; N", writes(b_, &m_, n));
}

TEST_F(Refused, OneOfTwoRecordsLeavesTheOther)
{
    struct stream *n = stream("N", CU_STREAM_NON_BLOCKING);
    const CUevent e = event("E");
    EXPECT_EQ("L0", records(a_, e));
    EXPECT_EQ("L0", writes(a_, &m_));
    record_at_once(e, CUDA_SUCCESS, CUDA_ERROR_UNKNOWN);
    EXPECT_EQ("N", awaits_on(n, e));
    EXPECT_EQ("e1 on L0; N after e1; N", writes(b_, &m_, n));
}

/* The first that an event was ever to carry. */
TEST_F(Refused, TwoRecordsLeaveNone)
{
    const CUevent e = event("E");
    record_at_once(e, CUDA_ERROR_UNKNOWN, CUDA_ERROR_UNKNOWN);
    EXPECT_EQ(0u, program_event_find(e)->recorded.at);
}

/* A graph's launch or a whole context has recorded it. */
TEST_F(Refused, ARecordLeavesWhatCameMeanwhile)
{
    const CUevent e = event("E");
    EXPECT_EQ("L0", records(a_, e));
    begins_record(a_, e);
    EXPECT_EQ("", on_event(c_, kNoStream, API_cuCtxRecordEvent, PTDS_OP_CTX_EVENT_RECORD, e));
    EXPECT_EQ("L0", refused([&] { return end(a_); }));
    EXPECT_EQ(1, program_event_find(e)->elsewhere);
}

/* It is one for the record before: it comes after what is on the non-blocking stream, and not after the write. */
TEST_F(Refused, AWaitBehindARecordThatIsNone)
{
    struct stream *o = stream("O", CU_STREAM_NON_BLOCKING), *s = stream("S");
    const CUevent e = event("E");
    EXPECT_EQ("O", writes(c_, &n_, o));
    EXPECT_EQ("O", records(c_, e, kOn));
    EXPECT_EQ("L0", writes(a_, &m_));
    begins_record(a_, e);
    std::thread other = awaits_behind(s, e);
    EXPECT_EQ("L0", refused([&] { return end(a_); }));
    other.join();
    EXPECT_EQ("S", end(b_));
    EXPECT_EQ("e1 on L0; S after e1; S", writes(b_, &m_, s));
    EXPECT_EQ("e1 on O; S after e1; S", writes(b_, &n_, s));
}

/* Before that nobody takes the event for one that was recorded. Can miss a fault by timing. */
TEST_F(Refused, ARecordIsKnownToBeNoneBeforeItsTurnEnds)
{
    const CUevent e = event("E");
    begins_record(a_, e);
    const struct issue_lane *issuing = &issue_lanes[a_->lane()];
    lock_take(&guard_state.lock);
    std::thread other([&] { refused([&] { return end(a_); }); });
    usleep(20000);
    EXPECT_NE(issuing->tickets, __atomic_load_n(&issuing->serving, __ATOMIC_ACQUIRE));
    lock_drop(&guard_state.lock);
    other.join();
}

} // namespace

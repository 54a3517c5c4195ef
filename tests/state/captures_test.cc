/* SPDX-License-Identifier: Apache-2.0
 *
 * Which captures are open, and whose legacy work must leave them alone, while streams and contexts go.
 */
#include "tests/base/said.h"
#include "tests/state/driver.h"

#include <algorithm>
#include <thread>

extern "C" {
#include "interpose/state/streams.h"
#include "interpose/state/contexts.h"
#include "interpose/state/hooks.h"
}

namespace
{

CUcontext const kOne = context_handle(1), kTwo = context_handle(2);
CUstream const kOrigin = stream_handle(1), kMember = stream_handle(2), kOther = stream_handle(3);
CUevent const kEvent = CUevent(0x77000);

class Captures : public State
{
protected:
    void SetUp() override
    {
        State::SetUp();
        one_ = create(kOne);
        create_stream(kOrigin);
        create_stream(kMember);
        two_ = create(kTwo);
        create_stream(kOther);
        t_current = kOne;
    }
    static void joins(CUstream member, CUstream origin)
    {
        struct call call = after();
        capture_event_recorded(&call, kEvent, origin, 0);
        capture_event_awaited(&call, kEvent, member, 0);
    }
    struct context *one_ = nullptr, *two_ = nullptr;
};

/* The graph records the event at each launch, or waits for it; who waits for it now joins nothing. */
TEST_F(Captures, EventsOfTheGraphItself)
{
    static std::vector<std::pair<CUevent, int>> told;
    told.clear();
    state_hooks.graph_event = [](CUevent event, int waits) { told.emplace_back(event, waits); };
    const CUevent other = CUevent(0x78000);
    struct call call = after();
    capture_event_recorded(&call, kEvent, kOrigin, CU_EVENT_RECORD_EXTERNAL);
    capture_event_awaited(&call, kEvent, kOrigin, CU_EVENT_WAIT_EXTERNAL);
    EXPECT_TRUE(told.empty()) << "nothing is captured";
    begin(kOrigin);
    capture_event_recorded(&call, kEvent, kOrigin, CU_EVENT_RECORD_EXTERNAL);
    EXPECT_EQ((std::vector<std::pair<CUevent, int>>{{kEvent, 0}}), told);
    EXPECT_FALSE(capture_has_event(kEvent));
    capture_event_awaited(&call, kEvent, kMember, 0);
    capture_event_awaited(&call, other, kMember, CU_EVENT_WAIT_EXTERNAL);
    EXPECT_EQ(1u, told.size()) << "who waits is not captured";
    EXPECT_EQ(0u, streams_get(thread_get(), kMember)->capturing);
    capture_event_awaited(&call, other, kOrigin, CU_EVENT_WAIT_EXTERNAL);
    EXPECT_EQ((std::vector<std::pair<CUevent, int>>{{kEvent, 0}, {other, 1}}), told);
    capture_event_recorded(&call, other, kOrigin, 0);
    EXPECT_TRUE(capture_has_event(other));
    capture_event_recorded(&call, other, kOther, CU_EVENT_RECORD_EXTERNAL);
    EXPECT_FALSE(capture_has_event(other)) << "recorded anew, outside";
    EXPECT_EQ(2u, told.size());
    end(kOrigin);
    state_hooks.graph_event = nullptr;
}

TEST_F(Captures, OpenFromBeginToEnd)
{
    EXPECT_FALSE(capture_any());
    begin(kOrigin);
    EXPECT_TRUE(capture_any());
    EXPECT_EQ(1u, captures_open);
    EXPECT_TRUE(capture_blocks_legacy(one_));
    EXPECT_FALSE(capture_blocks_legacy(two_));
    end(kOrigin);
    EXPECT_FALSE(capture_any());
    EXPECT_EQ(0u, one_->blocking_captures);
}

/* The handle may be another's as soon as it is destroyed: who waits for that one joins nothing. */
TEST_F(Captures, EventsThatAreDestroyed)
{
    begin(kOrigin);
    for (const CUresult result : {CUDA_ERROR_INVALID_HANDLE, CUDA_SUCCESS}) {
        struct call call = after();
        capture_event_recorded(&call, kEvent, kOrigin, 0);
        capture_event_gone(&call, kEvent);
        EXPECT_FALSE(capture_has_event(kEvent)) << "before the call is back";
        call.result = result;
        capture_event_left(&call, kEvent);
        EXPECT_EQ(result != CUDA_SUCCESS, capture_has_event(kEvent)) << "refused, it is as it was";
        capture_event_gone(&call, CUevent(0x79000));
        call.result = CUDA_ERROR_INVALID_HANDLE;
        capture_event_left(&call, CUevent(0x79000));
        EXPECT_FALSE(capture_has_event(CUevent(0x79000))) << "it never was in it";
    }
    struct call call = after();
    capture_event_awaited(&call, kEvent, kMember, 0);
    EXPECT_EQ(0u, stream(kMember)->capturing);
    end(kOrigin);
    capture_event_gone(&call, kEvent);
    capture_event_left(&call, kEvent);
    EXPECT_FALSE(capture_any());
}

TEST_F(Captures, ABeginThatFailsOpensNone)
{
    struct call call = after(CUDA_ERROR_ILLEGAL_STATE);
    capture_began(&call, kOrigin);
    EXPECT_FALSE(capture_any());
    struct call legacy = after();
    capture_began(&legacy, CU_STREAM_LEGACY);
    EXPECT_FALSE(capture_any()) << "the legacy stream can't be captured";
}

/* 0 is the thread's own in the functions that take it for that. */
TEST_F(Captures, WhatStreamZeroIs)
{
    struct call call = after();
    capture_began(&call, nullptr);
    EXPECT_FALSE(capture_any()) << "the legacy one";
    call.twin = 1;
    capture_began(&call, CU_STREAM_LEGACY);
    EXPECT_FALSE(capture_any()) << "as ever";
    capture_began(&call, nullptr);
    EXPECT_TRUE(capture_has_per_thread(thread_get()));
    capture_event_recorded(&call, kEvent, nullptr, 0);
    EXPECT_TRUE(capture_has_event(kEvent));
    capture_event_awaited(&call, kEvent, kMember, 0);
    EXPECT_EQ(2u, one_->blocking_captures);
    call.twin = 0;
    capture_event_awaited(&call, kEvent, nullptr, 0);
    capture_event_awaited(&call, kEvent, CU_STREAM_LEGACY, 0);
    EXPECT_EQ(2u, one_->blocking_captures) << "the legacy stream joins nothing";
    capture_ended(&call, nullptr);
    EXPECT_TRUE(capture_any());
    call.twin = 1;
    capture_ended(&call, nullptr);
    EXPECT_FALSE(capture_any());
    EXPECT_EQ(0u, one_->blocking_captures);
}

/* Where another one is open still. */
TEST_F(Captures, WhatTookPartIsFreeAgain)
{
    begin(kOther);
    begin(kOrigin);
    begin(CU_STREAM_PER_THREAD);
    joins(kMember, kOrigin);
    EXPECT_NE(0u, stream(kMember)->capturing);
    EXPECT_NE(stream(kMember)->capturing, stream(kOther)->capturing);
    EXPECT_EQ(stream(kMember)->capturing, stream(kOrigin)->capturing);
    end(kOrigin);
    EXPECT_EQ(0u, stream(kMember)->capturing);
    EXPECT_EQ(0u, stream(kOrigin)->capturing);
    EXPECT_NE(0u, stream(kOther)->capturing);
    end(kMember); /* which is in none: that ends none */
    EXPECT_EQ(2u, captures_open);
    end(CU_STREAM_PER_THREAD);
    EXPECT_FALSE(capture_has_per_thread(thread_get()));
    EXPECT_EQ(1u, captures_open);
    end(kOther);
}

/* Of more of them it is not known that they take part, which is said. */
TEST_F(Captures, SixtyFourThreadsInOne)
{
    Said said;
    std::vector<struct thread> threads(66);
    struct call call = after();
    begin(kOrigin);
    begin(kOther);
    EXPECT_EQ(1u, one_->blocking_captures);
    capture_event_recorded(&call, kEvent, kOrigin, 0);
    for (size_t i = 0; i < threads.size(); i++) {
        threads[i].uid = uint32_t(1000 + i);
        call.thread = &threads[i];
        EXPECT_EQ(i == 65 ? "ptds: more than 64 threads' 0x2 in one capture: later ones are taken for idle\n" : "",
                  said.text());
        capture_event_awaited(&call, kEvent, CU_STREAM_PER_THREAD, 0);
        capture_event_awaited(&call, kEvent, CU_STREAM_PER_THREAD, 0); /* it is in there already */
        EXPECT_EQ(i < 64, capture_has_per_thread(&threads[i]) != 0) << i;
        EXPECT_EQ(std::min<size_t>(i + 2, 65), one_->blocking_captures) << i;
    }
    for (uint32_t uid : {1u, 2u, 3u}) {
        struct thread none = {};
        none.uid = uid;
        EXPECT_FALSE(capture_has_per_thread(&none)) << uid;
    }
    end(kOrigin);
    EXPECT_EQ(0u, one_->blocking_captures);
    EXPECT_FALSE(capture_has_per_thread(&threads[0]));
    EXPECT_TRUE(capture_any());
    end(kOther);
    EXPECT_EQ("", said.text());
}

/* An end that fails has ended it all the same, unless the stream says that it goes on. */
TEST_F(Captures, AnEndThatFails)
{
    begin(kOrigin);
    g_status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    end(kOrigin, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    EXPECT_TRUE(capture_any());
    g_status = CU_STREAM_CAPTURE_STATUS_NONE;
    end(kOrigin, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    EXPECT_FALSE(capture_any());
}

/* A driver that can't tell, or does not know the stream any more. */
TEST_F(Captures, AnEndThatFailsAndNobodyTells)
{
    void *const real = driver_real[API_cuStreamIsCapturing][0];
    const auto fails = [](CUstream, CUstreamCaptureStatus *status) {
        *status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
        return CUDA_ERROR_INVALID_HANDLE;
    };
    for (void *is_capturing :
         {static_cast<void *>(nullptr),
          reinterpret_cast<void *>(static_cast<CUresult (*)(CUstream, CUstreamCaptureStatus *)>(fails))}) {
        begin(kOrigin);
        driver_real[API_cuStreamIsCapturing][0] = is_capturing;
        end(kOrigin, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        EXPECT_FALSE(capture_any());
    }
    driver_real[API_cuStreamIsCapturing][0] = real;
}

TEST_F(Captures, ANonBlockingOneIsNoMatterForLegacyWork)
{
    create_stream(stream_handle(4), CU_STREAM_NON_BLOCKING);
    begin(stream_handle(4));
    EXPECT_TRUE(capture_any());
    EXPECT_FALSE(capture_blocks_legacy(one_));
    joins(kMember, stream_handle(4)); /* a blocking stream comes in */
    EXPECT_EQ(1u, one_->blocking_captures);
    end(stream_handle(4));
    EXPECT_EQ(0u, one_->blocking_captures);
}

/* Streams that the shim made for the program are in captures, too, and leave them as they came. */
TEST_F(Captures, TheShimsOwnNonBlockingOneIsNoMatterEither)
{
    const CUstream origin = stream_handle(4), shims = stream_handle(5);
    create_stream(origin, CU_STREAM_NON_BLOCKING);
    const uint32_t uid = streams_own(one_, shims, 1, 0);
    EXPECT_NE(0u, uid);
    EXPECT_EQ(uid, stream(shims)->uid);
    for (bool goes : {false, true}) {
        begin(origin);
        joins(shims, origin);
        joins(kMember, origin);
        EXPECT_EQ(1u, one_->blocking_captures) << "the program's blocking one";
        if (goes)
            destroy_stream(shims);
        EXPECT_EQ(1u, one_->blocking_captures);
        end(origin);
        EXPECT_EQ(0u, one_->blocking_captures);
    }
}

/* What is learnt of a stream while it takes part does not change what was counted when it came. */
TEST_F(Captures, AreLeftAsTheyWereJoined)
{
    begin(kOrigin);
    struct stream *unknown = stream(stream_handle(50));
    joins(unknown->handle, kOrigin);
    EXPECT_EQ(2u, one_->blocking_captures) << "assumed to be blocking";
    unknown->kind = PTDS_STREAM_NON_BLOCKING;
    unknown->context = two_;
    end(kOrigin);
    EXPECT_EQ(0u, one_->blocking_captures);
    EXPECT_EQ(0u, two_->blocking_captures);
}

TEST_F(Captures, GoOnWhereTheirContextsDestroyFails)
{
    static std::vector<enum ptds_life> heard;
    begin(kOrigin);
    begin(CU_STREAM_PER_THREAD);
    state_hooks.context_seen = [](const struct context *, enum ptds_life life) { heard.push_back(life); };
    destroy(kOne, CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(std::vector<enum ptds_life>{}, heard) << "nor is the record told that it went";
    EXPECT_EQ(2u, captures_open);
    EXPECT_TRUE(capture_blocks_legacy(one_));
    EXPECT_TRUE(capture_has_per_thread(thread_get()));
    destroy(kOne);
    state_hooks.context_seen = nullptr;
    EXPECT_EQ(std::vector<enum ptds_life>{PTDS_LIFE_GONE}, heard);
    EXPECT_FALSE(capture_any());
    EXPECT_FALSE(capture_has_per_thread(thread_get()));
}

TEST_F(Captures, EndWithTheirContext)
{
    begin(kOrigin);
    joins(kMember, kOrigin);
    EXPECT_EQ(2u, one_->blocking_captures);
    t_current = kTwo;
    begin(kOther);
    destroy(kOne);
    EXPECT_EQ(1u, captures_open) << "the other context's goes on";
    EXPECT_TRUE(capture_blocks_legacy(two_));
    end(kOther);
    EXPECT_FALSE(capture_any());
    EXPECT_EQ(0u, two_->blocking_captures);
}

TEST_F(Captures, EndWithTheStreamThatBeganThem)
{
    begin(kOrigin);
    joins(kMember, kOrigin);
    destroy_stream(kMember);
    EXPECT_TRUE(capture_any()) << "it goes on without one that had joined";
    EXPECT_EQ(1u, one_->blocking_captures);
    destroy_stream(kOrigin);
    EXPECT_FALSE(capture_any());
    EXPECT_EQ(0u, one_->blocking_captures);
    g_status = CU_STREAM_CAPTURE_STATUS_NONE;
    EXPECT_EQ(0u, stream(kOrigin)->capturing) << "its handle is another stream's now";
}

/* The one that began it, or another one: each takes part still. */
TEST_F(Captures, GoOnWhereAStreamIsNotDestroyed)
{
    begin(kOrigin);
    joins(kMember, kOrigin);
    for (const CUstream handle : {kMember, kOrigin}) {
        destroy_stream(handle, CUDA_ERROR_UNKNOWN);
        EXPECT_NE(0u, stream(handle)->capturing);
        EXPECT_EQ(1u, captures_open);
        EXPECT_EQ(2u, one_->blocking_captures);
    }
    end(kOrigin);
    EXPECT_EQ(0u, stream(kMember)->capturing);
    EXPECT_EQ(0u, one_->blocking_captures);
}

/* Another thread makes the new one before the destroying call is back, and captures on it. */
TEST_F(Captures, AreNothingToTheNextStreamWithTheHandle)
{
    for (const CUstream handle : {kMember, kOrigin}) {
        begin(kOrigin);
        joins(kMember, kOrigin);
        joins(kOther, kOrigin);
        struct call call = after();
        streams_leaving(&call, handle);
        create_stream(handle);
        EXPECT_EQ(0u, stream(handle)->capturing);
        begin(handle);
        streams_left(&call, handle);
        EXPECT_NE(0u, stream(handle)->capturing);
        end(handle);
        if (handle == kMember)
            end(kOrigin);
        EXPECT_EQ(0u, captures_open);
        for (const CUstream one : {kOrigin, kMember, kOther})
            EXPECT_EQ(0u, stream(one)->capturing);
        EXPECT_EQ(0u, one_->blocking_captures + two_->blocking_captures);
    }
}

/* A stream of another context than the one that began it. */
TEST_F(Captures, GoOnWithoutWhatWentWithItsContext)
{
    begin(kOrigin);
    joins(kOther, kOrigin);
    joins(kMember, kOrigin);
    destroy(kTwo);
    EXPECT_EQ(0u, two_->blocking_captures);
    end(kOrigin);
    EXPECT_EQ(0u, one_->blocking_captures + two_->blocking_captures);
}

/* What took part in an earlier one has nothing to do with this one. */
TEST_F(Captures, GoOnWhereAnyOtherStreamIsDestroyed)
{
    begin(kOrigin);
    joins(kMember, kOrigin);
    end(kOrigin);
    EXPECT_EQ(0u, one_->blocking_captures);
    begin(kOrigin);
    destroy_stream(kMember);
    EXPECT_TRUE(capture_any());
    EXPECT_EQ(1u, one_->blocking_captures);
    end(kOrigin);
    EXPECT_EQ(0u, one_->blocking_captures);
}

/* A stream that was destroyed in the middle of one leaves its entry to others. */
TEST_F(Captures, AreNothingToLaterStreams)
{
    begin(kOrigin);
    joins(kMember, kOrigin);
    struct stream *member = stream(kMember);
    destroy_stream(kMember);
    end(kOrigin);
    bool again = false;
    for (unsigned i = 0; i < 2000 && !again; i++) {
        create_stream(stream_handle(100 + i));
        again = stream(stream_handle(100 + i)) == member;
        EXPECT_EQ(0u, stream(stream_handle(100 + i))->capturing) << i;
        EXPECT_EQ(0u, stream(stream_handle(100 + i))->lane) << i;
        destroy_stream(stream_handle(100 + i));
    }
    EXPECT_TRUE(again) << "entries serve again";
}

TEST_F(Captures, NobodyIsAskedWhileOneIsOpen)
{
    begin(kOrigin);
    const int asked = g_asked;
    EXPECT_EQ(PTDS_STREAM_UNKNOWN, stream(stream_handle(50))->kind);
    EXPECT_EQ(-1, contexts_get(context_handle(50))->device);
    EXPECT_EQ(asked, g_asked);
    end(kOrigin);
    g_flags = CU_STREAM_NON_BLOCKING;
    EXPECT_EQ(PTDS_STREAM_NON_BLOCKING, stream(stream_handle(50))->kind) << "asked afterwards";
}

TEST_F(Captures, AnEventLeadsIntoItUntilItIsRecordedElsewhere)
{
    begin(kOrigin);
    struct call call = after();
    capture_event_recorded(&call, kEvent, kOrigin, 0);
    EXPECT_TRUE(capture_has_event(kEvent));
    capture_event_recorded(&call, kEvent, kMember, 0);
    EXPECT_FALSE(capture_has_event(kEvent));
    capture_event_awaited(&call, kEvent, kMember, 0);
    EXPECT_EQ(1u, one_->blocking_captures) << "waiting for it joins nothing now";
    capture_event_recorded(&call, kEvent, kOrigin, 0);
    capture_event_recorded(&call, kEvent, CU_STREAM_LEGACY, 0);
    EXPECT_FALSE(capture_has_event(kEvent));
    capture_event_recorded(&call, kEvent, kOrigin, 0);
    end(kOrigin);
    begin(kMember);
    EXPECT_FALSE(capture_has_event(kEvent)) << "of a capture that is over";
    end(kMember);
}

/* 0x2 is another stream in every thread. */
/* Two at once: each stream is in its own one, and only that ends with it. */
TEST_F(Captures, EachStreamIsInItsOwnOne)
{
    begin(kOrigin);
    begin(kOther);
    joins(kMember, kOther);
    EXPECT_EQ(2u, captures_open);
    EXPECT_EQ(2u, one_->blocking_captures) << "the member is of the first context";
    end(kOther);
    EXPECT_EQ(1u, captures_open);
    EXPECT_EQ(1u, one_->blocking_captures);
    EXPECT_FALSE(capture_blocks_legacy(two_));
    EXPECT_TRUE(capture_has_event(kEvent)) << "until none is open";
    end(kOrigin);
    EXPECT_FALSE(capture_any());
    EXPECT_EQ(0u, one_->blocking_captures);
    EXPECT_FALSE(capture_has_event(kEvent));
}

TEST_F(Captures, APerThreadStreamIsItsThreads)
{
    begin(CU_STREAM_PER_THREAD);
    EXPECT_TRUE(capture_has_per_thread(thread_get()));
    EXPECT_TRUE(capture_blocks_legacy(one_));
    int elsewhere = -1;
    std::thread([&] {
        t_current = kOne;
        elsewhere = capture_has_per_thread(thread_get());
        end(CU_STREAM_PER_THREAD); /* not its own */
    }).join();
    EXPECT_EQ(0, elsewhere);
    EXPECT_TRUE(capture_any());
    end(CU_STREAM_PER_THREAD);
    EXPECT_FALSE(capture_has_per_thread(thread_get()));
    EXPECT_EQ(0u, one_->blocking_captures);
}

/* Whoever marks streams hears of it before the capture begins; never of the legacy one, which can't be captured. */
TEST_F(Captures, ThePolicyHearsOfItBefore)
{
    static std::vector<CUstream> heard;
    state_hooks.stream_captures = [](struct stream *stream) {
        EXPECT_FALSE(capture_any());
        heard.push_back(stream ? stream->handle : CU_STREAM_PER_THREAD);
    };
    for (CUstream one : {kOrigin, CU_STREAM_PER_THREAD, CU_STREAM_LEGACY}) {
        begin(one);
        end(one);
    }
    state_hooks.stream_captures = nullptr;
    EXPECT_EQ((std::vector<CUstream>{kOrigin, CU_STREAM_PER_THREAD}), heard);
}

TEST_F(Captures, AForkedChildHasNone)
{
    begin(kOrigin);
    struct call call = after();
    capture_event_recorded(&call, kEvent, kOrigin, 0);
    capture_after_fork();
    EXPECT_FALSE(capture_any());
    contexts_after_fork();
    EXPECT_EQ(std::vector<CUcontext>{}, alive());
    t_current = kOne;
    EXPECT_NE(one_, contexts_get(kOne)) << "the parent's entries are the parent's";
    create_stream(kOther);
    begin(kOther);
    EXPECT_FALSE(capture_has_event(kEvent));
    end(kOther);
}

TEST_F(Captures, SixtyFourAtOnce)
{
    Said said;
    for (unsigned i = 0; i < 65; i++) {
        EXPECT_EQ("", said.text());
        create_stream(stream_handle(100 + i));
        begin(stream_handle(100 + i));
    }
    EXPECT_EQ("ptds: more than 64 captures open at once: later ones are not minded\n", said.text());
    EXPECT_EQ(64u, captures_open) << "the last is not minded, and that is said";
    EXPECT_EQ(64u, one_->blocking_captures);
    end(stream_handle(100 + 64));
    EXPECT_EQ(64u, captures_open);
    for (unsigned i = 0; i < 64; i++)
        end(stream_handle(100 + i));
    EXPECT_EQ(0u, one_->blocking_captures);
}

} // namespace

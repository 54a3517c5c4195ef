/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads that record, begin captures, and make and end streams, all at the same time; for the thread sanitizer above all.
 * Without it: counts are exact, no chunk is two threads' at once, and what was opened is closed again.
 */
#include "tests/state/driver.h"

#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <thread>

extern "C" {
#include "interpose/record/file/store.h"
#include "interpose/record/recorder.h"
#include "interpose/record/start.h"
#include "interpose/record/threads.h"
}

namespace
{

enum { THREADS = 8, CALLS = 20000, ROUNDS = 300 };

CUcontext const kOne = context_handle(1);

template <class Work> void crowd(const Work &work)
{
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < THREADS; i++)
        threads.emplace_back([&work, i] {
            t_current = kOne;
            work(i);
        });
    for (std::thread &one : threads)
        one.join();
}

class Crowd : public State
{
protected:
    static void SetUpTestSuite()
    {
        State::SetUpTestSuite();
        const char *folder = getenv("TEST_TMPDIR");
        setenv("PTDS_TRACE", ((folder != nullptr ? folder : "/tmp") + std::string("/crowd.ptds")).c_str(), 1);
        setenv("PTDS_TRACE_LIMIT", "2M", 1); /* far less than they record */
        setenv("PTDS_REPORT", "off", 1);
        recorder_listen();
        start_recording();
        ASSERT_TRUE(recorder_on());
    }
};

__attribute__((noinline)) void record_one(struct context *context, int fails)
{
    struct call call = {};
    call.thread = thread_get();
    call.context = context;
    call.api = API_cuLaunchKernel;
    call.op = PTDS_OP_LAUNCH;
    call.words = 3;
    call.caller = __builtin_return_address(0);
    call.frame = static_cast<const void *const *>(__builtin_frame_address(0)) + 1;
    call.result = fails ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    call.flags = PTDS_CALL_TIMED;
    call.enter = 1;
    threads_call_begun(&call);
    threads_call_waits(&call);
    recorder_call(&call);
}

/* Of all threads, those that have ended too; and that each CALLS chunk has whole records and one owner. */
struct ptds_count counted(std::map<uint32_t, unsigned> *kept)
{
    struct ptds_count sum = {};
    std::set<uint64_t> sequences;
    for (uint64_t i = 0; const struct ptds_chunk *chunk = store_chunk_at(i); i++) {
        const char *at = reinterpret_cast<const char *>(chunk + 1), *end = at + chunk->committed;
        if (chunk->kind == PTDS_CHUNK_COUNTS) {
            const struct ptds_count *count = reinterpret_cast<const struct ptds_count *>(at) + API_cuLaunchKernel * 2;
            sum.calls += count->calls;
            sum.failed += count->failed;
        }
        if (chunk->kind != PTDS_CHUNK_CALLS)
            continue;
        EXPECT_TRUE(sequences.insert(chunk->sequence).second);
        while (at < end) {
            const struct ptds_record *record = reinterpret_cast<const struct ptds_record *>(at);
            EXPECT_NE(0, record->size);
            (*kept)[chunk->thread] += record->kind == PTDS_REC_CALL;
            at += record->size != 0 ? record->size : PTDS_CHUNK_SIZE;
        }
        EXPECT_EQ(at, end);
    }
    return sum;
}

TEST_F(Crowd, RecordsExactCountsAndWholeChunks)
{
    struct context *context = create(kOne);
    std::map<uint32_t, unsigned> before, kept;
    const struct ptds_count was = counted(&before);
    for (int times = 0; times < 2; times++) /* the second ones have their states from the first */
        crowd([context](unsigned) {
            for (int i = 0; i < CALLS; i++)
                record_one(context, i % 100 == 0);
        });
    const struct ptds_count now = counted(&kept);
    EXPECT_EQ(was.calls + 2u * THREADS * CALLS, now.calls);
    EXPECT_EQ(was.failed + 2u * THREADS * CALLS / 100, now.failed);
    unsigned records = 0;
    for (const auto &[thread, count] : kept)
        records += count;
    EXPECT_LT(0u, records);
    EXPECT_GT(2u * THREADS * CALLS, records) << "old detail has left a store that is full";
    EXPECT_LT(0u, store_header()->recycled);
}

TEST_F(Crowd, StreamsThatComeAndGo)
{
    create(kOne);
    std::vector<std::set<uint32_t>> uids(THREADS);
    crowd([&uids](unsigned who) {
        for (unsigned i = 0; i < ROUNDS; i++) {
            CUstream own = stream_handle(1000 * (who + 1) + i % 7);
            uint32_t uid = create_stream(own);
            EXPECT_TRUE(uids[who].insert(uid).second);
            EXPECT_EQ(uid, stream(own)->uid);
            destroy_stream(own);
        }
    });
    std::set<uint32_t> all;
    for (const std::set<uint32_t> &one : uids)
        all.insert(one.begin(), one.end());
    EXPECT_EQ(size_t{THREADS} * ROUNDS, all.size());
}

TEST_F(Crowd, CapturesAtTheSameTime)
{
    struct context *context = create(kOne);
    for (unsigned i = 0; i < 2 * THREADS; i++)
        create_stream(stream_handle(100 + i));
    crowd([context](unsigned who) {
        CUstream origin = stream_handle(100 + who), member = stream_handle(100 + THREADS + who);
        CUevent event = CUevent(0x77000 + uintptr_t{who} * 0x10);
        for (int i = 0; i < ROUNDS; i++) {
            struct call call = after();
            begin(origin);
            EXPECT_TRUE(capture_blocks_legacy(context));
            capture_event_recorded(&call, event, origin, 0);
            EXPECT_TRUE(capture_has_event(event));
            capture_event_awaited(&call, event, member, 0);
            EXPECT_NE(0u, stream(member)->capturing);
            end(origin);
            EXPECT_EQ(0u, stream(member)->capturing);
        }
    });
    EXPECT_EQ(0u, context->blocking_captures);
    EXPECT_FALSE(capture_any());
}

} // namespace

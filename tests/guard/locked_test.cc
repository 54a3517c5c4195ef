/* SPDX-License-Identifier: Apache-2.0
 *
 * Whoever changes what the guard keeps does so under its lock: each waits while another thread has it, and gives it back.
 */
extern "C" {
#include "interpose/guard/carry_out/issue.h"
#include "interpose/guard/carry_out/pool.h"
#include "interpose/guard/carry_out/pool_streams.h"
#include "interpose/guard/object_changes.h"
}

#include "tests/guard/script.h"
#include "tests/guard/waits.h"

extern "C" {
#include "interpose/base/lock.h"
}

namespace
{

class Locked : public Script
{
protected:
    bool waits_before(Way way, uint16_t api, uint8_t op, const std::function<void(struct call *)> &set = nullptr)
    {
        const bool waited = waits([&] { begin(a_, way, api, op, set); });
        end(a_, way);
        return waited;
    }
    bool waits_after(Way way, uint16_t api, uint8_t op, const std::function<void(struct call *)> &set = nullptr)
    {
        begin(a_, way, api, op, set);
        return waits([&] { end(a_, way); });
    }
};

TEST_F(Locked, CallsBeforeTheDriverHasThem)
{
    const CUevent e = event("E");
    records(a_, e);
    struct stream *s = on_ = stream("S");
    EXPECT_TRUE(waits_before(kDefault, API_cuMemsetD8Async, PTDS_OP_MEMSET, touching(&m_, 1)));
    EXPECT_TRUE(waits_before(kOn, API_cuMemsetD8Async, PTDS_OP_MEMSET, touching(&m_, 1)));
    EXPECT_TRUE(waits_before(kOwn, API_cuMemsetD8Async, PTDS_OP_MEMSET, touching(&m_, 1)));
    EXPECT_TRUE(waits_before(kLegacy, API_cuMemsetD8Async, PTDS_OP_MEMSET, touching(&m_, 1)));
    EXPECT_TRUE(waits_before(kNoStream, API_cuCtxSynchronize, PTDS_OP_CTX_SYNC));
    EXPECT_TRUE(waits_before(kNoStream, API_cuEventSynchronize, PTDS_OP_EVENT_SYNC, [=](struct call *C) { C->event = e; }));
    EXPECT_TRUE(
        waits_before(kNoStream, API_cuStreamDestroy_v2, PTDS_OP_STREAM_DESTROY, [=](struct call *C) { C->stream = s; }));
}

/* The host waits for what it found under the lock. */
TEST_F(Locked, CopiesThatTheHostWaitsForFirst)
{
    writes(a_, &m_);
    bool early = false;
    lock_take(&guard_state.lock);
    std::thread copying([this] {
        begin(a_, kDefault, API_cuMemcpyDtoHAsync_v2, PTDS_OP_COPY, [this](struct call *C) {
            touching(&m_, 0)(C);
            C->kinds = PTDS_MEMORY_PAGEABLE | PTDS_MEMORY_DEVICE << 4;
        });
    });
    usleep(20000);
    early = !g_said.empty();
    lock_drop(&guard_state.lock);
    copying.join();
    EXPECT_FALSE(early);
    EXPECT_EQ("host after L0; L0", end(a_));
}

TEST_F(Locked, CallsAfterwards)
{
    const CUevent e = event("E");
    records(a_, e);
    EXPECT_TRUE(waits_after(kDefault, API_cuStreamSynchronize, PTDS_OP_STREAM_SYNC));
    EXPECT_TRUE(waits_after(kNoStream, API_cuCtxSynchronize, PTDS_OP_CTX_SYNC));
    EXPECT_TRUE(waits_after(kNoStream, API_cuEventSynchronize, PTDS_OP_EVENT_SYNC, [=](struct call *C) { C->event = e; }));
    EXPECT_TRUE(waits_after(kDefault, API_cuMemAllocAsync, PTDS_OP_ALLOC_ASYNC));
    EXPECT_TRUE(waits_after(kDefault, API_cuMemcpyDtoHAsync_v2, PTDS_OP_COPY,
                            [](struct call *C) { C->kinds = PTDS_MEMORY_PAGEABLE | PTDS_MEMORY_DEVICE << 4; }));
    EXPECT_FALSE(waits_after(kDefault, API_cuMemsetD8Async, PTDS_OP_MEMSET)) << "there is nothing to learn";
    EXPECT_TRUE(
        waits_after(kNoStream, API_cuEventDestroy_v2, PTDS_OP_EVENT_DESTROY, [=](struct call *C) { C->event = e; }));
}

/* A program that asks again and again is in nobody's way, and loses nothing by it. */
TEST_F(Locked, QuestionsWithoutAnAnswerAreNot)
{
    struct stream *s = stream("S"), *o = stream("O", CU_STREAM_NON_BLOCKING);
    const CUevent e = event("E"), f = event("F");
    const auto asking = [=](struct call *C) { C->event = e; };
    records(b_, e);
    result_ = CUDA_ERROR_NOT_READY;
    EXPECT_FALSE(waits_after(kNoStream, API_cuEventQuery, PTDS_OP_EVENT_QUERY, asking));
    result_ = CUDA_SUCCESS;
    writes(b_, &m_, o);
    records(b_, f, kOn);
    on_ = s;
    awaits(b_, f, kOn);
    records(b_, e, kOn);
    result_ = CUDA_ERROR_NOT_READY;
    EXPECT_TRUE(waits_after(kNoStream, API_cuEventQuery, PTDS_OP_EVENT_QUERY, asking)) << "what was promised takes memory";
    EXPECT_EQ(0u, a_->call.guarded.promise.limits.capacity);
}

TEST_F(Locked, WhatComesAndGoes)
{
    struct context *other = fresh("C2", 1);
    Caller *d = thread(other);
    writes(d, &m_);
    EXPECT_TRUE(waits([&] { pool_streams_make(other, 2, CU_STREAM_DEFAULT, 0, 0); }));
    EXPECT_TRUE(waits([&] { pool_lanes_of(&d->here, 2); }));
    EXPECT_TRUE(waits([&] { object_changes_thread_ends(&d->thread); }));
    EXPECT_TRUE(waits([&] { pool_context_gone(other); }));
    EXPECT_TRUE(waits([&] { object_changes_memory_gone(&m_); }));
    struct context late = {};
    late.handle = CUcontext(0x77);
    EXPECT_TRUE(waits([&] { pool_of(&late); }));
    pool_context_gone(&late);
    EXPECT_FALSE(waits([&] { pool_context_gone(&late); })) << "it has nothing";
}

/* The memory is another one by now: nobody has touched it. */
TEST_F(Locked, AMemoryThatGoesTakesItsHistoryWithIt)
{
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("e1 on L0; L1 after e1; L1", writes(b_, &m_));
    object_changes_memory_gone(&m_);
    EXPECT_EQ(nullptr, m_.ledger);
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ(1, a_->call.guarded.again);
    object_changes_memory_gone(&m_);
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ(0, a_->call.guarded.again) << "nor has anybody a claim on it";
}

/* Memory that a call makes counts as touched by it. */
TEST_F(Locked, MemoryThatACallMakes)
{
    begin(a_, kDefault, API_cuMemAllocAsync, PTDS_OP_ALLOC_ASYNC);
    touching(&m_, 1)(&a_->call);
    EXPECT_EQ("L0", end(a_));
    EXPECT_EQ("e1 on L0; L1 after e1; L1", writes(b_, &m_));
    result_ = CUDA_ERROR_OUT_OF_MEMORY;
    begin(a_, kDefault, API_cuMemAllocAsync, PTDS_OP_ALLOC_ASYNC);
    touching(&n_, 1)(&a_->call);
    EXPECT_EQ("L0", end(a_));
    result_ = CUDA_SUCCESS;
    EXPECT_EQ("L1", writes(b_, &n_)) << "it made none";
}

} // namespace

/* SPDX-License-Identifier: Apache-2.0
 *
 * Contexts and streams by handle: which call ends one, and that a handle which comes back is another one.
 */
#include "tests/state/driver.h"

#include <set>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

extern "C" {
#include "interpose/base/memory.h"
#include "interpose/footprint/footprint.h"
#include "interpose/footprint/kernels.h"
#include "interpose/record/stacks.h"
#include "interpose/state/hooks.h"
}

namespace
{

class Lifetime : public State
{
};

CUcontext const kOne = context_handle(1), kTwo = context_handle(2);
CUstream const kStream = stream_handle(1), kOther = stream_handle(2);

TEST_F(Lifetime, ADestroyThatFailsEndsNothing)
{
    const struct context *context = create(kOne);
    const uint32_t uid = context->uid, stream_uid = create_stream(kStream);
    destroy(kOne, CUDA_ERROR_UNKNOWN);
    EXPECT_EQ(context, objects_context(kOne));
    EXPECT_EQ(uid, context->uid);
    EXPECT_EQ(0u, context->gone);
    EXPECT_EQ(context, objects_context_now(thread_get()));
    EXPECT_EQ(stream_uid, stream(kStream)->uid);
    EXPECT_EQ(std::vector<CUcontext>{kOne}, alive());
}

/* Whatever the place for the handle has in it, or if there is no place. */
TEST_F(Lifetime, ACreationThatFailsMakesNothing)
{
    const struct context *there = create(kOne);
    const CUcontext none = nullptr;
    const struct {
        CUresult result;
        const CUcontext *handle;
    } failures[] = {{CUDA_ERROR_OUT_OF_MEMORY, &kOne},
                    {CUDA_ERROR_OUT_OF_MEMORY, &kTwo},
                    {CUDA_ERROR_OUT_OF_MEMORY, &none},
                    {CUDA_ERROR_INVALID_VALUE, nullptr},
                    {CUDA_SUCCESS, &none}};
    for (const auto &[result, handle] : failures) {
        struct call calls[] = {after(result), after(result), after(result), after(result)};
        objects_context_created(&calls[0], handle);
        objects_primary_retained(&calls[1], handle, 0);
        objects_context_green(&calls[2], handle);
        objects_context_current(&calls[3], handle != nullptr ? *handle : nullptr);
        for (const struct call &call : calls) {
            EXPECT_EQ(nullptr, call.context);
            EXPECT_EQ(after().op, call.op);
        }
        EXPECT_EQ(std::vector<CUcontext>{kOne}, alive());
        EXPECT_EQ(PTDS_CONTEXT_CREATED, there->kind);
    }
    struct call call = after(CUDA_ERROR_OUT_OF_MEMORY);
    objects_stream_created(&call, &kStream, 0, 0);
    EXPECT_EQ(0u, call.stream_uid);
    EXPECT_EQ(after().op, call.op);
}

TEST_F(Lifetime, ADestroyedContextsHandleIsAnotherContext)
{
    const struct context *context = create(kOne);
    const uint32_t uid = context->uid, legacy = context->legacy_uid;
    destroy(kOne);
    EXPECT_EQ(1u, context->gone);
    EXPECT_EQ(std::vector<CUcontext>{}, alive());
    const struct context *again = create(kOne);
    EXPECT_NE(context, again) << "somebody may look at the old one still";
    EXPECT_NE(uid, again->uid);
    EXPECT_NE(legacy, again->legacy_uid);
    EXPECT_EQ(0u, again->gone);
    EXPECT_EQ(5, again->device) << "asked for, since it is current";
    EXPECT_EQ(again, objects_context_now(thread_get()));
}

TEST_F(Lifetime, AReleaseEndsThePrimaryContextWithItsLastReferenceOnly)
{
    const struct context *context = retain(kOne);
    EXPECT_EQ(context, retain(kOne));
    const uint32_t uid = context->uid, stream_uid = create_stream(kStream);
    EXPECT_EQ(0, context->device);
    release(1);
    EXPECT_EQ(context, objects_context(kOne));
    EXPECT_EQ(stream_uid, stream(kStream)->uid);
    release(0, CUDA_ERROR_UNKNOWN);
    EXPECT_EQ(context, objects_context(kOne)) << "one that fails says nothing";
    EXPECT_EQ(uid, context->uid);
    release(0);
    EXPECT_EQ(1u, context->gone);
    EXPECT_EQ(std::vector<CUcontext>{}, alive());
    EXPECT_NE(uid, retain(kOne)->uid);
    EXPECT_NE(stream_uid, stream(kStream)->uid);
}

TEST_F(Lifetime, AReleaseIsOfItsDevicesContext)
{
    const struct context *made = create(kTwo), *context = retain(kOne);
    release(0);
    EXPECT_EQ(1u, context->gone);
    EXPECT_EQ(0u, made->gone) << "which somebody created, and is no primary one";
}

TEST_F(Lifetime, AResetEndsThePrimaryContextWhoeverRefersToIt)
{
    for (CUresult result : {CUDA_ERROR_UNKNOWN, CUDA_SUCCESS}) {
        const struct context *context = retain(kOne);
        struct call call = after();
        objects_primary_leaving(&call, 0);
        call.result = result;
        objects_primary_reset(&call);
        EXPECT_EQ(result == CUDA_SUCCESS, context->gone == 1);
    }
}

TEST_F(Lifetime, AStreamsHandleIsUsedAgainInANewContext)
{
    create(kOne);
    const uint32_t first = create_stream(kStream, CU_STREAM_NON_BLOCKING), other = create_stream(kOther);
    EXPECT_EQ(PTDS_STREAM_NON_BLOCKING, stream(kStream)->kind);
    destroy(kOne); /* and the stream with it, which nobody destroyed */
    const struct context *second = create(kTwo);
    g_flags = CU_STREAM_DEFAULT;
    EXPECT_NE(first, stream(kStream)->uid);
    EXPECT_EQ(PTDS_STREAM_BLOCKING, stream(kStream)->kind) << "the driver says so, not what was remembered";
    EXPECT_EQ(second, stream(kStream)->context);
    EXPECT_NE(other, create_stream(kOther, CU_STREAM_NON_BLOCKING));
    EXPECT_EQ(PTDS_STREAM_NON_BLOCKING, stream(kOther)->kind);
    EXPECT_EQ(second, stream(kOther)->context);
}

TEST_F(Lifetime, ADestroyedStreamsHandleIsAnotherStream)
{
    create(kOne);
    const uint32_t first = create_stream(kStream), other = create_stream(kOther);
    stream(kStream); /* seen last by this thread */
    destroy_stream(kStream);
    g_flags = CU_STREAM_NON_BLOCKING;
    EXPECT_NE(first, stream(kStream)->uid);
    EXPECT_EQ(PTDS_STREAM_NON_BLOCKING, stream(kStream)->kind);
    EXPECT_EQ(other, stream(kOther)->uid) << "the other stays";
}

TEST_F(Lifetime, StreamsOfOtherContextsStay)
{
    create(kOne);
    const uint32_t first = create_stream(kStream);
    create(kTwo);
    const uint32_t second = create_stream(kOther);
    destroy(kTwo);
    t_current = kOne;
    EXPECT_EQ(first, stream(kStream)->uid);
    EXPECT_NE(second, stream(kOther)->uid);
}

/* A context is seen first wherever it turns up; what it is may be learnt later. */
TEST_F(Lifetime, WhatAContextIsMayBeLearntLater)
{
    struct context *context = objects_context(kOne);
    EXPECT_EQ(PTDS_CONTEXT_UNKNOWN, context->kind);
    EXPECT_EQ(context, retain(kOne));
    EXPECT_EQ(PTDS_CONTEXT_PRIMARY, context->kind);
    context = objects_context(kTwo);
    struct call call = after();
    objects_context_green(&call, &kTwo);
    EXPECT_EQ(context, call.context);
    EXPECT_EQ(PTDS_CONTEXT_GREEN, context->kind);
}

TEST_F(Lifetime, ThePolicyHearsOfAContextThatBecomesCurrent)
{
    static std::vector<struct context *> heard;
    state_hooks.context_current = [](struct call *, struct context *context) { heard.push_back(context); };
    struct context *context = create(kOne);
    struct call call = after();
    objects_context_current(&call, kOne);
    EXPECT_EQ(context, call.context);
    objects_context_current(&call, nullptr);
    call.result = CUDA_ERROR_UNKNOWN;
    objects_context_current(&call, kOne);
    create_stream(kStream);
    begin(kStream);
    call.result = CUDA_SUCCESS;
    objects_context_current(&call, kOne); /* not the time to make streams */
    end(kStream);
    state_hooks.context_current = nullptr;
    EXPECT_EQ((std::vector<struct context *>{context, context}), heard);
}

TEST_F(Lifetime, ManyContextsAtOnceAndOneAfterTheOther)
{
    std::set<uint32_t> uids, legacies;
    std::set<const struct context *> entries;
    for (unsigned i = 0; i < 65; i++) {
        const struct context *context = create(context_handle(i));
        uids.insert(context->uid);
        legacies.insert(context->legacy_uid);
        entries.insert(context);
    }
    EXPECT_EQ(65u, uids.size());
    EXPECT_EQ(65u, legacies.size());
    EXPECT_EQ(65u, entries.size());
    EXPECT_EQ(65u, alive().size());
    for (unsigned i = 0; i < 65; i++)
        EXPECT_EQ(1u, uids.count(objects_context(context_handle(i))->uid));
    destroy(context_handle(64));
    EXPECT_EQ(64u, alive().size());
    EXPECT_EQ(1u, uids.count(objects_context(context_handle(63))->uid)) << "the last but one is there";
    for (unsigned i = 0; i < 100; i++) {
        entries.insert(create(context_handle(1000 + i)));
        EXPECT_TRUE(uids.insert(objects_context(context_handle(1000 + i))->uid).second) << "a uid is never used again";
        destroy(context_handle(1000 + i));
    }
    EXPECT_EQ(64u, alive().size());
    EXPECT_LE(entries.size(), 65u + 33) << "those that are gone serve again";
}

/* ---- threads ---- */

/* A thread's heir has its state and its entries, but is another thread, with a stream 0x2 of its own. */
TEST_F(Lifetime, AThreadsHeirIsAnotherThread)
{
    struct context *context = create(kOne);
    create_stream(kStream);
    struct thread *states[2];
    uint32_t uids[2], per_thread[2];
    for (int i = 0; i < 2; i++)
        std::thread([&] {
            t_current = kOne;
            states[i] = thread_get();
            if (i == 1) {
                EXPECT_EQ(nullptr, states[i]->last_stream) << "what the other saw last is nothing to it";
                EXPECT_EQ(nullptr, states[i]->contexts);
            }
            EXPECT_EQ(nullptr, states[i]->last_context);
            uids[i] = states[i]->uid;
            per_thread[i] = thread_in(states[i], context)->per_thread_uid;
            stream(kStream);
            states[i]->region = 7;
        }).join();
    EXPECT_EQ(states[0], states[1]);
    EXPECT_NE(uids[0], uids[1]);
    EXPECT_NE(per_thread[0], per_thread[1]);
    EXPECT_NE(thread_get(), states[1]);
}

/* What an ended thread knew of stacks and kernels is nothing to its heir, and the system has the memory back. */
TEST_F(Lifetime, AThreadsCachesAreEmptyAndTheirPagesGoBack)
{
    const size_t page = getpagesize(), stacks = STACKS_PLACES * sizeof(struct stack_entry),
                 kernels = KERNELS_MET * sizeof(struct kernel_entry);
    footprint_listen();
    struct thread *state = nullptr;
    std::thread([&] {
        state = thread_get();
        if (state->stacks == nullptr)
            state->stacks = static_cast<struct stack_entry *>(memory_keep(stacks));
        if (state->kernels == nullptr)
            state->kernels = static_cast<struct kernel_entry *>(memory_keep(kernels));
        memset(static_cast<void *>(state->stacks), 0x55, stacks);
        memset(static_cast<void *>(state->kernels), 0x55, kernels);
    }).join();
    state_hooks.thread_over = nullptr;
    ASSERT_NE(nullptr, state->stacks);
    const uintptr_t first = (reinterpret_cast<uintptr_t>(state->stacks) + page - 1) / page * page,
                    last = (reinterpret_cast<uintptr_t>(state->stacks) + stacks) / page * page;
    ASSERT_LT(first, last);
    std::vector<unsigned char> there((last - first) / page, 0xff);
    ASSERT_EQ(0, mincore(reinterpret_cast<void *>(first), last - first, there.data()));
    EXPECT_EQ(std::vector<unsigned char>(there.size(), 0), there) << "not in memory";
    const std::vector<char> none(stacks, 0);
    EXPECT_EQ(0, memcmp(state->stacks, none.data(), stacks));
    EXPECT_EQ(0, memcmp(state->kernels, none.data(), kernels));
    thread_get()->kernels = nullptr; /* of this thread, none: nothing to clear */
    footprint_kernels_forget_cache(thread_get());
}

TEST_F(Lifetime, AThreadsEntryOfAContextThatIsGoneIsForgotten)
{
    struct context *context = create(kOne);
    struct thread_context *entry = thread_in(thread_get(), context);
    entry->own_lane = 9;
    const uint32_t first = entry->per_thread_uid;
    EXPECT_EQ(entry, thread_in(thread_get(), context));
    destroy(kOne);
    entry = thread_in(thread_get(), create(kOne));
    EXPECT_NE(first, entry->per_thread_uid);
    EXPECT_EQ(0, entry->own_lane);
    size_t entries = 0;
    for (entry = thread_get()->contexts; entry != nullptr; entry = entry->next)
        entries++;
    EXPECT_EQ(1u, entries);
}

} // namespace

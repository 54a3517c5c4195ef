/* SPDX-License-Identifier: Apache-2.0
 *
 * Contexts and streams by handle: which call ends one, and that a handle which comes back is another one.
 */
#include "tests/state/driver.h"

#include <set>

extern "C" {
#include "interpose/state/streams.h"
#include "interpose/state/contexts.h"
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
    EXPECT_EQ(context, contexts_get(kOne));
    EXPECT_EQ(uid, context->uid);
    EXPECT_EQ(0u, context->gone);
    EXPECT_EQ(context, contexts_now(thread_get()));
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
        contexts_created(&calls[0], handle);
        contexts_primary_retained(&calls[1], handle, 0);
        contexts_green(&calls[2], handle, nullptr);
        contexts_current(&calls[3], handle != nullptr ? *handle : nullptr);
        for (const struct call &call : calls) {
            EXPECT_EQ(nullptr, call.context);
            EXPECT_EQ(after().op, call.op);
        }
        EXPECT_EQ(std::vector<CUcontext>{kOne}, alive());
        EXPECT_EQ(PTDS_CONTEXT_CREATED, there->kind);
    }
    struct call call = after(CUDA_ERROR_OUT_OF_MEMORY);
    streams_created(&call, &kStream, 0, 0);
    EXPECT_EQ(0u, call.stream_uid);
    EXPECT_EQ(after().op, call.op);
}

TEST_F(Lifetime, ADestroyedContextsHandleIsAnotherContext)
{
    const struct context *context = create(kOne);
    const uint32_t uid = context->uid, legacy = context->legacy_uid;
    destroy(kOne);
    EXPECT_EQ(unsigned{CONTEXT_GONE}, context->gone);
    EXPECT_EQ(std::vector<CUcontext>{}, alive());
    const struct context *again = create(kOne);
    EXPECT_NE(context, again) << "somebody may look at the old one still";
    EXPECT_NE(uid, again->uid);
    EXPECT_NE(legacy, again->legacy_uid);
    EXPECT_EQ(0u, again->gone);
    EXPECT_EQ(5, again->device) << "asked for, since it is current";
    EXPECT_EQ(again, contexts_now(thread_get()));
}

TEST_F(Lifetime, AReleaseEndsThePrimaryContextWithItsLastReferenceOnly)
{
    const struct context *context = retain(kOne);
    EXPECT_EQ(context, retain(kOne));
    const uint32_t uid = context->uid, stream_uid = create_stream(kStream);
    EXPECT_EQ(0, context->device);
    release(1);
    EXPECT_EQ(context, contexts_get(kOne));
    EXPECT_EQ(stream_uid, stream(kStream)->uid);
    release(0, CUDA_ERROR_UNKNOWN);
    EXPECT_EQ(context, contexts_get(kOne)) << "one that fails says nothing";
    EXPECT_EQ(0u, context->gone);
    EXPECT_EQ(uid, context->uid);
    release(0);
    EXPECT_EQ(unsigned{CONTEXT_GONE}, context->gone);
    EXPECT_EQ(std::vector<CUcontext>{}, alive());
    EXPECT_NE(uid, retain(kOne)->uid);
    EXPECT_NE(stream_uid, stream(kStream)->uid);
}

TEST_F(Lifetime, AReleaseIsOfItsDevicesContext)
{
    const struct context *made = create(kTwo), *context = retain(kOne);
    release(0);
    EXPECT_EQ(unsigned{CONTEXT_GONE}, context->gone);
    EXPECT_EQ(0u, made->gone) << "which somebody created, and is no primary one";
}

TEST_F(Lifetime, AResetEndsThePrimaryContextWhoeverRefersToIt)
{
    for (CUresult result : {CUDA_ERROR_UNKNOWN, CUDA_SUCCESS}) {
        const struct context *context = retain(kOne);
        struct call call = after();
        contexts_primary_leaving(&call, 0);
        EXPECT_EQ(unsigned{CONTEXT_LEAVES}, context->gone);
        EXPECT_EQ(context, retain(kOne)) << "by another thread meanwhile";
        call.result = result;
        contexts_primary_reset(&call);
        EXPECT_EQ(result == CUDA_SUCCESS ? unsigned{CONTEXT_GONE} : 0u, context->gone);
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

TEST_F(Lifetime, TheCallThatDestroysAStreamIsAboutIt)
{
    static std::vector<CUstream> leaving;
    struct context *context = create(kOne);
    const uint32_t uid = create_stream(kStream);
    state_hooks.stream_leaves = [](CUstream handle) { leaving.push_back(handle); };
    struct call call = after();
    for (CUstream none : {CUstream(nullptr), CU_STREAM_LEGACY, CU_STREAM_PER_THREAD}) {
        streams_leaving(&call, none);
        EXPECT_EQ(nullptr, call.stream);
        EXPECT_EQ(nullptr, call.context);
        EXPECT_EQ(0u, call.stream_uid);
    }
    struct stream *going = stream(kStream);
    streams_leaving(&call, kStream);
    state_hooks.stream_leaves = nullptr;
    EXPECT_EQ(std::vector<CUstream>{kStream}, leaving);
    EXPECT_EQ(going, call.stream);
    EXPECT_EQ(context, call.context);
    EXPECT_EQ(uid, call.stream_uid);
    EXPECT_EQ(uid, call.target_uid);
    EXPECT_EQ(1u, going->gone);
}

/* What others do in it while the driver is asked, and refuses, they do in the same one. */
TEST_F(Lifetime, AContextThatIsNotDestroyedAfterAll)
{
    struct context *context = create(kOne), *other = create(kTwo);
    t_current = kOne;
    const uint32_t uid = create_stream(kStream);
    const struct thread_context *here = thread_in(thread_get(), context);
    struct call call = after();
    contexts_leaving(&call, kOne);
    EXPECT_EQ(unsigned{CONTEXT_LEAVES}, context->gone) << "nobody asks about what is in it";
    EXPECT_EQ(context, contexts_now(thread_get()));
    EXPECT_EQ(uid, stream(kStream)->uid);
    thread_in(thread_get(), other);
    EXPECT_EQ(here, thread_in(thread_get(), context));
    call.result = CUDA_ERROR_UNKNOWN;
    contexts_left(&call);
    EXPECT_EQ(0u, context->gone);
    EXPECT_EQ(context, contexts_get(kOne));
    EXPECT_EQ(uid, stream(kStream)->uid);
    EXPECT_EQ(2u, alive().size());
}

/* Before the call is back, another thread has made one with the same handle. */
TEST_F(Lifetime, AContextWhoseHandleServesAtOnce)
{
    for (const bool is_primary : {false, true}) {
        const struct context *context = create(kOne);
        struct call call = after();
        contexts_leaving(&call, kOne);
        const struct context *next = is_primary ? retain(kOne) : create(kOne);
        EXPECT_NE(context, next);
        EXPECT_EQ(next, contexts_get(kOne));
        contexts_left(&call);
        EXPECT_EQ(unsigned{CONTEXT_GONE}, context->gone);
        EXPECT_EQ(next, contexts_get(kOne));
        EXPECT_EQ(0u, next->gone);
        destroy(kOne);
    }
}

/* Another thread's call has ended it, which so is what this one may be refused for. */
TEST_F(Lifetime, AContextThatTwoThreadsDestroyIsGone)
{
    const struct context *context = create(kOne);
    struct call calls[] = {after(), after(CUDA_ERROR_INVALID_CONTEXT)};
    for (struct call &call : calls)
        contexts_leaving(&call, kOne);
    for (struct call &call : calls)
        contexts_left(&call);
    EXPECT_EQ(unsigned{CONTEXT_GONE}, context->gone);
}

/* The driver refused to destroy it: it is the stream that it was, also for who used it meanwhile. */
TEST_F(Lifetime, AStreamThatIsNotDestroyedAfterAll)
{
    create(kOne);
    const uint32_t uid = create_stream(kStream, CU_STREAM_NON_BLOCKING);
    struct stream *there = stream(kStream);
    there->lane = 7;
    struct call call = after();
    streams_leaving(&call, kStream);
    EXPECT_EQ(there, stream(kStream));
    EXPECT_EQ(uid, there->uid);
    call.result = CUDA_ERROR_UNKNOWN;
    streams_left(&call, kStream);
    EXPECT_EQ(there, stream(kStream));
    EXPECT_EQ(uid, there->uid);
    EXPECT_EQ(7u, there->lane);
    EXPECT_EQ(PTDS_STREAM_NON_BLOCKING, there->kind);
    EXPECT_EQ(0u, there->gone);
    destroy_stream(kStream);
    EXPECT_EQ(unsigned{STREAM_GONE}, there->gone);
    EXPECT_NE(uid, stream(kStream)->uid);
}

/* Before the call is back, another thread has made a stream with the same handle. */
TEST_F(Lifetime, AStreamWhoseHandleServesAtOnce)
{
    create(kOne);
    for (const CUresult result : {CUDA_SUCCESS, CUDA_ERROR_UNKNOWN}) {
        create_stream(kStream);
        struct call call = after();
        streams_leaving(&call, kStream);
        const uint32_t next = create_stream(kStream, CU_STREAM_NON_BLOCKING);
        EXPECT_NE(next, call.stream_uid);
        call.result = result;
        streams_left(&call, kStream);
        EXPECT_EQ(next, stream(kStream)->uid);
        EXPECT_EQ(PTDS_STREAM_NON_BLOCKING, stream(kStream)->kind);
        EXPECT_EQ(0u, stream(kStream)->lane);
    }
}

TEST_F(Lifetime, TheCallThatMakesAStreamIsAboutIt)
{
    struct context *context = create(kOne);
    for (const unsigned flags : {unsigned{CU_STREAM_DEFAULT}, unsigned{CU_STREAM_NON_BLOCKING}}) {
        struct call call = after();
        streams_created(&call, &kStream, flags, 0);
        EXPECT_EQ(PTDS_OP_STREAM_CREATE, call.op);
        EXPECT_EQ(context, call.context);
        EXPECT_EQ(stream(kStream)->uid, call.stream_uid);
        EXPECT_EQ(stream(kStream)->uid, call.target_uid);
        EXPECT_EQ(1u, call.words);
        EXPECT_EQ(flags, call.word[0]);
        EXPECT_EQ(flags ? PTDS_STREAM_NON_BLOCKING : PTDS_STREAM_BLOCKING, stream(kStream)->kind);
        EXPECT_EQ(context, stream(kStream)->context);
    }
}

/* A context is seen first wherever it turns up; what it is may be learnt later. */
TEST_F(Lifetime, WhatAContextIsMayBeLearntLater)
{
    struct context *context = contexts_get(kOne);
    EXPECT_EQ(PTDS_CONTEXT_UNKNOWN, context->kind);
    EXPECT_EQ(context, retain(kOne));
    EXPECT_EQ(PTDS_CONTEXT_PRIMARY, context->kind);
    context = contexts_get(kTwo);
    struct call call = after();
    contexts_green(&call, &kTwo, nullptr);
    EXPECT_EQ(context, call.context);
    EXPECT_EQ(PTDS_CONTEXT_GREEN, context->kind);
}

std::vector<struct context *> g_ended;
void ended(struct context *context)
{
    g_ended.push_back(context);
}

/* Nobody saw it end, and its handle is a new context's: what was in it is gone. */
TEST_F(Lifetime, AContextThatEndedPastTheShim)
{
    g_ended.clear();
    state_hooks.context_ended = ended;
    struct context *context = create(kOne);
    const uint32_t uid = context->uid, stream_uid = create_stream(kStream);
    const struct context *again = create(kOne);
    EXPECT_NE(context, again);
    EXPECT_NE(uid, again->uid);
    EXPECT_EQ(unsigned{CONTEXT_GONE}, context->gone);
    EXPECT_NE(stream_uid, stream(kStream)->uid);
    EXPECT_EQ(std::vector<CUcontext>{kOne}, alive());
    EXPECT_EQ(std::vector<struct context *>{context}, g_ended);
    retain(kOne); /* a primary one by now */
    EXPECT_EQ(unsigned{CONTEXT_GONE}, again->gone);
    struct context *primary = retain(kOne);
    EXPECT_EQ(PTDS_CONTEXT_PRIMARY, primary->kind);
    EXPECT_EQ(2u, g_ended.size()) << "that one comes again and again";
    create(kOne);
    EXPECT_EQ(unsigned{CONTEXT_GONE}, primary->gone);
    EXPECT_EQ(3u, g_ended.size());
    state_hooks.context_ended = nullptr;
}

/* Whom the driver calls back while it makes a context sees it first. */
TEST_F(Lifetime, AContextThatIsSeenWhileItIsMade)
{
    g_ended.clear();
    state_hooks.context_ended = ended;
    struct call call = after();
    contexts_coming(&call);
    struct context *context = contexts_get(kOne);
    contexts_created(&call, &kOne);
    EXPECT_EQ(context, call.context);
    EXPECT_EQ(PTDS_CONTEXT_CREATED, context->kind);
    EXPECT_TRUE(g_ended.empty());
    state_hooks.context_ended = nullptr;
}

void detach(CUcontext handle, struct call call, CUresult result = CUDA_SUCCESS)
{
    contexts_detaching(&call, handle);
    call.result = result;
    contexts_detached(&call);
}

/* Who created it counts, too. */
TEST_F(Lifetime, TheLastDetachEndsAContext)
{
    const struct context *context = create(kOne);
    for (int i = 0; i < 2; i++) {
        struct call call = after(i ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
        contexts_attached(&call, &kOne);
        EXPECT_EQ(i ? context : nullptr, call.context);
    }
    detach(kOne, after());
    EXPECT_EQ(0u, context->gone);
    detach(kOne, after(), CUDA_ERROR_UNKNOWN);
    EXPECT_EQ(0u, context->gone) << "one that fails ends nothing";
    detach(kTwo, after());
    detach(nullptr, after());
    detach(kOne, after());
    EXPECT_EQ(unsigned{CONTEXT_GONE}, context->gone);
    EXPECT_EQ(std::vector<CUcontext>{}, alive());
    context = retain(kOne);
    detach(kOne, after());
    EXPECT_EQ(0u, context->gone) << "nobody knows how many there are";
}

TEST_F(Lifetime, AGreenContextsHandleIsAnotherContext)
{
    CUgreenCtx const green = reinterpret_cast<CUgreenCtx>(0x700), other = reinterpret_cast<CUgreenCtx>(0x800);
    struct call call = after();
    contexts_green(&call, &kOne, green);
    const struct context *first = call.context;
    contexts_green(&call, &kTwo, other);
    const struct context *second = call.context;
    for (CUresult result : {CUDA_ERROR_UNKNOWN, CUDA_SUCCESS}) {
        call.result = result;
        contexts_green_leaving(&call, green);
        EXPECT_EQ(first, call.context);
        contexts_green_left(&call);
        EXPECT_EQ(nullptr, call.context) << "what was allocated in it stays";
        EXPECT_EQ(result == CUDA_SUCCESS ? unsigned{CONTEXT_GONE} : 0u, first->gone);
        EXPECT_EQ(0u, second->gone);
    }
    contexts_green_leaving(&call, green);
    EXPECT_EQ(nullptr, call.context);
    EXPECT_EQ(PTDS_CONTEXT_PRIMARY, retain(kOne)->kind);
    retain(kTwo); /* whose end nobody has seen */
    EXPECT_EQ(unsigned{CONTEXT_GONE}, second->gone);
}

TEST_F(Lifetime, ThePolicyHearsOfAContextThatBecomesCurrent)
{
    static std::vector<struct context *> heard;
    state_hooks.context_current = [](struct call *, struct context *context) { heard.push_back(context); };
    struct context *context = create(kOne);
    struct call call = after();
    contexts_current(&call, kOne);
    EXPECT_EQ(context, call.context);
    contexts_current(&call, nullptr);
    call.result = CUDA_ERROR_UNKNOWN;
    contexts_current(&call, kOne);
    create_stream(kStream);
    begin(kStream);
    call.result = CUDA_SUCCESS;
    contexts_current(&call, kOne); /* not the time to make streams */
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
        EXPECT_EQ(1u, uids.count(contexts_get(context_handle(i))->uid));
    destroy(context_handle(64));
    EXPECT_EQ(64u, alive().size());
    EXPECT_EQ(1u, uids.count(contexts_get(context_handle(63))->uid)) << "the last but one is there";
    for (unsigned i = 0; i < 100; i++) {
        entries.insert(create(context_handle(1000 + i)));
        EXPECT_TRUE(uids.insert(contexts_get(context_handle(1000 + i))->uid).second) << "a uid is never used again";
        destroy(context_handle(1000 + i));
    }
    EXPECT_EQ(64u, alive().size());
    EXPECT_LE(entries.size(), 65u + 33) << "those that are gone serve again";
}

} // namespace

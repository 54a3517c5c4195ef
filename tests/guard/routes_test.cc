/* SPDX-License-Identifier: Apache-2.0
 *
 * Which stream each policy passes on instead of the one that the program named, what the call's record says of it, and
 * which calls stay where they are.
 */
#include "tests/guard/script.h"

extern "C" {
#include "interpose/state/hooks.h"
#include "interpose/env/env.h"
#include "interpose/guard/around_call.h"
#include "interpose/guard/guard.h"
#include "interpose/policy/policy.h"
#include "interpose/policy/target.h"
}

namespace
{

class Routes : public Script
{
protected:
    void SetUp() override
    {
        Script::SetUp();
        before_ = *env_get();
        g_names[nullptr] = "0";
        choose(ENV_POLICY_guarded);
    }
    void TearDown() override
    {
        target_set_process(nullptr);
        *env() = before_;
        policy_choose();
        Script::TearDown();
    }
    static struct env *env()
    {
        return const_cast<struct env *>(env_get());
    }
    void choose(enum env_policy policy)
    {
        env()->policy = policy;
        env()->lanes = 1;
        env()->recording = env()->disable = 0;
        policy_choose();
    }
    static std::string flags(uint32_t flags)
    {
        static const struct {
            uint32_t flag;
            const char *word;
        } words[] = {{PTDS_CALL_LEGACY, " legacy"},
                     {PTDS_CALL_EXPLICIT, " explicit"},
                     {PTDS_CALL_IMPLICIT, " implicit"},
                     {PTDS_CALL_REMAPPED, " moved"},
                     {PTDS_CALL_KEPT_CAPTURE, " kept: capture"},
                     {PTDS_CALL_KEPT_EXCLUDED, " kept: excluded"},
                     {PTDS_CALL_KEPT_REFUSED, " kept: refused"},
                     {PTDS_CALL_KEPT_NO_WAY, " kept: no way"},
                     {PTDS_CALL_CAPTURE_OPEN, " open"},
                     {PTDS_CALL_CAPTURING, " capturing"}};
        std::string text;
        for (const auto &[flag, word] : words)
            text += flags & flag ? word : "";
        return text;
    }
    /* A memset as it goes, up to its end. */
    struct call *made(uint8_t twin = 0, uint16_t api = API_cuMemsetD8Async)
    {
        struct call *C = &a_->call;
        a_->fill(api, PTDS_OP_MEMSET, nullptr);
        C->guarded.settled = C->guarded.alone = 0;
        C->twin = twin;
        C->way = CALL_AS_IS;
        C->flags = C->stream_uid = C->target_uid = 0;
        C->context = nullptr;
        C->stream = nullptr;
        C->target = nullptr;
        C->event = nullptr;
        C->enter = 1;
        C->kinds = PTDS_MEMORY_DEVICE | PTDS_MEMORY_DEVICE << 4;
        return C;
    }
    void finish(struct call *C)
    {
        around_call_entering(C);
        C->result = CUDA_SUCCESS;
        around_call_leaving(C);
        around_call_late(C);
    }
    std::string of(struct call *C, CUstream passed)
    {
        finish(C);
        g_said.clear();
        EXPECT_EQ((C->flags & PTDS_CALL_REMAPPED) != 0, C->target_uid != C->stream_uid);
        return named(passed) + flags(C->flags);
    }
    std::string routes(CUstream stream, uint8_t twin = 0)
    {
        struct call *C = made(twin);
        return of(C, policy_route(C, stream));
    }
    std::string keeps(CUstream stream, uint8_t twin = 0)
    {
        struct call *C = made(twin);
        return of(C, policy_route_keep(C, stream));
    }
    /* "as async", "as twin", or as it is. */
    std::string implicitly(uint16_t api, uint8_t twin = 0)
    {
        struct call *C = made(twin, api);
        policy_route_implicit(C);
        const char *way = C->way == CALL_AS_TWIN ? " as twin" : C->way == CALL_AS_ASYNC ? " as async" : "";
        return of(C, C->target) + way;
    }
    std::string always_legacy()
    {
        struct call *C = made();
        policy_route_legacy(C);
        return of(C, C->target);
    }
    struct env before_ = {};
};

TEST_F(Routes, Guarded)
{
    struct stream *s = stream("S");
    EXPECT_EQ("L0 legacy moved", routes(nullptr));
    EXPECT_EQ("legacy legacy explicit", routes(CU_STREAM_LEGACY));
    EXPECT_EQ("0x2", routes(CU_STREAM_PER_THREAD));
    EXPECT_EQ("0", routes(nullptr, 1)) << "the thread's, at a twin";
    EXPECT_EQ(a_->here.per_thread_uid, a_->call.stream_uid);
    EXPECT_EQ("legacy legacy explicit", routes(CU_STREAM_LEGACY, 1));
    EXPECT_EQ("S", routes(s->handle));
    EXPECT_EQ(s->uid, a_->call.stream_uid);
    EXPECT_EQ(s->uid, a_->call.target_uid);
    EXPECT_EQ(s, a_->call.stream);
    EXPECT_EQ(context_, a_->call.context);
    env()->remap_explicit = 1;
    policy_choose();
    EXPECT_EQ("L0 legacy explicit moved", routes(CU_STREAM_LEGACY));
    EXPECT_EQ(context_->legacy_uid, a_->call.stream_uid);
    env()->remap_explicit = 0;
    policy_choose();
    EXPECT_EQ("legacy legacy explicit", routes(CU_STREAM_LEGACY));
}

TEST_F(Routes, FunctionsThatRefuseTheLegacyStream)
{
    struct stream *s = stream("S");
    EXPECT_EQ("0 legacy kept: refused", keeps(nullptr));
    EXPECT_EQ("legacy legacy kept: refused", keeps(CU_STREAM_LEGACY));
    EXPECT_EQ(context_->legacy_uid, a_->call.stream_uid);
    EXPECT_EQ("0", keeps(nullptr, 1));
    EXPECT_EQ("legacy legacy kept: refused", keeps(CU_STREAM_LEGACY, 1));
    EXPECT_EQ("S", keeps(s->handle));
    EXPECT_EQ("0 legacy implicit kept: no way", always_legacy());
    EXPECT_EQ(context_->legacy_uid, a_->call.stream_uid);
}

TEST_F(Routes, WhatStaysIsOrderedAllTheSame)
{
    EXPECT_EQ("L0", writes(b_, &m_));
    const auto stays = [this](const std::function<void(struct call *)> &route) {
        struct call *C = made();
        touching(&m_, 0)(C);
        route(C);
        const std::string text = said();
        finish(C);
        g_said.clear();
        return text;
    };
    const std::string wait = "e1 on L0; legacy after e1";
    EXPECT_EQ(wait, stays([](struct call *C) { policy_route(C, CU_STREAM_LEGACY); }));
    writes(b_, &m_);
    EXPECT_EQ("e2 on L0; legacy after e2", stays([](struct call *C) { policy_route_keep(C, nullptr); }));
    writes(b_, &m_);
    EXPECT_NE("", stays([](struct call *C) { policy_route_legacy(C); }));
    writes(b_, &m_);
    const struct stream *s = stream("S");
    EXPECT_EQ("e2 on L0; S after e2", stays([=](struct call *C) { policy_route_keep(C, s->handle); }));
}

TEST_F(Routes, ImplicitCalls)
{
    driver_real[API_cuMemsetD8Async][0] = reinterpret_cast<void *>(say_all);
    EXPECT_EQ("L0 legacy implicit moved as async", implicitly(API_cuMemsetD8_v2));
    EXPECT_EQ("0x2 implicit", implicitly(API_cuMemsetD8_v2, 1));
    driver_real[API_cuMemsetD8Async][0] = nullptr;
    EXPECT_EQ("0 legacy implicit kept: no way", implicitly(API_cuMemsetD8_v2));
}

TEST_F(Routes, WhatIsExcluded)
{
    context_->kind = PTDS_CONTEXT_GREEN;
    EXPECT_EQ("0 legacy kept: excluded", routes(nullptr));
    EXPECT_EQ("legacy legacy explicit", routes(CU_STREAM_LEGACY)) << "would stay in any case";
    context_->kind = PTDS_CONTEXT_CREATED;
    EXPECT_EQ("L0 legacy moved", routes(nullptr));
    env()->exclude = "*";
    policy_choose();
    a_->call.caller = reinterpret_cast<const void *>(static_cast<void (*)(void)>(policy_choose));
    EXPECT_EQ("0 legacy kept: excluded", routes(nullptr));
    EXPECT_EQ("0x2", routes(CU_STREAM_PER_THREAD));
    env()->exclude = nullptr;
    policy_choose();
    EXPECT_EQ("L0 legacy moved", routes(nullptr)) << "no list, no question";
}

/* Code that was made while the program ran belongs to no object, so it is in no list. */
TEST_F(Routes, GeneratedCodeIsInNoList)
{
    char code[2][64] = {};
    env()->exclude = "*";
    policy_choose();
    a_->call.caller = code[0];
    EXPECT_EQ("L0 legacy moved", routes(nullptr));
    env()->exclude = nullptr;
    env()->include = "*";
    policy_choose();
    a_->call.caller = code[1];
    EXPECT_EQ("0 legacy kept: excluded", routes(nullptr));
}

TEST_F(Routes, Captures)
{
    struct stream *s = stream("S"), *t = stream("T"), *n = stream("N", CU_STREAM_NON_BLOCKING);
    begin_capture(n);
    EXPECT_EQ("L0 legacy moved open", routes(nullptr)) << "legacy work has nothing to do with that one";
    EXPECT_EQ("N open capturing", routes(n->handle));
    EXPECT_EQ("T open", routes(t->handle));
    EXPECT_EQ("0 legacy implicit kept: capture open", implicitly(API_cuMemsetD8_v2));
    end_capture(n);
    begin_capture(s);
    EXPECT_EQ("0 legacy kept: capture open", routes(nullptr));
    end_capture(s);
    EXPECT_EQ("L0 legacy moved", routes(nullptr));
    EXPECT_EQ("S", routes(s->handle));
}

TEST_F(Routes, Observe)
{
    struct stream *s = stream("S");
    for (const auto policy : {ENV_POLICY_observe, ENV_POLICY_none}) {
        choose(policy);
        EXPECT_EQ("0 legacy", routes(nullptr));
        EXPECT_EQ("legacy legacy explicit", routes(CU_STREAM_LEGACY));
        EXPECT_EQ("0x2", routes(CU_STREAM_PER_THREAD));
        EXPECT_EQ("0 legacy implicit", implicitly(API_cuMemsetD8_v2));
        EXPECT_EQ("0 legacy kept: refused", keeps(nullptr));
        EXPECT_EQ("S", routes(s->handle));
        EXPECT_EQ(s->uid, a_->call.stream_uid);
        struct call *C = made();
        C->enter = 0; /* nobody records it */
        EXPECT_EQ("S", of(C, policy_route(C, s->handle)));
        EXPECT_EQ(nullptr, a_->call.stream);
    }
}

TEST_F(Routes, PerThread)
{
    choose(ENV_POLICY_per_thread);
    EXPECT_EQ("0x2 legacy moved", routes(nullptr));
    EXPECT_EQ(context_->legacy_uid, a_->call.stream_uid);
    EXPECT_EQ(a_->here.per_thread_uid, a_->call.target_uid);
    EXPECT_EQ("legacy legacy explicit", routes(CU_STREAM_LEGACY));
    driver_real[API_cuMemsetD8_v2][1] = reinterpret_cast<void *>(say_all);
    EXPECT_EQ("0x2 legacy implicit moved as twin", implicitly(API_cuMemsetD8_v2));
    driver_real[API_cuMemsetD8_v2][1] = nullptr;
    EXPECT_EQ("0 legacy implicit kept: no way", implicitly(API_cuMemsetD8_v2));
    EXPECT_EQ("0 legacy kept: refused", keeps(nullptr));
}

TEST_F(Routes, OneStream)
{
    choose(ENV_POLICY_stream);
    struct stream *s = stream("S"), *t = stream("T");
    EXPECT_EQ("L0 legacy moved", routes(nullptr));
    target_set_process(s->handle);
    EXPECT_EQ("S legacy moved", routes(nullptr));
    target_set_thread(&a_->thread, t->handle);
    EXPECT_EQ("T legacy moved", routes(nullptr)) << "the thread's own comes first";
    target_set_thread(&a_->thread, nullptr);
    EXPECT_EQ("S legacy moved", routes(nullptr));
    s->context = nullptr;
    EXPECT_EQ("L0 legacy moved", routes(nullptr)) << "of another context";
    s->context = context_;
    s->kind = PTDS_STREAM_NON_BLOCKING;
    begin_capture(s);
    EXPECT_EQ("L0 legacy moved open", routes(nullptr)) << "what a capture gets would not run";
    end_capture(s);
    EXPECT_EQ("S legacy moved", routes(nullptr));
    state_hooks.stream_leaves(t->handle);
    EXPECT_EQ("S legacy moved", routes(nullptr)) << "not that one";
    state_hooks.stream_leaves(s->handle);
    EXPECT_EQ("L0 legacy moved", routes(nullptr)) << "it is gone";
}

/* Streams that go are no thread's any more, whoever destroys them. */
TEST_F(Routes, ThreadsWhoseStreamGoes)
{
    choose(ENV_POLICY_stream);
    struct stream *s = stream("S"), *t = stream("T"), *u = stream("U");
    struct thread *known[2] = {};
    for (struct thread *&one : known) {
        thread_self = nullptr;
        one = thread_get();
    }
    thread_self = nullptr;
    target_set_thread(known[0], s->handle);
    target_set_thread(known[1], t->handle);
    state_hooks.stream_leaves(u->handle);
    EXPECT_EQ(s->handle, known[0]->own_target);
    state_hooks.stream_leaves(s->handle);
    EXPECT_EQ(nullptr, known[0]->own_target);
    EXPECT_EQ(t->handle, known[1]->own_target);
    state_hooks.stream_leaves(t->handle);
    EXPECT_EQ(nullptr, known[1]->own_target);
}

/* Streams are made when a context becomes current, in the way that is wished for, or at its first work. */
TEST_F(Routes, WhenStreamsAreMade)
{
    for (const auto policy : {ENV_POLICY_guarded, ENV_POLICY_stream}) {
        choose(policy);
        for (const bool early : {true, false}) {
            struct context *other = fresh("C2", 0);
            a_ = thread(other);
            if (early)
                state_hooks.context_current(&a_->call, other);
            EXPECT_EQ(early ? 1u : 0u, other->pool->count);
            routes(nullptr);
            EXPECT_EQ(1u, other->pool->count);
            a_ = thread(other); /* a second one: now as many as half of the device's queues */
            if (early)
                state_hooks.context_current(&a_->call, other);
            routes(nullptr);
            EXPECT_EQ(policy == ENV_POLICY_guarded ? 4u : 1u, other->pool->count);
        }
        struct context *green = fresh("C3", 0);
        green->kind = PTDS_CONTEXT_GREEN;
        state_hooks.context_current(&a_->call, green);
        EXPECT_EQ(0u, green->pool->count);
    }
}

/* ---- what is set on the default stream ---- */

std::vector<std::string> g_set;

CUresult set_attribute(CUstream stream, CUstreamAttrID attribute, const CUstreamAttrValue *value)
{
    g_set.push_back(named(stream) + " " + std::to_string(attribute) + " " + std::to_string(value->syncPolicy));
    errno = EIO;
    return CUDA_SUCCESS;
}
CUresult copy_attributes(CUstream to, CUstream from)
{
    g_set.push_back(named(to) + " from " + named(from));
    errno = EIO;
    return CUDA_SUCCESS;
}

TEST_F(Routes, AttributesOfTheDefaultStreamAreItsLanesToo)
{
    using Set = std::vector<std::string>;
    driver_real[API_cuStreamSetAttribute][0] = reinterpret_cast<void *>(set_attribute);
    driver_real[API_cuStreamCopyAttributes][0] = reinterpret_cast<void *>(copy_attributes);
    CUstreamAttrValue value = {};
    value.syncPolicy = CU_SYNC_POLICY_YIELD;
    const CUstreamAttrID id = CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY;
    struct call *C = made();
    const auto sets = [&](uint32_t flags, CUresult result) {
        g_set.clear();
        C->context = context_;
        C->flags = flags;
        C->result = result;
        errno = ENOTTY;
        policy_attribute_set(C, id, &value);
        EXPECT_EQ(ENOTTY, errno);
        return g_set;
    };
    EXPECT_EQ((Set{"L0 3 3", "L1 3 3", "L2 3 3", "L3 3 3"}), sets(PTDS_CALL_LEGACY, CUDA_SUCCESS));
    EXPECT_EQ(Set{}, sets(0, CUDA_SUCCESS));
    EXPECT_EQ(Set{}, sets(PTDS_CALL_LEGACY, CUDA_ERROR_INVALID_VALUE));
    struct stream *s = stream("S"), *t = stream("T");
    const auto copies = [&](CUstream to, uint8_t twin, CUresult result, CUstream from) {
        g_set.clear();
        C->twin = twin;
        C->result = result;
        errno = ENOTTY;
        policy_attributes_copied(C, to, from);
        EXPECT_EQ(ENOTTY, errno);
        return g_set.size();
    };
    EXPECT_EQ(4u, copies(nullptr, 0, CUDA_SUCCESS, s->handle));
    EXPECT_EQ("L3 from S", g_set.back());
    EXPECT_EQ(4u, copies(CU_STREAM_LEGACY, 1, CUDA_SUCCESS, s->handle));
    EXPECT_EQ(4u, copies(CU_STREAM_LEGACY, 1, CUDA_SUCCESS, nullptr));
    EXPECT_EQ("L3 from " + named(CU_STREAM_PER_THREAD), g_set.back()) << "the thread's";
    EXPECT_EQ(0u, copies(nullptr, 1, CUDA_SUCCESS, s->handle)) << "the thread's";
    EXPECT_EQ(0u, copies(t->handle, 0, CUDA_SUCCESS, s->handle));
    EXPECT_EQ(0u, copies(nullptr, 0, CUDA_ERROR_INVALID_VALUE, s->handle));
    guard_on = 0;
    EXPECT_EQ(0u, copies(nullptr, 0, CUDA_SUCCESS, s->handle));
    EXPECT_EQ(Set{}, sets(PTDS_CALL_LEGACY, CUDA_SUCCESS));
}

} // namespace

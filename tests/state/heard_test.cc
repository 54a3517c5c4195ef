/* SPDX-License-Identifier: Apache-2.0
 *
 * What the record hears of contexts, streams and threads: each once, with all that is known of it, in its order.
 */
#include "tests/state/driver.h"

#include <map>
#include <string>
#include <thread>

extern "C" {
#include "interpose/state/contexts.h"
#include "interpose/state/hooks.h"
#include "interpose/state/streams.h"
}

namespace
{

using Heard = std::vector<std::string>;

Heard g_heard;
struct call *g_creator;

/* Numbers in the order in which they are heard of. */
template <class Key> std::string numbered(std::map<Key, size_t> &numbers, const Key &key)
{
    return std::to_string(numbers.emplace(key, numbers.size() + 1).first->second);
}
std::map<uint32_t, size_t> g_contexts, g_streams, g_threads;

const char *life_of(enum ptds_life life)
{
    return life == PTDS_LIFE_SEEN ? "seen" : life == PTDS_LIFE_CREATED ? "created" : life == PTDS_LIFE_GONE ? "gone" : "?";
}

std::string name_of(const struct context *context)
{
    return context == &contexts_none ? "no context" : "context " + numbered(g_contexts, context->uid);
}

void context_seen(const struct context *context, enum ptds_life life)
{
    static const std::map<uint32_t, const char *> kinds = {{PTDS_CONTEXT_UNKNOWN, "unknown"},
                                                           {PTDS_CONTEXT_CREATED, "created"},
                                                           {PTDS_CONTEXT_PRIMARY, "primary"},
                                                           {PTDS_CONTEXT_GREEN, "green"}};
    g_heard.push_back(name_of(context) + " " + life_of(life) + ", " + kinds.at(context->kind) + " of device " +
                      std::to_string(context->device));
}

void stream_seen(struct call *C, uint32_t uid, CUstream handle, const struct context *context, uint32_t kind,
                 enum ptds_life life, int priority)
{
    static const std::map<uint32_t, const char *> kinds = {{PTDS_STREAM_LEGACY, "legacy"},
                                                           {PTDS_STREAM_PER_THREAD, "per-thread"},
                                                           {PTDS_STREAM_BLOCKING, "blocking"},
                                                           {PTDS_STREAM_NON_BLOCKING, "non-blocking"},
                                                           {PTDS_STREAM_UNKNOWN, "unknown"},
                                                           {PTDS_STREAM_SHIM_BLOCKING, "the shim's blocking"},
                                                           {PTDS_STREAM_SHIM_NON_BLOCKING, "the shim's non-blocking"}};
    g_heard.push_back("stream " + numbered(g_streams, uid) + " " + life_of(life) + ", " + kinds.at(kind) + " " +
                      std::to_string(reinterpret_cast<uintptr_t>(handle)) + " in " + name_of(context) +
                      (priority ? " of priority " + std::to_string(priority) : "") + (C ? " by a call" : ""));
    g_creator = C;
}

class Hears : public State
{
protected:
    void SetUp() override
    {
        State::SetUp();
        thread_get();
        t_current = nullptr;
        state_hooks.context_seen = context_seen;
        state_hooks.stream_seen = stream_seen;
        g_heard.clear();
        g_contexts.clear();
        g_streams.clear();
        g_threads.clear();
    }
    void TearDown() override
    {
        state_hooks = {};
        State::TearDown();
    }
    /* Since it was asked last. */
    static Heard heard()
    {
        Heard all;
        all.swap(g_heard);
        return all;
    }
};

CUcontext const kOne = context_handle(1), kTwo = context_handle(2);
CUstream const kStream = stream_handle(1), kOther = stream_handle(2); /* 150994960 and 150994976 */

TEST_F(Hears, OfContexts)
{
    t_current = kOne;
    struct call call = after();
    contexts_created(&call, &kOne);
    EXPECT_EQ(PTDS_OP_CTX_CREATE, call.op);
    EXPECT_EQ((Heard{"context 1 created, created of device 5", "stream 1 seen, legacy 1 in context 1"}), heard());
    contexts_get(kOne);
    EXPECT_EQ(Heard{}, heard());
    contexts_get(kTwo); /* it is not current, so nobody knows of which device it is */
    EXPECT_EQ((Heard{"context 2 seen, unknown of device -1", "stream 2 seen, legacy 1 in context 2"}), heard());
    destroy(kTwo, CUDA_ERROR_UNKNOWN);
    EXPECT_EQ(Heard{}, heard());
    destroy(kTwo);
    EXPECT_EQ(Heard{"context 2 gone, unknown of device -1"}, heard());
    t_current = kTwo;
    contexts_green(&call, &kTwo, nullptr);
    EXPECT_EQ((Heard{"context 3 created, green of device 5", "stream 3 seen, legacy 1 in context 3"}), heard());
    destroy(kOne);
    destroy(context_handle(7)); /* which nobody has seen */
    EXPECT_EQ(Heard{"context 1 gone, created of device 5"}, heard());
}

TEST_F(Hears, OfPrimaryContexts)
{
    t_current = kTwo;
    const int asked = g_asked;
    for (const CUdevice device : {0, 3}) {
        struct call call = after();
        CUcontext handle = device ? kTwo : kOne;
        contexts_primary_retained(&call, &handle, device);
        EXPECT_EQ(PTDS_OP_CTX_CREATE, call.op);
        EXPECT_EQ(device, call.context->device);
    }
    EXPECT_EQ(asked, g_asked) << "the call says of which device it is";
    EXPECT_EQ((Heard{"context 1 created, primary of device 0", "stream 1 seen, legacy 1 in context 1",
                     "context 2 created, primary of device 3", "stream 2 seen, legacy 1 in context 2"}),
              heard());
    struct call call = after();
    contexts_primary_leaving(&call, 3);
    EXPECT_EQ(kTwo, call.context->handle);
    contexts_primary_leaving(&call, 1);
    EXPECT_EQ(nullptr, call.context);
    g_active = 0;
    contexts_primary_left(&call, 1); /* of a device that nobody has seen one of */
    contexts_primary_leaving(&call, 3);
    contexts_primary_left(&call, 3);
    EXPECT_EQ(Heard{"context 2 gone, primary of device 3"}, heard());
    contexts_primary_leaving(&call, 0);
    contexts_primary_reset(&call);
    EXPECT_EQ(Heard{"context 1 gone, primary of device 0"}, heard());
}

/* Else all work in it would count as done, and its memory as gone. */
TEST_F(Hears, OfAContextsEndOnlyWhenItEnds)
{
    retain(kOne);
    EXPECT_EQ(unsigned{PTDS_OP_NONE}, release(1)) << "somebody else refers to it";
    EXPECT_EQ(unsigned{PTDS_OP_NONE}, release(0, CUDA_ERROR_UNKNOWN));
    EXPECT_EQ(unsigned{PTDS_OP_CTX_DESTROY}, release(0));
    EXPECT_EQ(unsigned{PTDS_OP_NONE}, release(0)) << "nobody has seen one";
    create(kTwo);
    EXPECT_EQ(unsigned{PTDS_OP_NONE}, destroy(context_handle(7))) << "that is not the current one";
    EXPECT_EQ(unsigned{PTDS_OP_NONE}, destroy(kTwo, CUDA_ERROR_UNKNOWN));
    EXPECT_EQ(unsigned{PTDS_OP_CTX_DESTROY}, destroy(kTwo));
}

TEST_F(Hears, OfAWaitForTheContextThatItNames)
{
    struct context *other = create(kOne), *current = create(kTwo);
    struct call call = after();
    contexts_waited(&call, kOne);
    EXPECT_EQ(other, call.context);
    contexts_waited(&call, kTwo);
    EXPECT_EQ(current, call.context);
    call = after();
    contexts_waited(&call, nullptr); /* the current one, as without a name */
    EXPECT_EQ(nullptr, call.context);
    call.result = CUDA_ERROR_INVALID_CONTEXT;
    contexts_waited(&call, context_handle(7));
    EXPECT_EQ(nullptr, call.context);
}

/* One that was seen before it is known what it is: its device is known from then on. */
TEST_F(Hears, OfTheDeviceLater)
{
    struct context *context = contexts_get(kOne);
    EXPECT_EQ(-1, context->device);
    struct call call = after();
    contexts_primary_retained(&call, &kOne, 3);
    EXPECT_EQ(context, call.context);
    EXPECT_EQ(3, context->device);
    EXPECT_EQ(PTDS_CONTEXT_PRIMARY, context->kind);
    contexts_primary_leaving(&call, 3);
    EXPECT_EQ(context, call.context);
}

/* A created one of the same device is no primary one, and the primary one of another device is another one. */
TEST_F(Hears, WhichOneIsPrimary)
{
    t_current = kOne;
    const struct context *created = create(kOne);
    EXPECT_EQ(5, created->device);
    struct call call = after();
    contexts_primary_retained(&call, &kTwo, 4);
    contexts_primary_leaving(&call, created->device);
    EXPECT_EQ(nullptr, call.context);
    contexts_primary_leaving(&call, 4);
    EXPECT_EQ(kTwo, call.context->handle);
}

TEST_F(Hears, OfStreams)
{
    create(kOne);
    heard();
    struct call call = after();
    streams_created(&call, &kStream, CU_STREAM_NON_BLOCKING, -5);
    EXPECT_EQ(Heard{"stream 2 created, non-blocking 150994960 in context 1 of priority -5 by a call"}, heard());
    EXPECT_EQ(&call, g_creator);
    stream(kStream);
    EXPECT_EQ(Heard{}, heard());
    g_flags = CU_STREAM_NON_BLOCKING;
    stream(kOther);
    EXPECT_EQ(Heard{"stream 3 seen, non-blocking 150994976 in context 1"}, heard());
    destroy_stream(kStream);
    EXPECT_EQ(Heard{"stream 2 gone, non-blocking 150994960 in context 1"}, heard());
    EXPECT_NE(0u, streams_own(call.context, kStream, 0, 3));
    EXPECT_EQ(Heard{"stream 4 created, the shim's blocking 150994960 in context 1 of priority 3"}, heard());
    destroy(kOne);
    EXPECT_EQ(Heard{"context 1 gone, created of device -1"}, heard()) << "its streams go with it";
}

TEST_F(Hears, OfAThreadsOwnStream)
{
    struct context *one = create(kOne);
    heard();
    thread_in(thread_get(), one);
    thread_in(thread_get(), one);
    EXPECT_EQ(Heard{"stream 2 seen, per-thread 2 in context 1"}, heard());
    struct context *two = create(kTwo);
    thread_in(thread_get(), two);
    thread_in(thread_get(), one);
    EXPECT_EQ((Heard{"context 2 created, created of device -1", "stream 3 seen, legacy 1 in context 2",
                     "stream 4 seen, per-thread 2 in context 2"}),
              heard());
}

/* Who asks where no context is current gets an answer, and a better one later. */
TEST_F(Hears, OfAStreamWithoutAContext)
{
    struct stream *unknown = stream(kStream);
    EXPECT_EQ(&contexts_none, unknown->context);
    EXPECT_EQ(&contexts_none, contexts_now(thread_get()));
    EXPECT_EQ(Heard{"stream 1 seen, blocking 150994960 in no context"}, heard());
    struct context *one = create(kOne);
    EXPECT_EQ(unknown, stream(kStream));
    EXPECT_EQ(one, unknown->context);
    t_current = nullptr;
    EXPECT_EQ(one, stream(kStream)->context) << "it stays";
    destroy_stream(kStream);
    create_stream(kOther);
    EXPECT_EQ("stream 3 created, blocking 150994976 in no context by a call", g_heard.back());
    destroy_stream(kOther);
}

/* Not even of whether a stream is blocking, or of which device a context is. */
TEST_F(Hears, WhereTheDriverTellsNothing)
{
    const auto flags = driver.cuStreamGetFlags;
    const auto device = driver.cuCtxGetDevice;
    const auto current = driver.cuCtxGetCurrent;
    t_current = kOne;
    driver.cuStreamGetFlags = nullptr;
    driver.cuCtxGetDevice = nullptr;
    EXPECT_EQ(-1, contexts_get(kOne)->device);
    EXPECT_EQ(PTDS_STREAM_UNKNOWN, stream(kStream)->kind);
    driver.cuStreamGetFlags = [](CUstream, unsigned *its) {
        return *its = CU_STREAM_NON_BLOCKING, CUDA_ERROR_INVALID_HANDLE;
    };
    driver.cuCtxGetDevice = [](CUdevice *its) { return *its = 2, CUDA_ERROR_INVALID_CONTEXT; };
    EXPECT_EQ(PTDS_STREAM_UNKNOWN, stream(kStream)->kind);
    t_current = kTwo;
    EXPECT_EQ(-1, contexts_get(kTwo)->device);
    driver.cuStreamGetFlags = flags;
    driver.cuCtxGetDevice = device;
    EXPECT_EQ(PTDS_STREAM_BLOCKING, stream(kStream)->kind) << "it is asked again";
    driver.cuCtxGetCurrent = [](CUcontext *its) { return *its = context_handle(3), CUDA_ERROR_NOT_INITIALIZED; };
    EXPECT_EQ(-1, contexts_get(context_handle(3))->device);
    EXPECT_EQ(&contexts_none, contexts_now(thread_get()));
    driver.cuCtxGetCurrent = nullptr;
    EXPECT_EQ(-1, contexts_get(context_handle(4))->device);
    EXPECT_EQ(&contexts_none, contexts_now(thread_get()));
    driver.cuCtxGetCurrent = current;
    destroy_stream(kStream);
}

/* Begin, and end in the order in which others need it: with the driver's calls forbidden, told, and emptied for an heir. */
TEST_F(Hears, OfThreads)
{
    static Heard threads;
    threads.clear();
    state_hooks.thread_began = [](struct thread *thread) { threads.push_back(thread == thread_self ? "began" : "?"); };
    state_hooks.thread_ends = [](struct thread *thread) { threads.push_back(thread->contexts ? "ends" : "?"); };
    state_hooks.thread_ended = [](struct thread *thread) { threads.push_back(thread->contexts ? "ended" : "?"); };
    state_hooks.thread_over = [](struct thread *thread) {
        threads.push_back(!thread->contexts && !thread->last_context ? "over" : "?");
    };
    struct context *context = create(kOne);
    std::thread([&] {
        t_current = kOne;
        thread_in(thread_get(), context);
        thread_get();
    }).join();
    EXPECT_EQ((Heard{"began", "ends", "ended", "over"}), threads);
}

/* Those of ended threads serve others in the same context, and nobody's number comes twice. */
TEST_F(Hears, EntriesServeAgain)
{
    struct context *one = create(kOne), *two = create(kTwo);
    std::map<struct thread_context *, int> entries;
    std::map<uint32_t, int> uids;
    for (int i = 0; i < 20; i++)
        std::thread([&] {
            for (struct context *context : {one, two}) {
                struct thread_context *entry = thread_in(thread_get(), context);
                EXPECT_EQ(context, entry->context);
                EXPECT_EQ(context->uid, entry->context_uid);
                EXPECT_EQ(entry, thread_get()->last_context);
                EXPECT_EQ(entry, thread_in(thread_get(), context));
                entries[entry]++;
                uids[entry->per_thread_uid]++;
            }
        }).join();
    EXPECT_EQ(2u, entries.size());
    EXPECT_EQ(40u, uids.size());
    size_t all = 0;
    for (const struct thread *thread = thread_all(); thread; thread = thread->next_all)
        all++;
    EXPECT_LE(all, 3u) << "states, too";
    EXPECT_GE(all, 2u);
}

/* The context that the thread was in last is the one that it is in now, as long as it is the same one. */
TEST_F(Hears, WhichContextIsCurrent)
{
    struct context *one = create(kOne), *two = create(kTwo);
    for (struct context *context : {one, two, one}) {
        thread_in(thread_get(), context);
        for (struct context *now : {one, two}) {
            t_current = now->handle;
            EXPECT_EQ(now, contexts_now(thread_get()));
        }
    }
    thread_in(thread_get(), two);
    destroy(kTwo);
    t_current = kTwo;
    struct context *again = contexts_now(thread_get());
    EXPECT_NE(two, again);
    EXPECT_EQ(kTwo, again->handle);
    EXPECT_EQ(0u, again->gone);
    const struct context *no_context = contexts_get(nullptr);
    EXPECT_EQ(nullptr, no_context);
}

/* Handles that share a chain. */
TEST_F(Hears, ManyStreams)
{
    create(kOne);
    std::map<uint32_t, unsigned> uids;
    const auto handle = [](unsigned i) { return CUstream(0x1000000 + uintptr_t{i} * 0x200); };
    for (unsigned i = 0; i < 20000; i++)
        uids[create_stream(handle(i))] = i;
    EXPECT_EQ(20000u, uids.size());
    for (unsigned i = 0; i < 20000; i += 2)
        destroy_stream(handle(i));
    for (const auto &[uid, i] : uids) {
        if (i % 2) {
            ASSERT_EQ(uid, stream(handle(i))->uid);
            ASSERT_EQ(0u, stream(handle(i))->gone);
        }
    }
    heard();
    std::vector<struct stream *> entries;
    for (unsigned i = 1; i < 20000; i += 2)
        entries.push_back(stream(handle(i)));
    destroy(kOne);
    for (const struct stream *entry : entries)
        ASSERT_EQ(unsigned{STREAM_GONE}, entry->gone);
    create(kTwo);
    for (unsigned i = 0; i < 20000; i++)
        ASSERT_EQ(0u, uids.count(stream(handle(i))->uid)) << i;
}

} // namespace

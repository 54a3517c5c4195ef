/* SPDX-License-Identifier: Apache-2.0
 *
 * The records that others refer to: contexts, streams, kernels, names, threads, stacks, what a trace says first.
 */
#include "tests/record/recording.h"

#include <algorithm>
#include <sys/prctl.h>
#include <unistd.h>

extern "C" {
#include "interpose/base/loaded.h"
#include "interpose/base/elf.h"
#include "interpose/code/code.h"
#include "interpose/record/file/define.h"
#include "interpose/record/file/store.h"
#include "interpose/record/kernel_code.h"
#include "interpose/record/recorder.h"
#include "interpose/record/threads.h"
#include "interpose/state/hooks.h"
}

namespace
{

class Definitions : public Recording
{
protected:
    using Texts = std::vector<std::string>;
    /* The largest record that a chunk has room for. */
    static constexpr size_t kLargest = PTDS_CHUNK_SIZE - sizeof(struct ptds_chunk);
};

TEST_F(Definitions, Contexts)
{
    struct context context = {};
    context.handle = CUcontext(0x1234);
    context.uid = 5, context.device = 2, context.kind = PTDS_CONTEXT_PRIMARY;
    recorder_context(&context, PTDS_LIFE_CREATED);
    auto written = last<ptds_rec_CONTEXT>(PTDS_REC_CONTEXT);
    EXPECT_EQ(0x1234u, written.handle);
    EXPECT_EQ(5u, written.uid);
    EXPECT_EQ(2, written.device);
    EXPECT_EQ(unsigned{PTDS_LIFE_CREATED}, written.state);
    EXPECT_EQ(unsigned{PTDS_CONTEXT_PRIMARY}, written.kind);
    EXPECT_NE(0u, written.ticks);
}

TEST_F(Definitions, Streams)
{
    struct thread *before = thread_self;
    thread_self = &thread_;
    recorder_stream(9, CUstream(0x77), &context_, PTDS_STREAM_NON_BLOCKING, PTDS_LIFE_CREATED, -4, 31);
    thread_self = nullptr;
    auto written = last<ptds_rec_STREAM>(PTDS_REC_STREAM);
    EXPECT_EQ(9u, written.uid);
    EXPECT_EQ(0x77u, written.handle);
    EXPECT_EQ(3u, written.context);
    EXPECT_EQ(unsigned{PTDS_STREAM_NON_BLOCKING}, written.kind);
    EXPECT_EQ(unsigned{PTDS_LIFE_CREATED}, written.state);
    EXPECT_EQ(-4, written.priority);
    EXPECT_EQ(7u, written.thread);
    EXPECT_EQ(31u, written.stack);
    EXPECT_NE(0u, written.ticks);
    recorder_stream(10, CUstream(0x78), nullptr, PTDS_STREAM_BLOCKING, PTDS_LIFE_GONE, 0, 0);
    thread_self = before;
    written = last<ptds_rec_STREAM>(PTDS_REC_STREAM);
    EXPECT_EQ(0u, written.context);
    EXPECT_EQ(0u, written.thread);
}

/* The creating call's stack, if there is such a call. */
TEST_F(Definitions, AreHeardOf)
{
    recorder_listen();
    struct call call = made();
    STATE_TELL(stream_seen, &call, 9, CUstream(0x77), &context_, PTDS_STREAM_BLOCKING, PTDS_LIFE_CREATED, 1);
    EXPECT_NE(0u, last<ptds_rec_STREAM>(PTDS_REC_STREAM).stack);
    EXPECT_EQ(1, last<ptds_rec_STREAM>(PTDS_REC_STREAM).priority);
    STATE_TELL(stream_seen, nullptr, 9, CUstream(0x77), &context_, PTDS_STREAM_BLOCKING, PTDS_LIFE_GONE, 1);
    EXPECT_EQ(0u, last<ptds_rec_STREAM>(PTDS_REC_STREAM).stack);
    STATE_TELL(context_seen, &context_, PTDS_LIFE_GONE);
    EXPECT_EQ(3u, last<ptds_rec_CONTEXT>(PTDS_REC_CONTEXT).uid);
    STATE_TELL(thread_began, &thread_);
    EXPECT_NE(nullptr, thread_.counts);
    STATE_TELL(thread_ended, &thread_);
    EXPECT_EQ(nullptr, thread_.counts);
    state_hooks = {};
}

TEST_F(Definitions, Kernels)
{
    const uint32_t layout[] = {0x00000008, 0x00080004};
    recorder_kernel(0x99, 4, 2, layout, 17, "spin");
    auto written = last<ptds_rec_KERNEL>(PTDS_REC_KERNEL);
    EXPECT_EQ(0x99u, written.handle);
    EXPECT_EQ(4u, written.uid);
    EXPECT_EQ(2u, written.params);
    EXPECT_EQ(17u, written.variables);
    EXPECT_EQ(0, memcmp(bytes_of(PTDS_REC_KERNEL).back().data() + sizeof written, layout, sizeof layout));
    auto name = last<ptds_rec_STRING>(PTDS_REC_STRING);
    EXPECT_EQ(name.id, written.name);
    EXPECT_EQ(unsigned{PTDS_ROLE_KERNEL}, name.role);
    EXPECT_EQ("spin", texts<ptds_rec_STRING>(PTDS_REC_STRING).back());
    recorder_kernel(0x9a, 5, UINT32_MAX, nullptr, 0, nullptr);
    written = last<ptds_rec_KERNEL>(PTDS_REC_KERNEL);
    EXPECT_EQ(0u, written.name);
    EXPECT_EQ(sizeof written, bytes_of(PTDS_REC_KERNEL).back().size());
}

TEST_F(Definitions, KernelFacts)
{
    static code_facts facts;
    memset(&facts, 0, sizeof facts);
    facts.verdict = CODE_INDIRECT, facts.why = CODE_WHY_NONE, facts.flags = CODE_SYSTEM, facts.is_ptx = 1, facts.arch = 90;
    facts.at = 12, facts.bases = 2;
    facts.base[0].use = CODE_READ | CODE_FAR | CODE_EITHER; /* how far, but not how sure, is told */
    facts.base[0].through = CODE_READ | CODE_WRITE, facts.base[0].beyond = CODE_WRITE, facts.base[0].count = 2;
    facts.base[0].term[0] = {CODE_RANGE, 16, 32}, facts.base[0].term[1] = {CODE_VARIABLE, 3, 0};
    facts.base[1].use = CODE_READ | CODE_WRITE | CODE_ATOMIC, facts.base[1].count = 1;
    facts.base[1].term[0] = {CODE_PARAMETER, 8, 12};
    kernel_code_record(4, &facts);
    auto written = last<ptds_rec_KERNEL_FACTS>(PTDS_REC_KERNEL_FACTS);
    EXPECT_EQ(4u, written.kernel);
    EXPECT_EQ(12u, written.at);
    EXPECT_EQ(90, written.arch);
    EXPECT_EQ(2, written.bases);
    EXPECT_EQ(PTDS_CODE_INDIRECT, written.verdict);
    EXPECT_EQ(PTDS_CODE_WHY_NONE, written.why);
    EXPECT_EQ(PTDS_CODE_SYSTEM, written.flags);
    EXPECT_EQ(1, written.ptx);
    const uint32_t words[] = {9 | 3 << 4 | 2 << 8 | 2 << 12 | 1 << 16 | 2 << 18, 16 | 32 << 16, 3, 7 | 1 << 12,
                              8 | 12 << 16};
    const auto bytes = bytes_of(PTDS_REC_KERNEL_FACTS).back();
    ASSERT_LE(sizeof written + sizeof words, bytes.size());
    EXPECT_EQ(0, memcmp(bytes.data() + sizeof written, words, sizeof words));
}

/* All that there can be, and more: which is no facts. */
TEST_F(Definitions, ManyKernelFacts)
{
    static code_facts facts;
    memset(&facts, 0, sizeof facts);
    facts.bases = CODE_BASES;
    for (code_base &base : facts.base)
        base.use = CODE_READ, base.count = CODE_TERMS, base.term[0] = {CODE_PARAMETER, 8, 12};
    kernel_code_record(5, &facts);
    EXPECT_EQ(PTDS_CODE_DIRECT, last<ptds_rec_KERNEL_FACTS>(PTDS_REC_KERNEL_FACTS).verdict);
    EXPECT_EQ(2 * 192, last<ptds_rec_KERNEL_FACTS>(PTDS_REC_KERNEL_FACTS).bases) << "12 terms are two of at most 8";
    EXPECT_EQ(sizeof(ptds_rec_KERNEL_FACTS) + 192 * (2 + 12) * sizeof(uint32_t),
              bytes_of(PTDS_REC_KERNEL_FACTS).back().size());
    facts.bases = CODE_BASES + 1;
    kernel_code_record(5, &facts);
    EXPECT_EQ(PTDS_CODE_UNKNOWN, last<ptds_rec_KERNEL_FACTS>(PTDS_REC_KERNEL_FACTS).verdict);
}

TEST_F(Definitions, WhatWentPastOrAway)
{
    recorder_untabled("cuNewest", 1, 13020, 7);
    auto untabled = last<ptds_rec_UNTABLED>(PTDS_REC_UNTABLED);
    EXPECT_EQ(1u, untabled.handed);
    EXPECT_EQ(13020u, untabled.version);
    EXPECT_EQ(7u, untabled.calls);
    EXPECT_EQ("cuNewest", texts<ptds_rec_UNTABLED>(PTDS_REC_UNTABLED).back());
    recorder_bypass(PTDS_BYPASS_NAMESPACE_USER, "libother.so", 6);
    auto bypass = last<ptds_rec_BYPASS>(PTDS_REC_BYPASS);
    EXPECT_EQ(unsigned{PTDS_BYPASS_NAMESPACE_USER}, bypass.what);
    EXPECT_EQ(6u, bypass.functions);
    EXPECT_EQ("libother.so", texts<ptds_rec_BYPASS>(PTDS_REC_BYPASS).back());
    recorder_process(PTDS_PROCESS_FORK, 4711);
    auto process = last<ptds_rec_PROCESS>(PTDS_REC_PROCESS);
    EXPECT_EQ(unsigned{PTDS_PROCESS_FORK}, process.what);
    EXPECT_EQ(4711u, process.pid);
    EXPECT_NE(0u, process.ticks);
}

/* One for each text and role. */
TEST_F(Definitions, Texts)
{
    const uint32_t one = define_string(PTDS_ROLE_REGION, "solve");
    EXPECT_EQ(one, define_string(PTDS_ROLE_REGION, "solve"));
    EXPECT_EQ(one + 1, define_string(PTDS_ROLE_REGION, "solver"));
    EXPECT_EQ(one + 2, define_string(PTDS_ROLE_KERNEL, "solve"));
    EXPECT_EQ(one + 3, define_string(PTDS_ROLE_KERNEL, ""));
    EXPECT_EQ((Texts{"solve", "solver", "solve", ""}), texts<ptds_rec_STRING>(PTDS_REC_STRING));
    EXPECT_EQ(1u, one);
}

/* As much of a text as a chunk has room for, in whole words. */
TEST_F(Definitions, LongTexts)
{
    for (const auto &[length, kept] : {std::pair{kLargest, kLargest - sizeof(ptds_rec_STRING) - 8},
                                       {kLargest - sizeof(ptds_rec_STRING) - 8, kLargest - sizeof(ptds_rec_STRING) - 8},
                                       {kLargest - sizeof(ptds_rec_STRING) - 9, kLargest - sizeof(ptds_rec_STRING) - 9},
                                       {size_t{9}, size_t{9}}}) {
        define_string(PTDS_ROLE_REGION, std::string(length, 'x').c_str());
        EXPECT_EQ(kept, texts<ptds_rec_STRING>(PTDS_REC_STRING).back().size()) << length;
        const size_t whole = bytes_of(PTDS_REC_STRING).back().size();
        EXPECT_EQ((sizeof(ptds_rec_STRING) + kept + 7) / 8 * 8, whole) << "no more than it needs";
    }
}

/* What does not fit into a chunk comes into the next one, and what fits just fits. */
TEST_F(Definitions, FillTheirChunks)
{
    uint64_t chunks = store_header()->chunks;
    for (uint32_t i = 0; store_header()->chunks == chunks; i++)
        recorder_process(PTDS_PROCESS_FORK, i);
    const struct ptds_chunk *full = nullptr, *next = nullptr;
    for (uint64_t i = 0; store_chunk_at(i); i++) {
        if (store_chunk_at(i)->kind != PTDS_CHUNK_DEFINITIONS)
            continue;
        full = next;
        next = store_chunk_at(i);
    }
    ASSERT_TRUE(full);
    EXPECT_LE(kLargest - full->committed, sizeof(ptds_rec_PROCESS) - 1);
    EXPECT_EQ(sizeof(ptds_rec_PROCESS), next->committed);
}

/* What there is no chunk for is counted. */
TEST_F(Definitions, ThereIsNoRoomFor)
{
    size_t old;
    while (store_chunk(PTDS_CHUNK_DEFINITIONS, 0, &old)) {
    }
    ptds_rec_PROCESS process = {};
    int kept = 0;
    while (kept < 5000 && define(PTDS_REC_PROCESS, &process, sizeof process, nullptr, 0))
        kept++;
    EXPECT_GT(kept, 0);
    EXPECT_LE(size_t(kept), kLargest / sizeof process);
    EXPECT_EQ(1u, store_header()->refused);
    EXPECT_EQ(0, define(PTDS_REC_PROCESS, &process, sizeof process, nullptr, 0));
    EXPECT_EQ(2u, store_header()->refused);
}

/* Some time after the last reading of the clocks, there is another. */
TEST_F(Definitions, BringClocks)
{
    usleep(60000);
    const size_t before = all<ptds_rec_CLOCK>(PTDS_REC_CLOCK).size();
    recorder_process(PTDS_PROCESS_FORK, 1);
    EXPECT_EQ(before + 1, all<ptds_rec_CLOCK>(PTDS_REC_CLOCK).size());
    auto clock = last<ptds_rec_CLOCK>(PTDS_REC_CLOCK);
    EXPECT_TRUE(clock.ticks != 0 && clock.monotonic != 0 && clock.realtime > clock.monotonic);
    usleep(60000);
    define_clocks_if_due();
    EXPECT_EQ(before + 2, all<ptds_rec_CLOCK>(PTDS_REC_CLOCK).size());
}

TEST_F(Definitions, MemoriesThatWereRescued)
{
    ptds_rec_MEMORY memories[2] = {};
    for (ptds_rec_MEMORY &one : memories) {
        one.record = {PTDS_REC_MEMORY, sizeof one, 0};
        one.uid = uint32_t(&one - memories) + 40;
    }
    define_memories(reinterpret_cast<const uint8_t *>(memories), 0);
    EXPECT_EQ(0u, all<ptds_rec_MEMORY>(PTDS_REC_MEMORY).size());
    define_memories(reinterpret_cast<const uint8_t *>(memories), sizeof memories);
    ASSERT_EQ(2u, all<ptds_rec_MEMORY>(PTDS_REC_MEMORY).size());
    EXPECT_EQ(41u, last<ptds_rec_MEMORY>(PTDS_REC_MEMORY).uid);
}

TEST_F(Definitions, StacksAndTheirObjects)
{
    struct elf_object object;
    char path[1024];
    void *const frames[] = {reinterpret_cast<void *>(&define_stack), reinterpret_cast<void *>(0x10)};
    ASSERT_TRUE(loaded_containing(frames[0], &object));
    const uint32_t id = define_stack(frames, 2);
    auto stack = last<ptds_rec_STACK>(PTDS_REC_STACK);
    EXPECT_EQ(id, stack.id);
    EXPECT_EQ(2u, stack.count);
    EXPECT_EQ(0, memcmp(bytes_of(PTDS_REC_STACK).back().data() + sizeof stack, frames, sizeof frames));
    auto written = last<ptds_rec_OBJECT>(PTDS_REC_OBJECT);
    EXPECT_EQ(object.base, written.base);
    EXPECT_EQ(object.end, written.end);
    EXPECT_EQ(object.bias, written.bias);
    EXPECT_EQ(1u, written.id);
    EXPECT_EQ(loaded_path(&object, path, sizeof path), texts<ptds_rec_OBJECT>(PTDS_REC_OBJECT).back());
    EXPECT_EQ(id + 1, define_stack(frames, 1));
    EXPECT_EQ(1u, all<ptds_rec_OBJECT>(PTDS_REC_OBJECT).size()) << "once";
    void *const libc[] = {reinterpret_cast<void *>(&prctl)};
    define_stack(libc, 1);
    EXPECT_EQ(2u, last<ptds_rec_OBJECT>(PTDS_REC_OBJECT).id);
}

/* All the table's functions by number, then the settings. */
TEST_F(Definitions, ThePreamble)
{
    std::vector<ptds_rec_API> apis = all<ptds_rec_API>(PTDS_REC_API);
    Texts names = texts<ptds_rec_API>(PTDS_REC_API), settings = texts<ptds_rec_SETTING>(PTDS_REC_SETTING);
    ASSERT_EQ(size_t{API_COUNT}, apis.size());
    for (unsigned i = 0; i < API_COUNT; i++) {
        EXPECT_EQ(i, apis[i].api);
        EXPECT_EQ(api_rows[i].symbol, names[i]);
        EXPECT_EQ(api_rows[i].twin != API_TWIN_NONE, apis[i].twin == 1) << names[i];
        EXPECT_EQ(unsigned(api_rows[i].class_), apis[i].class_);
    }
    for (const char *wanted : {"policy=guarded", "guard=1", "driver_version=0"})
        EXPECT_EQ(1, std::count(settings.begin(), settings.end(), wanted)) << wanted;
    EXPECT_EQ(0u, settings.back().find("driver_path="));
    EXPECT_GE(all<ptds_rec_CLOCK>(PTDS_REC_CLOCK).size(), 1u);
}

/* ---- threads ---- */

TEST_F(Definitions, AThreadsBeginningAndEnd)
{
    struct thread *before = thread_self;
    char old_name[17] = "";
    prctl(PR_GET_NAME, old_name);
    prctl(PR_SET_NAME, "fifteen letters");
    thread_self = &thread_;
    threads_started(&thread_);
    auto written = last<ptds_rec_THREAD>(PTDS_REC_THREAD);
    EXPECT_EQ(7u, written.id);
    EXPECT_EQ(70u, written.tid);
    EXPECT_EQ(unsigned{PTDS_LIFE_SEEN}, written.state);
    EXPECT_NE(0u, written.ticks);
    EXPECT_EQ("fifteen letters", texts<ptds_rec_THREAD>(PTDS_REC_THREAD).back());
    ASSERT_TRUE(thread_.counts && thread_.defaults && thread_.now);
    EXPECT_EQ(1u, thread_.counts_in_chunk);
    threads_named(&thread_, "solver");
    EXPECT_EQ(unsigned{PTDS_LIFE_NAMED}, last<ptds_rec_THREAD>(PTDS_REC_THREAD).state);
    thread_.counts[3].calls = 5;
    thread_.defaults->kept = 6;
    threads_ended(&thread_);
    thread_self = before;
    prctl(PR_SET_NAME, old_name);
    EXPECT_EQ(unsigned{PTDS_LIFE_GONE}, last<ptds_rec_THREAD>(PTDS_REC_THREAD).state);
    EXPECT_EQ("solver", texts<ptds_rec_THREAD>(PTDS_REC_THREAD).back());
    EXPECT_TRUE(!thread_.counts && !thread_.defaults && !thread_.now && !thread_.chunk && !thread_.chunk_at);
    const struct ptds_chunk *ended = store_chunk_at(0); /* the counts of threads that have ended */
    ASSERT_EQ(uint32_t{PTDS_CHUNK_COUNTS}, ended->kind);
    EXPECT_EQ(API_COUNT * 2 * sizeof(struct ptds_count), ended->committed);
    EXPECT_EQ(5u, reinterpret_cast<const struct ptds_count *>(ended + 1)[3].calls);
    const char *base = reinterpret_cast<const char *>(ended);
    EXPECT_EQ(6u, reinterpret_cast<const struct ptds_default_count *>(base + ended->defaults)->kept);
}

/* One of the driver's own says so; of a name as much as there is room for. */
TEST_F(Definitions, OtherThreads)
{
    thread_.drivers = 1;
    threads_named(&thread_, std::string(100, 'n').c_str());
    EXPECT_EQ(0u, all<ptds_rec_THREAD>(PTDS_REC_THREAD).size()) << "not before its first call";
    threads_started(&thread_);
    EXPECT_EQ(unsigned{PTDS_LIFE_DRIVERS}, last<ptds_rec_THREAD>(PTDS_REC_THREAD).state);
    EXPECT_EQ(std::string(63, 'n'), texts<ptds_rec_THREAD>(PTDS_REC_THREAD).back());
}

/* Those of whom a chunk has no room lie in memory, and are added up at their end, or at the process's. */
TEST_F(Definitions, CountsInMemory)
{
    size_t old;
    while (store_chunk(PTDS_CHUNK_COUNTS, 1, &old)) {
    }
    struct thread other = {};
    other.uid = 8;
    other.fork_generation = thread_fork_generation;
    threads_started(&thread_);
    threads_started(&other);
    EXPECT_EQ(2u, store_header()->uncounted);
    EXPECT_EQ(0u, thread_.counts_in_chunk);
    thread_.counts[3] = {1, 2, 3, 4};
    other.counts[3] = {10, 20, 30, 40};
    threads_ended(&thread_);
    EXPECT_EQ(1u, store_header()->uncounted);
    threads_ended(&other);
    EXPECT_EQ(0u, store_header()->uncounted);
    const struct ptds_count *sum = reinterpret_cast<const struct ptds_count *>(store_chunk_at(0) + 1) + 3;
    EXPECT_EQ(11u, sum->calls);
    EXPECT_EQ(22u, sum->failed);
    EXPECT_EQ(33u, sum->remapped);
    EXPECT_EQ(44u, sum->ticks);
}

/* The call that a thread is in, for whoever looks at a program that hangs. */
TEST_F(Definitions, TheCallThatAThreadIsIn)
{
    struct call call = made(API_cuStreamSynchronize, PTDS_OP_EVENT_SYNC);
    call.twin = 1, call.flags = PTDS_CALL_TIMED, call.stream_uid = 11, call.target_uid = 12, call.object = 13;
    call.generation = 14, call.kinds = 0x42, call.words = 1, call.word[0] = 99;
    threads_call_begun(&call);
    threads_call_waits(&call);
    const struct ptds_now *now = thread_.now;
    ASSERT_TRUE(now);
    EXPECT_EQ(call.enter, now->enter);
    EXPECT_GT(now->enter, 1000u) << "the time of its stack is not the call's";
    EXPECT_EQ(0x10u, now->caller);
    EXPECT_EQ(API_cuStreamSynchronize, now->api);
    EXPECT_EQ(1u, now->twin);
    EXPECT_EQ(uint32_t{PTDS_CALL_TIMED}, now->flags);
    EXPECT_EQ(3u, now->context);
    EXPECT_EQ(11u, now->stream);
    EXPECT_EQ(12u, now->target);
    EXPECT_EQ(13u, now->object);
    EXPECT_EQ(14u, now->generation);
    EXPECT_EQ(PTDS_OP_EVENT_SYNC, now->op);
    EXPECT_EQ(0x42, now->kinds);
    EXPECT_EQ(99u, now->word);
    EXPECT_NE(0u, now->stack);
    EXPECT_EQ(call.stack, now->stack);
    call.words = 0;
    threads_call_waits(&call);
    EXPECT_EQ(0u, now->word);
    recorder_call(&call);
    EXPECT_EQ(0u, now->enter);
}

} // namespace

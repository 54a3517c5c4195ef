/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread in the record: its beginning, end and names, the call that it is in, and where its exact counts are once it has
 * ended, or where there was no room for them.
 */
#include "tests/record/recording.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <map>
#include <sys/prctl.h>
#include <thread>
#include <unistd.h>

extern "C" {
#include "interpose/record/file/rescue.h"
#include "interpose/record/file/store.h"
#include "interpose/record/recorder.h"
#include "interpose/record/threads.h"
}

namespace
{

class Threads : public Recording
{
protected:
    using Said = std::vector<std::string>;
    /* "uid tid state name", in the order in which they were written. */
    static Said said()
    {
        static const std::map<uint32_t, std::string> states = {
            {PTDS_LIFE_SEEN, "seen"}, {PTDS_LIFE_GONE, "gone"}, {PTDS_LIFE_DRIVERS, "drivers"}, {PTDS_LIFE_NAMED, "named"}};
        Said lines;
        for (const std::string &bytes : bytes_of(PTDS_REC_THREAD)) {
            struct ptds_rec_THREAD record;
            memcpy(&record, bytes.data(), sizeof record);
            EXPECT_NE(0u, record.ticks);
            lines.push_back(std::to_string(record.id) + " " + std::to_string(record.tid) + " " + states.at(record.state) +
                            " " + bytes.substr(sizeof record).c_str());
        }
        return lines;
    }
    static std::vector<struct ptds_chunk *> chunks_of(uint32_t kind)
    {
        std::vector<struct ptds_chunk *> found;
        struct ptds_chunk *chunk;
        for (uint64_t i = 0; (chunk = const_cast<struct ptds_chunk *>(store_chunk_at(i))) != nullptr; i++)
            if (chunk->kind == kind)
                found.push_back(chunk);
        return found;
    }
    static const struct ptds_count &in(const struct ptds_chunk *chunk, uint16_t api, int twin = 0)
    {
        return reinterpret_cast<const struct ptds_count *>(chunk + 1)[api * 2 + twin];
    }
    static const struct ptds_default_count &default_in(const struct ptds_chunk *chunk)
    {
        return *reinterpret_cast<const struct ptds_default_count *>(reinterpret_cast<const uint8_t *>(chunk) +
                                                                    chunk->defaults);
    }
    /* No chunk of any kind is left. */
    static void take_all()
    {
        size_t old;
        while (store_chunk(PTDS_CHUNK_DEFINITIONS, 99, &old)) {
        }
    }
};

/* ---- beginning, end, names ---- */

TEST_F(Threads, BeginAndEnd)
{
    strcpy(thread_.name, "mine");
    thread_.named = 1;
    threads_started(&thread_);
    threads_ended(&thread_);
    thread_.drivers = 1;
    threads_started(&thread_);
    EXPECT_EQ((Said{"7 70 seen mine", "7 70 gone mine", "7 70 drivers mine"}), said());
    recorder_running = 2;
    threads_started(&thread_);
    threads_ended(&thread_);
    recorder_running = 1;
    EXPECT_EQ(3u, said().size());
}

TEST_F(Threads, NamesThatTheProgramGives)
{
    threads_named(&thread_, "early");
    EXPECT_EQ(Said{}, said()) << "it has not called yet";
    threads_started(&thread_);
    threads_named(&thread_, "later");
    const std::string longest(63, 'n');
    threads_named(&thread_, (longest + "more").c_str());
    EXPECT_EQ(longest, thread_.name);
    threads_named(&thread_, "s");
    EXPECT_EQ((Said{"7 70 seen early", "7 70 named later", "7 70 named " + longest, "7 70 named s"}), said());
}

/* What the kernel has: of the thread itself when it begins, of the others once more at exit. */
TEST_F(Threads, NamesThatTheKernelHas)
{
    std::atomic<int> step{0};
    const auto await = [&](int wanted) {
        while (step < wanted)
            std::this_thread::yield();
    };
    struct Facts {
        std::string uid, tid;
    } facts[2];
    std::vector<std::thread> threads;
    for (int i : {0, 1})
        threads.emplace_back([&, i] {
            prctl(PR_SET_NAME, i ? "sixteen_letters" : "one", 0, 0, 0);
            await(i);
            struct thread *self = thread_get();
            if (!self->counts)
                threads_started(self);
            facts[i] = {std::to_string(self->uid), std::to_string(self->tid)};
            if (i == 1)
                threads_named(self, "by the program");
            step = i + 1;
            await(2);
            prctl(PR_SET_NAME, "renamed", 0, 0, 0);
            step++;
            await(5);
        });
    struct thread *self = thread_get(); /* this one's id is nobody's */
    threads_named(self, "main");
    threads_started(self);
    self->named = 0, self->tid = 0x7ffffff0;
    await(4);
    errno = ENOTTY;
    threads_define_names();
    EXPECT_EQ(ENOTTY, errno);
    Said now = said();
    now.erase(std::remove_if(now.begin(), now.end(), [](const std::string &line) { return line.find("main") < 99; }),
              now.end());
    step = 5;
    for (std::thread &thread : threads)
        thread.join();
    const auto of = [&](int i, const std::string &what) { return facts[i].uid + " " + facts[i].tid + " " + what; };
    EXPECT_EQ(
        (Said{of(0, "seen one"), of(1, "seen sixteen_letters"), of(1, "named by the program"), of(0, "named renamed")}),
        now);
}

/* Names of one letter and of none, one that did not change, and a program that has closed its input. */
TEST_F(Threads, NamesOfOthers)
{
    const struct {
        const char *first, *then;
        const char *said; /* nullptr: nothing more */
    } rows[] = {{"same", "same", nullptr},
                {"longer", "x", "x"},
                {"some", "", nullptr},
                {"x", "fifteen_letters", "fifteen_letters"}};
    const int in = fcntl(0, F_DUPFD_CLOEXEC, 100);
    close(0);
    for (const auto &row : rows) {
        std::atomic<int> step{0};
        std::string who;
        std::thread thread([&] {
            prctl(PR_SET_NAME, row.first, 0, 0, 0);
            struct thread *self = thread_get();
            if (!self->counts)
                threads_started(self);
            who = std::to_string(self->uid) + " " + std::to_string(self->tid) + " ";
            prctl(PR_SET_NAME, row.then, 0, 0, 0);
            step = 1;
            while (step < 2)
                std::this_thread::yield();
        });
        while (step < 1)
            std::this_thread::yield();
        const size_t before = said().size();
        threads_define_names();
        Said now = said(), expected;
        now.erase(now.begin(), now.begin() + long(before));
        if (row.said)
            expected = {who + "named " + row.said};
        EXPECT_EQ(expected, now) << row.then;
        EXPECT_EQ(-1, fcntl(0, F_GETFD)) << "nothing is left open";
        step = 2;
        thread.join();
        threads_define_names();
        EXPECT_EQ(before + expected.size(), said().size()) << "gone, and its name is nobody's";
    }
    if (in >= 0) {
        dup2(in, 0);
        close(in);
    }
}

/* Its counts take the place of old calls, one of which has made memory that is still there. */
TEST_F(Threads, BeginInThePlaceOfAnAllocation)
{
    struct call call = made(API_cuMemAlloc_v2, PTDS_OP_ALLOC);
    call.object = 9;
    call.words = 3;
    rescue_allocates(&thread_);
    record(call);
    struct ptds_chunk *calls = thread_.chunk;
    take_all();
    store_chunk_full(calls);
    rescue_memory_is_there = [](const ptds_rec_MEMORY *memory) { return int(memory->uid == 9); };
    struct thread other = {};
    other.uid = 8;
    threads_started(&other);
    rescue_memory_is_there = nullptr;
    EXPECT_EQ(9u, last<ptds_rec_MEMORY>(PTDS_REC_MEMORY).uid);
    ASSERT_EQ(static_cast<void *>(calls + 1), static_cast<void *>(other.counts));
    for (const char *at = reinterpret_cast<const char *>(calls + 1), *end = at + calls->committed; at < end; at++)
        ASSERT_EQ(0, *at);
}

/* ---- the call that it is in ---- */

TEST_F(Threads, TheCallThatItIsIn)
{
    struct call call = made(API_cuStreamSynchronize, PTDS_OP_STREAM_SYNC);
    call.twin = 1;
    call.flags = PTDS_CALL_TIMED | PTDS_CALL_LEGACY;
    call.kinds = 0x21;
    call.stream_uid = 11, call.target_uid = 12, call.object = 13, call.generation = 14;
    call.words = 2;
    call.word[0] = 15, call.word[1] = 16;
    threads_call_begun(&call);
    threads_call_waits(&call);
    const struct ptds_now &now = *thread_.now;
    EXPECT_NE(1000u, call.enter) << "taking its stack is none of its time";
    EXPECT_EQ(call.enter, now.enter);
    EXPECT_EQ(0x10u, now.caller);
    EXPECT_EQ(API_cuStreamSynchronize, now.api);
    EXPECT_EQ(1u, now.twin);
    EXPECT_EQ(uint32_t{PTDS_CALL_TIMED | PTDS_CALL_LEGACY}, now.flags);
    EXPECT_EQ(3u, now.context);
    EXPECT_EQ(11u, now.stream);
    EXPECT_EQ(12u, now.target);
    EXPECT_EQ(13u, now.object);
    EXPECT_EQ(14u, now.generation);
    EXPECT_EQ(1u, now.stack);
    EXPECT_EQ(1u, call.stack);
    EXPECT_EQ(PTDS_OP_STREAM_SYNC, now.op);
    EXPECT_EQ(0x21, now.kinds);
    EXPECT_EQ(15u, now.word);
    EXPECT_EQ(1u, said().size()) << "it began";
    record(call);
    EXPECT_EQ(0u, now.enter);
    call.words = 0;
    call.enter = 1000;
    threads_call_begun(&call);
    threads_call_waits(&call);
    EXPECT_EQ(1000u, now.enter) << "the stack is known by now";
    EXPECT_EQ(0u, now.word);
    record(call);
    for (bool timed : {false, true}) {
        call.flags = timed ? PTDS_CALL_TIMED : 0;
        call.enter = timed ? 0 : 1000;
        threads_call_waits(&call);
        EXPECT_EQ(0u, now.enter) << "not timed, not recorded";
    }
    threads_ended(&thread_);
    EXPECT_EQ(nullptr, thread_.now);
}

/* Who is going to wait has the time to get the next chunk, which is not the call's. */
TEST_F(Threads, AChunkAheadOfAWait)
{
    record(made());
    uint8_t *const at = thread_.chunk_at;
    const struct {
        uint16_t api;
        bool waits;
    } rows[] = {{API_cuMemcpyDtoH_v2, false}, {API_cuStreamSynchronize, true}, {API_cuEventSynchronize, true},
                {API_cuCtxSynchronize, true}, {API_cuCtxSynchronize_v2, true}, {API_cuMemFree_v2, false},
                {API_cuMemcpyAsync, false},   {API_cuMemsetD8_v2, false}};
    for (const auto &row : rows) {
        struct call call = made(row.api, PTDS_OP_NONE);
        call.flags = PTDS_CALL_TIMED;
        thread_.chunk_at = at;
        threads_call_begun(&call);
        EXPECT_EQ(1000u, call.enter) << "there is much left of this one";
        EXPECT_EQ(nullptr, thread_.ahead);
        thread_.chunk_at = thread_.chunk_end - 100;
        threads_call_begun(&call);
        EXPECT_EQ(row.waits, thread_.ahead != nullptr) << row.api;
        EXPECT_EQ(row.waits, call.enter != 1000) << row.api;
        thread_.ahead = nullptr; /* one that was given back would cost nothing later */
    }
    thread_.chunk_at = at;
}

/* ---- counts ---- */

TEST_F(Threads, CountsOfThoseThatEndedAreOne)
{
    const std::vector<struct ptds_chunk *> before = chunks_of(PTDS_CHUNK_COUNTS);
    ASSERT_EQ(1u, before.size());
    const struct ptds_chunk *all = before[0];
    EXPECT_EQ(API_COUNT * 2 * sizeof(struct ptds_count), all->committed);
    EXPECT_EQ(sizeof *all + all->committed, all->now);
    EXPECT_EQ(all->now + sizeof(struct ptds_now), all->defaults);
    for (uint32_t uid : {8u, 9u}) {
        struct thread one = {};
        one.uid = uid;
        one.fork_generation = thread_fork_generation;
        struct call call = made();
        call.thread = &one;
        call.flags = PTDS_CALL_LEGACY;
        record(call);
        call.twin = uid == 9;
        record(call);
        call.flags |= PTDS_CALL_TIMED;
        threads_call_waits(&call);
        ASSERT_EQ(1u, one.counts_in_chunk);
        ASSERT_EQ(2u, chunks_of(PTDS_CHUNK_COUNTS).size());
        EXPECT_EQ(all->committed, chunks_of(PTDS_CHUNK_COUNTS)[1]->committed);
        EXPECT_EQ(uid, chunks_of(PTDS_CHUNK_COUNTS)[1]->thread);
        struct ptds_chunk *chunk = one.chunk;
        one.ahead = store_chunk_ahead(uid);
        threads_ended(&one);
        EXPECT_EQ(nullptr, one.counts);
        EXPECT_EQ(nullptr, one.defaults);
        EXPECT_EQ(nullptr, one.now);
        EXPECT_EQ(nullptr, one.chunk);
        EXPECT_EQ(nullptr, one.ahead);
        EXPECT_EQ(nullptr, one.chunk_at);
        EXPECT_EQ(uint32_t{PTDS_CHUNK_CALLS}, chunk->kind) << "its calls stay";
        EXPECT_EQ(1u, chunks_of(PTDS_CHUNK_COUNTS).size()) << "its counts' place is free";
    }
    struct ptds_now none = {};
    EXPECT_EQ(0, memcmp(reinterpret_cast<const uint8_t *>(all) + all->now, &none, sizeof none)) << "it is in no call";
    EXPECT_EQ(3u, in(all, API_cuLaunchKernel).calls);
    EXPECT_EQ(1u, in(all, API_cuLaunchKernel, 1).calls);
    EXPECT_EQ(4u, default_in(all).legacy) << "of both";
    EXPECT_EQ(0u, store_header()->uncounted);
}

/* From the first row of the table to the last one. */
TEST_F(Threads, CountsOfAllRows)
{
    const struct ptds_chunk *all = chunks_of(PTDS_CHUNK_COUNTS)[0];
    EXPECT_EQ(0u, all->thread) << "nobody's";
    threads_started(&thread_);
    const size_t last = API_COUNT * 2 - 1;
    for (const size_t at : {size_t{0}, size_t{1}, last})
        thread_.counts[at] = {11 + at, 12, 13, 14};
    *thread_.defaults = {15, 16, 17};
    threads_ended(&thread_);
    for (size_t at = 0; at < API_COUNT * 2; at++) {
        const bool there = at < 2 || at == last;
        const struct ptds_count count = in(all, uint16_t(at / 2), at % 2);
        ASSERT_EQ(there ? 11 + at : 0, count.calls) << at;
        ASSERT_EQ(there ? 12u : 0, count.failed) << at;
        ASSERT_EQ(there ? 13u : 0, count.remapped) << at;
        ASSERT_EQ(there ? 14u : 0, count.ticks) << at;
    }
    EXPECT_EQ(15u, default_in(all).legacy);
    EXPECT_EQ(16u, default_in(all).kept);
    EXPECT_EQ(17u, default_in(all).failed);
    const auto *behind = &default_in(all) + 1, *end = behind + 3;
    for (; behind < end; behind++)
        EXPECT_EQ(0u, behind->legacy + behind->kept + behind->failed) << "a reader adds up what follows";
}

/* In memory, where no chunk is left: at its end, or the program's, they come to those of all. */
TEST_F(Threads, CountsThatThereWasNoRoomFor)
{
    const struct ptds_chunk *all = chunks_of(PTDS_CHUNK_COUNTS)[0];
    take_all();
    record(made());
    EXPECT_EQ(0u, thread_.counts_in_chunk);
    EXPECT_EQ(1u, store_header()->uncounted);
    EXPECT_EQ(0u, in(all, API_cuLaunchKernel).calls);
    threads_ended(&thread_);
    EXPECT_EQ(1u, in(all, API_cuLaunchKernel).calls);
    EXPECT_EQ(0u, store_header()->uncounted);
    EXPECT_EQ(1, threads_counts_can_finish());
}

TEST_F(Threads, CountsOfThoseThatRunStill)
{
    const struct ptds_chunk *all = chunks_of(PTDS_CHUNK_COUNTS)[0];
    take_all();
    std::thread([&] {
        struct call call = made();
        struct thread *self = thread_get();
        call.thread = self;
        record(call);
        EXPECT_EQ(1u, store_header()->uncounted);
        threads_counts_finish();
        EXPECT_EQ(1u, in(all, API_cuLaunchKernel).calls);
        EXPECT_EQ(0u, store_header()->uncounted);
        threads_counts_finish();
        EXPECT_EQ(1u, in(all, API_cuLaunchKernel).calls) << "once";
        threads_ended(self);
        EXPECT_EQ(1u, in(all, API_cuLaunchKernel).calls) << "nor again at its end";
        EXPECT_EQ(0u, store_header()->uncounted);
    }).join();
}

} // namespace

/* SPDX-License-Identifier: Apache-2.0
 *
 * What is kept of each thread, and of each thread in each context: whose it is, and what an ended thread leaves to others.
 */
#include "tests/state/driver.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

extern "C" {
#include "interpose/state/contexts.h"
#include "interpose/base/pages.h"
#include "interpose/footprint/footprint.h"
#include "interpose/footprint/kernels.h"
#include "interpose/record/stacks/stacks.h"
#include "interpose/state/hooks.h"
}

namespace
{

class Threads : public State
{
};

CUcontext const kOne = context_handle(1), kTwo = context_handle(2);
CUstream const kStream = stream_handle(1);

/* A thread's heir has its state and its entries, but is another thread, with a stream 0x2 of its own. */
TEST_F(Threads, AThreadsHeirIsAnotherThread)
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

/* Whoever goes through all threads, without a lock, meets each of them, though the newest one's state becomes another's. */
TEST_F(Threads, TheListOfThemIsWholeAtAnyTime)
{
    const auto count = [] {
        size_t found = 0;
        for (const struct thread *thread = thread_all(); thread; thread = thread->next_all)
            found++;
        return found;
    };
    std::vector<std::thread> some;
    std::atomic<int> running{0};
    std::atomic<bool> over{false};
    for (int i = 0; i < 4; i++) {
        some.emplace_back([&] {
            thread_get();
            for (running++; !over;)
                usleep(1000);
        });
    }
    while (running < 4)
        usleep(1000);
    std::thread([] { thread_get(); }).join();
    const size_t all = count();
    std::thread heirs([&] {
        for (int i = 0; i < 3000; i++)
            std::thread([] { thread_get(); }).join();
        over = true;
    });
    size_t least = all;
    while (!over)
        least = std::min(least, count());
    heirs.join();
    for (std::thread &one : some)
        one.join();
    EXPECT_EQ(all, least);
    EXPECT_EQ(all, count());
}

/* What an ended thread knew of stacks and kernels is nothing to its heir, and the system has the memory back. */
TEST_F(Threads, AThreadsCachesAreEmptyAndTheirPagesGoBack)
{
    const size_t page = getpagesize(), stacks = STACKS_PLACES * sizeof(struct stack_entry),
                 kernels = KERNELS_MET * sizeof(struct kernel_entry);
    footprint_listen();
    struct thread *state = nullptr;
    std::thread([&] {
        state = thread_get();
        if (state->stacks == nullptr)
            state->stacks = static_cast<struct stack_entry *>(pages_keep(stacks));
        if (state->kernels == nullptr)
            state->kernels = static_cast<struct kernel_entry *>(pages_keep(kernels));
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

TEST_F(Threads, AThreadIsInSeveralContextsAtOnce)
{
    struct context *contexts[] = {create(kOne), create(kTwo), create(context_handle(3)), create(context_handle(4))};
    struct thread_context *entries[4];
    std::set<uint32_t> uids;
    for (int i = 0; i < 4; i++) {
        entries[i] = thread_in(thread_get(), contexts[i]);
        uids.insert(entries[i]->per_thread_uid);
    }
    EXPECT_EQ(4u, uids.size());
    for (int i = 0; i < 4; i++)
        EXPECT_EQ(entries[i], thread_in(thread_get(), contexts[i])) << i;
    destroy(kTwo);
    struct thread_context *later = thread_in(thread_get(), create(context_handle(5)));
    EXPECT_EQ(0u, uids.count(later->per_thread_uid));
    for (int i : {0, 2, 3})
        EXPECT_EQ(entries[i], thread_in(thread_get(), contexts[i])) << i;
}

/* The child has the thread that forked and no other; none of its locks is anybody's. */
TEST_F(Threads, AForkedChildsThreadsAreItsOwn)
{
    struct context *context = create(kOne);
    const uint32_t uid = thread_in(thread_get(), context)->per_thread_uid, mine = thread_get()->uid;
    std::thread([&] { thread_in(thread_get(), context); }).join(); /* its entries could serve again */
    const pid_t child = fork();
    if (child == 0) {
        alarm(10);
        thread_after_fork();
        const bool none = thread_all() == nullptr && thread_self == nullptr;
        const struct thread_context *entry = thread_in(thread_get(), context);
        const bool fresh = thread_get()->uid != mine && entry->per_thread_uid != uid;
        thread_in(thread_get(), contexts_get(kTwo));
        _exit(!none ? 1 : fresh ? 0 : 2);
    }
    int status = -1;
    ASSERT_EQ(child, waitpid(child, &status, 0));
    EXPECT_EQ(0, status) << "exit status 1: the parent's threads are there; 2: the same thread; a signal: somebody waits";
}

/* Threads that the driver made for its callbacks. */
TEST_F(Threads, AThreadOfTheDriversIsMarkedAtItsFirstSightAlone)
{
    EXPECT_EQ(thread_get(), thread_get_as_drivers());
    EXPECT_EQ(0u, thread_get()->drivers);
    std::thread([] {
        const struct thread *self = thread_get_as_drivers();
        EXPECT_EQ(1u, self->drivers);
        EXPECT_EQ(self, thread_get());
        EXPECT_EQ(self, thread_get_as_drivers());
        thread_fork_generation++; /* as in a child */
        EXPECT_NE(self, thread_get_as_drivers());
        EXPECT_EQ(thread_fork_generation, thread_get()->fork_generation);
        thread_fork_generation--;
    }).join();
}

TEST_F(Threads, AThreadsEntryOfAContextThatIsGoneIsForgotten)
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

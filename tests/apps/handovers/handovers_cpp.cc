// SPDX-License-Identifier: Apache-2.0
//
// handovers_cpp [spread|all|default|WAY THING] [ms=N]: the same as handovers, in the ways of the C++ library, C++20's among
// them: threads, locks, conditions. cpp_futures.cc has futures, atomics and initialisation, cpp_buffer.cc the bounded
// buffer. Run by scripts/gpu and the tests beside it.

#include <barrier>
#include <chrono>
#include <condition_variable>
#include <latch>
#include <mutex>
#include <optional>
#include <semaphore>
#include <shared_mutex>
#include <stop_token>
#include <thread>

#include "tests/apps/handovers/handovers.h"

extern const way ways_futures[], ways_buffer[];

namespace
{

using namespace std::chrono_literals;

// Made anew for each case.
struct Talk {
    std::mutex lock, other_lock;
    std::recursive_mutex recursive;
    std::timed_mutex timed;
    std::shared_mutex shared;
    std::shared_timed_mutex shared_timed;
    std::condition_variable condition;
    std::condition_variable_any any;
    std::latch latch{1};
    std::barrier<> both{2};
    std::counting_semaphore<8> counting{0};
    std::binary_semaphore binary{0};
    std::stop_source stop;
};

std::optional<Talk> talk;

void begin(handover *)
{
    talk.emplace();
}

void end(handover *)
{
    talk.reset();
}

// ---- threads ----

void construct(handover *h)
{
    give(h);
    std::thread(take, h).join();
}

void join(handover *h)
{
    std::thread thread(give, h);
    thread.join();
    take(h);
}

void jthread(handover *h)
{
    {
        std::jthread thread(give, h);
    }
    take(h);
}

// The thread's own object is destroyed at its end, which is when the work is given.
void thread_local_end(handover *h)
{
    struct Late {
        handover *h = nullptr;
        ~Late()
        {
            if (h)
                give(h);
        }
    };
    std::thread([h] {
        static thread_local Late late;
        late.h = h;
    }).join();
    take(h);
}

// ---- locks: the taker looks until it was told ----

template <class Lock> void tell_under(handover *h, Lock &&lock)
{
    give(h);
    lock.lock();
    h->told = 1;
    lock.unlock();
}

template <class Try> void look(handover *h, Try attempt)
{
    for (bool told = false; !told; short_nap())
        if (auto held = attempt())
            told = h->told;
    take(h);
}

void mutex_a(handover *h)
{
    tell_under(h, talk->lock);
}

void mutex_b(handover *h)
{
    look(h, [] { return std::unique_lock(talk->lock); });
}

void try_b(handover *h)
{
    look(h, [] { return std::unique_lock(talk->lock, std::try_to_lock); });
}

void recursive_a(handover *h)
{
    std::lock_guard outer(talk->recursive);
    tell_under(h, talk->recursive);
}

void recursive_b(handover *h)
{
    look(h, [] { return std::unique_lock(talk->recursive); });
}

void timed_a(handover *h)
{
    tell_under(h, talk->timed);
}

void timed_b(handover *h)
{
    look(h, [] { return std::unique_lock(talk->timed, 1s); });
}

void scoped_a(handover *h)
{
    std::scoped_lock both(talk->lock, talk->other_lock);
    give(h);
    h->told = 1;
}

void scoped_b(handover *h)
{
    for (bool told = false; !told; short_nap()) {
        std::scoped_lock both(talk->other_lock, talk->lock);
        told = h->told;
    }
    take(h);
}

void shared_a(handover *h)
{
    tell_under(h, talk->shared);
}

void shared_b(handover *h)
{
    look(h, [] { return std::shared_lock(talk->shared); });
}

void reader_a(handover *h)
{
    std::shared_lock held(talk->shared);
    tell(&h->step);
    give(h);
}

void writer_b(handover *h)
{
    await(&h->step);
    std::unique_lock held(talk->shared);
    take(h);
}

void shared_timed_a(handover *h)
{
    tell_under(h, talk->shared_timed);
}

void shared_timed_b(handover *h)
{
    look(h, [] { return std::shared_lock(talk->shared_timed, 1s); });
}

// ---- conditions ----

void notify_a(handover *h)
{
    std::this_thread::sleep_for(1ms); // so that the taker sleeps
    tell_under(h, talk->lock);
    talk->condition.notify_one();
}

void wait_b(handover *h)
{
    std::unique_lock held(talk->lock);
    talk->condition.wait(held, [h] { return h->told; });
    held.unlock();
    take(h);
}

void wait_for_b(handover *h)
{
    std::unique_lock held(talk->lock);
    talk->condition.wait_for(held, 10s, [h] { return h->told; });
    held.unlock();
    take(h);
}

void any_a(handover *h)
{
    std::this_thread::sleep_for(1ms);
    tell_under(h, talk->shared);
    talk->any.notify_all();
}

void any_b(handover *h)
{
    std::shared_lock held(talk->shared);
    talk->any.wait(held, [h] { return h->told; });
    held.unlock();
    take(h);
}

void thread_exit_a(handover *h)
{
    std::thread([h] {
        std::unique_lock held(talk->lock);
        give(h);
        h->told = 1;
        std::notify_all_at_thread_exit(talk->condition, std::move(held));
    }).join();
}

// ---- stop tokens ----

void stop_a(handover *h)
{
    give(h);
    talk->stop.request_stop();
}

void stop_token_b(handover *h)
{
    for (auto token = talk->stop.get_token(); !token.stop_requested();)
        short_nap();
    take(h);
}

// Woken by the stop, not by a notification.
void stop_wait_b(handover *h)
{
    std::unique_lock held(talk->lock);
    talk->any.wait(held, talk->stop.get_token(), [] { return false; });
    held.unlock();
    take(h);
}

// The taker's callback gives, on the giver's thread; that it can be taken away tells that it has run.
void stop_later_a(handover *h)
{
    while (!__atomic_load_n(&h->told, __ATOMIC_ACQUIRE))
        short_nap();
    talk->stop.request_stop();
}

void stop_callback_b(handover *h)
{
    {
        std::stop_callback callback(talk->stop.get_token(), [h] {
            tell(&h->step);
            give(h);
        });
        __atomic_store_n(&h->told, 1, __ATOMIC_RELEASE);
        await(&h->step);
    }
    take(h);
}

// ---- latch, barrier, semaphores ----

void latch_a(handover *h)
{
    give(h);
    talk->latch.count_down();
}

void latch_b(handover *h)
{
    talk->latch.wait();
    take(h);
}

void try_latch_b(handover *h)
{
    while (!talk->latch.try_wait())
        short_nap();
    take(h);
}

void barrier_a(handover *h)
{
    give(h);
    (void)talk->both.arrive();
}

void barrier_b(handover *h)
{
    talk->both.arrive_and_wait();
    take(h);
}

void counting_a(handover *h)
{
    std::this_thread::sleep_for(1ms);
    give(h);
    talk->counting.release();
}

void counting_b(handover *h)
{
    talk->counting.acquire();
    take(h);
}

void binary_a(handover *h)
{
    give(h);
    talk->binary.release();
}

void binary_b(handover *h)
{
    while (!talk->binary.try_acquire_for(1ms))
        ;
    take(h);
}

const way ways_library[] = {
    {"std::thread", {construct}, nullptr, nullptr},
    {"thread::join", {join}, nullptr, nullptr},
    {"jthread", {jthread}, nullptr, nullptr},
    {"thread_local-destructor", {thread_local_end}, nullptr, nullptr},
    {"std::mutex", {mutex_a, mutex_b}, begin, end},
    {"try_to_lock", {mutex_a, try_b}, begin, end},
    {"recursive_mutex", {recursive_a, recursive_b}, begin, end},
    {"timed_mutex", {timed_a, timed_b}, begin, end},
    {"scoped_lock", {scoped_a, scoped_b}, begin, end},
    {"shared_mutex-read-after-write", {shared_a, shared_b}, begin, end},
    {"shared_mutex-write-after-read", {reader_a, writer_b}, begin, end},
    {"shared_timed_mutex", {shared_timed_a, shared_timed_b}, begin, end},
    {"condition_variable", {notify_a, wait_b}, begin, end},
    {"condition_variable-wait_for", {notify_a, wait_for_b}, begin, end},
    {"condition_variable_any", {any_a, any_b}, begin, end},
    {"notify_all_at_thread_exit", {thread_exit_a, wait_b}, begin, end},
    {"stop_token", {stop_a, stop_token_b}, begin, end},
    {"stop-wakes-wait", {stop_a, stop_wait_b}, begin, end},
    {"stop_callback", {stop_later_a, stop_callback_b}, begin, end},
    {"latch", {latch_a, latch_b}, begin, end},
    {"latch-try_wait", {latch_a, try_latch_b}, begin, end},
    {"std::barrier", {barrier_a, barrier_b}, begin, end},
    {"counting_semaphore", {counting_a, counting_b}, begin, end},
    {"binary_semaphore", {binary_a, binary_b}, begin, end},
    {},
};

} // namespace

int main(int argc, char **argv)
{
    static const way *const groups[] = {ways_library, ways_futures, ways_buffer, nullptr};
    return handovers_main(argc, argv, groups);
}

// SPDX-License-Identifier: Apache-2.0
//
// Ways of handovers_cpp that carry a result or happen once: futures, tasks, atomics that are waited for, call_once, the
// initialisation of a static local. Called by the runner (table.c).

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "tests/apps/handovers/handovers.h"

extern const way ways_futures[];

namespace
{

using namespace std::chrono_literals;

// Made anew for each case.
struct Talk {
    std::promise<int> promise;
    std::future<int> future = promise.get_future();
    std::packaged_task<int(handover *)> task{[](handover *h) {
        give(h);
        return 1;
    }};
    std::future<int> result = task.get_future();
    std::atomic<int> word{0};
    std::atomic_flag flag;
    alignas(std::atomic_ref<int>::required_alignment) int plain = 0;
    std::atomic<std::shared_ptr<int>> pointer;
    std::once_flag once;
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

// ---- futures ----

void promise_a(handover *h)
{
    give(h);
    talk->promise.set_value(1);
}

void sleeping_promise_a(handover *h)
{
    std::this_thread::sleep_for(1ms); // so that the taker sleeps
    promise_a(h);
}

void future_b(handover *h)
{
    if (talk->future.get() == 1)
        take(h);
}

// The result is there before anybody asks.
void late_future_b(handover *h)
{
    std::this_thread::sleep_for(3ms);
    future_b(h);
}

void polled_future_b(handover *h)
{
    while (talk->future.wait_for(0s) != std::future_status::ready)
        short_nap();
    take(h);
}

void shared_future_b(handover *h)
{
    auto shared = talk->future.share();
    if (shared.get() == 1)
        take(h);
}

void exception_a(handover *h)
{
    give(h);
    talk->promise.set_exception(std::make_exception_ptr(std::runtime_error("given")));
}

void exception_b(handover *h)
{
    try {
        talk->future.get();
    } catch (const std::runtime_error &) {
        take(h);
    }
}

void at_thread_exit_a(handover *h)
{
    std::thread([h] {
        give(h);
        talk->promise.set_value_at_thread_exit(1);
    }).join();
}

void task_a(handover *h)
{
    talk->task(h);
}

void task_b(handover *h)
{
    if (talk->result.get() == 1)
        take(h);
}

void async_get(handover *h)
{
    std::async(std::launch::async, give, h).get();
    take(h);
}

void async_begin(handover *h)
{
    give(h);
    std::async(std::launch::async, take, h).wait();
}

// ---- atomics ----

void notify_a(handover *h)
{
    std::this_thread::sleep_for(1ms);
    give(h);
    talk->word.store(1, std::memory_order_release);
    talk->word.notify_one();
}

void wait_b(handover *h)
{
    talk->word.wait(0, std::memory_order_acquire);
    take(h);
}

void flag_a(handover *h)
{
    give(h);
    talk->flag.test_and_set(std::memory_order_release);
    talk->flag.notify_all();
}

void flag_b(handover *h)
{
    talk->flag.wait(false, std::memory_order_acquire);
    take(h);
}

void ref_a(handover *h)
{
    give(h);
    std::atomic_ref(talk->plain).store(1, std::memory_order_release);
}

void ref_b(handover *h)
{
    while (!std::atomic_ref(talk->plain).load(std::memory_order_acquire))
        short_nap();
    take(h);
}

void pointer_a(handover *h)
{
    give(h);
    talk->pointer.store(std::make_shared<int>(1));
}

void pointer_b(handover *h)
{
    while (!talk->pointer.load())
        short_nap();
    take(h);
}

// ---- once ----

void give_once(handover *h)
{
    tell(&h->step);
    give(h);
}

void once_a(handover *h)
{
    std::call_once(talk->once, give_once, h);
}

void once_b(handover *h)
{
    await(&h->step); // else it would be the one
    once_a(h);
    take(h);
}

// A static local can be initialised once in a program: one for each use.
template <int N> void initialise(handover *h)
{
    static const bool done = (give_once(h), true);
    (void)done;
}

constexpr int USES = 32;
template <int... N> constexpr auto initialisers(std::integer_sequence<int, N...>)
{
    return std::array<part *, sizeof...(N)>{initialise<N>...};
}

constexpr auto every = initialisers(std::make_integer_sequence<int, USES>{});
int used;

void begin_static(handover *h)
{
    if (used == USES)
        h->no = "no static local left";
}

void static_a(handover *h)
{
    every[static_cast<size_t>(used)](h);
}

void static_b(handover *h)
{
    await(&h->step);
    static_a(h);
    take(h);
}

void end_static(handover *)
{
    used++;
}

} // namespace

const way ways_futures[] = {
    {"promise-future", {sleeping_promise_a, future_b}, begin, end},
    {"future-told-early", {promise_a, late_future_b}, begin, end},
    {"future-polled", {promise_a, polled_future_b}, begin, end},
    {"shared_future", {promise_a, shared_future_b}, begin, end},
    {"future-exception", {exception_a, exception_b}, begin, end},
    {"set_value_at_thread_exit", {at_thread_exit_a, future_b}, begin, end},
    {"packaged_task", {task_a, task_b}, begin, end},
    {"async-result", {async_get}, nullptr, nullptr},
    {"async-start", {async_begin}, nullptr, nullptr},
    {"atomic-wait", {notify_a, wait_b}, begin, end},
    {"atomic_flag-wait", {flag_a, flag_b}, begin, end},
    {"atomic_ref", {ref_a, ref_b}, begin, end},
    {"atomic-shared_ptr", {pointer_a, pointer_b}, begin, end},
    {"std::call_once", {once_a, once_b}, begin, end},
    {"static-local", {static_a, static_b}, begin_static, end_static},
    {},
};

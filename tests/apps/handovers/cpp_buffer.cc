// SPDX-License-Identifier: Apache-2.0
//
// The textbook bounded buffer (semaphores, a mutex, a deque) with two producers, as ways of handovers_cpp: the consumer may
// take one producer's post and the other's item. Called by the runner (table.c).

#include <chrono>
#include <deque>
#include <mutex>
#include <optional>
#include <semaphore>
#include <thread>

#include "tests/apps/handovers/handovers.h"

extern const way ways_buffer[];

namespace
{

using namespace std::chrono_literals;

// Made anew for each case.
struct Talk {
    std::mutex lock;
    std::deque<bool> items; // whether the giver's
    std::counting_semaphore<8> free{4}, used{0};
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

constexpr int EMPTY_ITEMS = 3;

void put(bool givers)
{
    talk->free.acquire();
    {
        std::lock_guard held(talk->lock);
        talk->items.push_back(givers);
    }
    talk->used.release();
}

void produce_a(handover *h)
{
    give(h);
    put(true);
}

void produce_c(handover *)
{
    for (int i = 0; i < EMPTY_ITEMS; i++)
        put(false);
}

void consume_b(handover *h)
{
    for (bool got = false; !got; talk->free.release()) {
        talk->used.acquire();
        std::lock_guard held(talk->lock);
        got = talk->items.front();
        talk->items.pop_front();
    }
    take(h);
}

// The other producer has put its item and not yet posted when the giver does both: the first post that the consumer takes
// is the giver's, the first item is not.
void half_put_c(handover *h)
{
    talk->free.acquire();
    {
        std::lock_guard held(talk->lock);
        talk->items.push_back(false);
    }
    tell(&h->step);
    std::this_thread::sleep_for(2ms);
    talk->used.release();
}

void late_produce_a(handover *h)
{
    await(&h->step);
    produce_a(h);
}

} // namespace

const way ways_buffer[] = {
    {"std::bounded-buffer", {produce_a, consume_b, produce_c}, begin, end},
    {"std::bounded-buffer-crossed", {late_produce_a, consume_b, half_put_c}, begin, end},
    {},
};

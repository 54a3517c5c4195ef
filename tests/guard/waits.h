/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether somebody takes the guard's lock, or another one. It can miss a fault by timing, but finds none where there is
 * none.
 */
#ifndef PTDS_TESTS_GUARD_WAITS_H
#define PTDS_TESTS_GUARD_WAITS_H

#include <gtest/gtest.h>

#include <unistd.h>

#include <atomic>
#include <functional>
#include <thread>

extern "C" {
#include "interpose/guard/carry_out/issue.h"
#include "interpose/guard/guard.h"
}

/* Whether it waits while another thread has the lock; it goes on when that is dropped, and drops it, too. */
inline bool waits(const std::function<void()> &change, struct lock *lock = &guard_state.lock)
{
    std::atomic<bool> begun{false}, done{false};
    lock_take(lock);
    std::thread changer([&] {
        begun = true;
        change();
        done = true;
    });
    while (!begun)
        usleep(100);
    usleep(20000);
    const bool waited = !done;
    lock_drop(lock);
    changer.join();
    EXPECT_EQ(0u, lock->held) << "it is dropped";
    return waited;
}

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Reservations that threads make and free while others look for one. Calls that the test makes up.
 */
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

extern "C" {
#include "interpose/footprint/allocations/reserve.h"
#include "interpose/footprint/memories/reservations.h"
}

namespace
{

struct call made(CUdeviceptr base)
{
    struct call call = {};
    call.footprint = 1;
    reserve_made(&call, &base, 0x1000);
    return call;
}

void freed(struct call *call, CUdeviceptr base)
{
    reserve_freeing(call, base);
    reserve_freed(call);
    call->leaving = nullptr;
}

TEST(Reservations, OneThatStaysIsFoundWhileOthersComeAndGo)
{
    enum { kRounds = 200000 };
    struct call stays = made(0x10000);
    std::atomic<bool> over{false};
    std::thread others([&] {
        while (!over) {
            struct call comes = made(0x20000);
            freed(&comes, 0x20000);
        }
    });
    long lost = 0, another = 0;
    for (int i = 0; i < kRounds; i++) {
        const struct memory *found = reservations_at(0x10800);
        lost += found == nullptr;
        another += found && found->base != 0x10000;
    }
    over = true;
    others.join();
    EXPECT_EQ(0, lost);
    EXPECT_EQ(0, another);
    EXPECT_EQ(nullptr, reservations_at(0x11000)) << "past its end";
    freed(&stays, 0x10000);
    EXPECT_EQ(nullptr, reservations_at(0x10800));
}

} // namespace

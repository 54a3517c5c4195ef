/* SPDX-License-Identifier: Apache-2.0
 *
 * Which operations PTDS_SHAKE delays, and for how long, is a function of the seed, the thread and the operation.
 */
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

extern "C" {
#include "interpose/driver/shake.h"
}

namespace
{

/* Worked out by hand with another implementation of the published generator, so that a seed in somebody's notes stays one.
 */
TEST(ShakeChoice, IsTheSameForTheSameNumbers)
{
    std::vector<uint32_t> first;
    for (uint32_t n = 0; n < 16; n++)
        first.push_back(shake_delay_ns(1, 0, n));
    EXPECT_EQ((std::vector<uint32_t>{0, 0, 20000, 20000, 0, 0, 5000000, 0, 0, 0, 0, 5000000, 0, 0, 0, 20000}), first);
}

TEST(ShakeChoice, OtherSeedsAndThreadsDelayOtherWork)
{
    unsigned same_seed = 0, same_thread = 0;
    for (uint32_t n = 0; n < 256; n++) {
        same_seed += shake_delay_ns(1, 0, n) && shake_delay_ns(2, 0, n);
        same_thread += shake_delay_ns(1, 0, n) && shake_delay_ns(1, 1, n);
    }
    EXPECT_GT(40u, same_seed) << "of 64 by chance 16";
    EXPECT_GT(40u, same_thread);
}

/* A program of a million launches ends. */
TEST(ShakeChoice, GetsRareWithTheNumberOfOperations)
{
    unsigned delays[3] = {0, 0, 0};
    uint64_t ns = 0;
    for (uint32_t n = 0; n < 1000000; n++) {
        uint32_t one = shake_delay_ns(7, 3, n);
        delays[n < 256 ? 0 : n < 10000 ? 1 : 2] += one != 0;
        ns += one;
    }
    EXPECT_LE(40u, delays[0]);
    EXPECT_GE(90u, delays[0]);
    EXPECT_GE(350u, delays[1]) << "64 times the logarithm of 10000 / 256, 234";
    EXPECT_GE(420u, delays[2]) << "the same of 100, 295";
    EXPECT_LE(100u, delays[2]);
    EXPECT_GT(2000000000u, ns);
}

} // namespace

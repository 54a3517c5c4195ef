/* SPDX-License-Identifier: Apache-2.0
 *
 * The map of handles: says what was put in, however it grows, and lets readers wait for nobody.
 */
#include <atomic>
#include <cstdio>
#include <gtest/gtest.h>
#include <random>
#include <thread>
#include <unistd.h>
#include <unordered_map>
#include <vector>

extern "C" {
#include "interpose/state/map.h"
}

namespace
{

/* As handles and addresses are. */
uint64_t key_of(uint64_t number)
{
    return 0x7f0000000000 + number * 64;
}

TEST(Map, HasWhatWasPutIn)
{
    static map values;
    std::unordered_map<uint64_t, uint64_t> expected;
    std::mt19937_64 random(1);
    for (int i = 0; i < 400000; i++) {
        uint64_t key = key_of(random() % 30000), value = random() | 1;
        uint64_t &there = expected[key];
        switch (random() % 5) {
        case 0:
        case 1:
            map_set(&values, key, value);
            there = value;
            break;
        case 2:
            EXPECT_EQ(map_remove(&values, key), there);
            there = 0;
            break;
        case 3:
            there = there ? there : value;
            EXPECT_EQ(map_get_or_set(&values, key, value), there);
            break;
        default: there = there ? there + 2 : 0; EXPECT_EQ(map_add(&values, key, 2), there);
        }
        EXPECT_EQ(map_get(&values, key), there);
    }
    for (const auto &one : expected)
        EXPECT_EQ(map_get(&values, one.first), one.second);
    map_clear(&values);
    for (const auto &one : expected)
        EXPECT_EQ(map_get(&values, one.first), 0u);
    map_set(&values, key_of(1), 5);
    EXPECT_EQ(map_get(&values, key_of(1)), 5u);
}

TEST(Map, KeepsToKeys)
{
    static map values;
    for (uint64_t none : {UINT64_C(0), UINT64_MAX}) {
        map_set(&values, none, 7);
        EXPECT_EQ(map_get(&values, none), 0u);
        EXPECT_EQ(map_add(&values, none, 1), 0u);
        EXPECT_EQ(map_remove(&values, none), 0u);
        EXPECT_EQ(map_get_or_set(&values, none, 7), 0u);
    }
    EXPECT_EQ(map_get(&values, key_of(1)), 0u) << "it is empty";
}

/* What comes and goes again and again takes no more room. */
TEST(Map, ForgetsWhatIsGone)
{
    static map values;
    for (uint64_t i = 0; i < 300000; i++) {
        map_set(&values, key_of(i), i + 1);
        EXPECT_EQ(map_remove(&values, key_of(i)), i + 1);
    }
    for (const map::map_stripe &stripe : values.stripe)
        EXPECT_LE(stripe.table % 64, 8u);
}

int also_reads(uint64_t key, uint64_t value, void *argument)
{
    EXPECT_EQ(map_get(static_cast<map *>(argument), key), value);
    return value % 2;
}

/* It is called with the stripe locked. */
/* What came and went leaves no room behind it that grows. */
TEST(Map, TakesNoMoreMemoryForWhatIsGone)
{
    static map values;
    const auto mapped = [] {
        long pages = 0;
        FILE *file = fopen("/proc/self/statm", "re");
        EXPECT_EQ(1, fscanf(file, "%ld", &pages));
        fclose(file);
        return pages * sysconf(_SC_PAGESIZE);
    };
    long before = 0;
    for (uint64_t i = 1; i <= 500; i++) /* these stay */
        map_set(&values, key_of(1000000 + i), i);
    for (uint64_t i = 0; i < 300000; i++) {
        map_set(&values, key_of(i), i + 1);
        EXPECT_EQ(i + 1, map_remove(&values, key_of(i)));
        if (i == 20000)
            before = mapped();
    }
    EXPECT_LT(mapped() - before, 1 << 20);
}

TEST(Map, ReadersWaitForNobody)
{
    static map values;
    for (uint64_t i = 1; i <= 1000; i++)
        map_set(&values, key_of(i), i);
    alarm(30); /* who waited would do so for ever */
    map_remove_if(&values, also_reads, &values);
    alarm(0);
    for (uint64_t i = 1; i <= 1000; i++)
        EXPECT_EQ(map_get(&values, key_of(i)), i % 2 ? 0 : i);
}

TEST(Map, ReadersFindWhatStays)
{
    static map values;
    enum { STAY = 2000, COME = 300000 };
    static uint64_t stay[STAY];
    std::atomic<bool> over{false};
    std::atomic<uint64_t> wrong{0}, found{0};
    for (uint64_t i = 0; i < STAY; i++) {
        stay[i] = i + 1;
        map_set(&values, key_of(i * 7), reinterpret_cast<uint64_t>(&stay[i]));
    }
    std::vector<std::thread> readers;
    for (int r = 0; r < 2; r++)
        readers.emplace_back([&] {
            for (uint64_t i = 0; !over; i = (i + 1) % STAY) {
                const auto *value = reinterpret_cast<const uint64_t *>(map_get(&values, key_of(i * 7)));
                wrong += !value || *value != i + 1;
                found++;
            }
        });
    while (found < STAY)
        std::this_thread::yield();
    for (uint64_t i = 0; i < COME; i++) {
        map_set(&values, key_of(1000000 + i), 1);
        if (i % 3)
            map_remove(&values, key_of(1000000 + i));
    }
    over = true;
    for (std::thread &reader : readers)
        reader.join();
    EXPECT_EQ(wrong, 0u) << "of " << found;
}

} // namespace

/* SPDX-License-Identifier: Apache-2.0
 *
 * The memories by address against a plain model, with many of them, and with threads that look up while others change them.
 */
#include <gtest/gtest.h>

#include <atomic>
#include <ctime>
#include <map>
#include <random>
#include <thread>
#include <vector>

extern "C" {
#include "interpose/footprint/allocations/allocations.h"
#include "interpose/footprint/memories/addresses.h"
#include "interpose/footprint/memories/lookup.h"
#include "interpose/footprint/memories/memory_object.h"
#include "interpose/trace/format.h"
}

namespace
{

memory *add(uint64_t base, uint64_t bytes)
{
    memory *made = memory_object_new(PTDS_MEMORY_DEVICE, base, bytes);
    EXPECT_EQ(addresses_map(made, base, bytes, base), 1);
    memory_object_drop(made);
    return made;
}

void remove(uint64_t base)
{
    memory *gone = addresses_unmap(base);
    ASSERT_NE(gone, nullptr);
    memory_object_drop(gone);
}

TEST(Memories, BoundsAreExact)
{
    memory *made = add(0x10000, 0x100);
    EXPECT_EQ(lookup_range(nullptr, 0xffff).memory, nullptr);
    EXPECT_EQ(lookup_range(nullptr, 0x10000).memory, made);
    EXPECT_EQ(lookup_range(nullptr, 0x100ff).memory, made);
    EXPECT_EQ(lookup_range(nullptr, 0x10100).memory, nullptr);
    EXPECT_EQ(made->host, 0);
    EXPECT_EQ(addresses_unmap(0x10001), nullptr);
    remove(0x10000);
    EXPECT_EQ(lookup_range(nullptr, 0x10000).memory, nullptr);
}

TEST(Memories, HostKinds)
{
    for (auto [kind, host] : std::map<int, int>{{PTDS_MEMORY_PINNED, 1},
                                                {PTDS_MEMORY_REGISTERED, 1},
                                                {PTDS_MEMORY_MANAGED, 1},
                                                {PTDS_MEMORY_DEVICE, 0},
                                                {PTDS_MEMORY_POOL, 0},
                                                {PTDS_MEMORY_ARRAY, 0}}) {
        memory *made = memory_object_new(static_cast<uint32_t>(kind), 0x1000, 8);
        EXPECT_EQ(made->host, host) << kind;
        memory_object_drop(made);
    }
}

TEST(Memories, OneMemoryAtTwoPlaces)
{
    memory *made = memory_object_new(PTDS_MEMORY_MAPPED, 0x20000, 0x1000);
    addresses_map(made, 0x20000, 0x1000, 0x20000);
    addresses_map(made, 0x80000, 0x800, 0x20800);
    memory_range range = lookup_range(nullptr, 0x80010);
    EXPECT_EQ(range.memory, made);
    EXPECT_EQ(0x80010 + range.shift, 0x20810u);
    addresses_unmap_memory(made);
    EXPECT_EQ(lookup_range(nullptr, 0x20000).memory, nullptr);
    EXPECT_EQ(lookup_range(nullptr, 0x80010).memory, nullptr);
    memory_object_drop(made);
}

std::map<memory *, int> gone_times;

/* Whoever remembers something with a memory hears once that it goes, before another one is made of it. */
TEST(Memories, AreGoneOnceBeforeTheyServeAgain)
{
    memory_object_gone = [](memory *memory) { gone_times[memory]++; };
    constexpr uint64_t base = uint64_t{1} << 44;
    std::map<memory *, int> used;
    for (int round = 0; round < 20; round++) {
        memory *twice = memory_object_new(PTDS_MEMORY_MAPPED, base, 4096);
        EXPECT_EQ(gone_times[twice], used[twice]++);
        EXPECT_EQ(addresses_map(twice, base, 4096, base), 1);
        EXPECT_EQ(addresses_map(twice, base + 8192, 4096, base), 1);
        memory_object_drop(twice);
        memory *over = memory_object_new(PTDS_MEMORY_DEVICE, base, 4096);
        EXPECT_EQ(gone_times[over], used[over]++);
        EXPECT_EQ(addresses_map(over, base, 4096, base), 1);
        memory_object_drop(over);
        EXPECT_EQ(gone_times[twice], used[twice] - 1) << "one range is left";
        addresses_unmap_all(base, 16384);
        EXPECT_EQ(gone_times[twice], used[twice]);
        EXPECT_EQ(gone_times[over], used[over]);
    }
    memory_object_gone = nullptr;
}

uint32_t gone_uid;

TEST(Memories, AnotherUidAfterTheLastHoldIsGone)
{
    memory *made = add(0x30000, 16);
    uint32_t uid = made->uid;
    memory_object_gone = [](memory *memory) { gone_uid = memory->uid; };
    memory_object_hold(made);
    remove(0x30000);
    EXPECT_EQ(gone_uid, 0u);
    EXPECT_EQ(made->uid, uid);
    memory_object_drop(made);
    memory_object_gone = nullptr;
    EXPECT_EQ(gone_uid, uid);
    EXPECT_NE(add(0x30000, 16)->uid, uid);
    remove(0x30000);
}

/* What lay there before has gone without a call. */
TEST(Memories, NewOnesReplaceWhatTheyOverlap)
{
    add(0x40000, 0x100);
    add(0x40100, 0x100);
    memory *last = add(0x40200, 0x100);
    memory *made = add(0x40080, 0x100);
    EXPECT_EQ(lookup_range(nullptr, 0x40000).memory, nullptr);
    EXPECT_EQ(lookup_range(nullptr, 0x40100).memory, made);
    EXPECT_EQ(lookup_range(nullptr, 0x40200).memory, last);
    addresses_unmap_all(0x40000, 0x1000);
    EXPECT_EQ(lookup_range(nullptr, 0x40200).memory, nullptr);
    EXPECT_EQ(addresses_count(), 0u);
}

/* A fork in the middle of a change is rare: at all other times the child knows what its parent knew. */
TEST(Memories, AForkedChildKnowsThemAll)
{
    for (uint64_t i = 0; i < 5; i++) {
        memory *made = add(0x50000 + i * 0x1000, 16);
        addresses_after_fork();
        EXPECT_EQ(lookup_range(nullptr, 0x50000 + i * 0x1000).memory, made) << i;
        EXPECT_EQ(addresses_count(), i + 1);
    }
    addresses_unmap_all(0x50000, 0x5000);
    addresses_after_fork();
    EXPECT_EQ(addresses_count(), 0u);
}

TEST(Memories, AgainstAModel)
{
    std::mt19937_64 random(1);
    std::map<uint64_t, std::pair<uint64_t, memory *>> model; /* base -> end, memory */
    for (int step = 0; step < 200000; step++) {
        uint64_t base = 0x100000 + random() % 4096 * 64, bytes = 1 + random() % 200;
        auto at = model.upper_bound(base);
        if (random() % 2) {
            while (at != model.begin() && std::prev(at)->second.first > base)
                at = model.erase(std::prev(at));
            while (at != model.end() && at->first < base + bytes)
                at = model.erase(at);
            memory *made = add(base, bytes);
            model[base] = {base + bytes, made};
        } else if (at != model.begin()) {
            uint64_t first = std::prev(at)->first;
            remove(first);
            model.erase(first);
        }
        uint64_t address = 0x100000 + random() % (4096 * 64);
        at = model.upper_bound(address);
        memory *expected =
            at == model.begin() || std::prev(at)->second.first <= address ? nullptr : std::prev(at)->second.second;
        ASSERT_EQ(lookup_range(nullptr, address).memory, expected) << step;
        ASSERT_EQ(addresses_count(), model.size()) << step;
    }
    addresses_unmap_all(0, 1 << 30);
}

/* Insertion does not grow with their number; and all are found. By the processor's time: others may have it meanwhile. */
TEST(Memories, AQuarterOfAMillion)
{
    constexpr uint64_t many = 262144, step = 8191; /* a step that visits all places in another order */
    const std::clock_t begin = std::clock();
    for (uint64_t i = 0; i < many; i++)
        add(0x7f0000000000 + i * step % many * 512, 512);
    EXPECT_LT(std::clock() - begin, 10 * CLOCKS_PER_SEC);
    ASSERT_EQ(addresses_count(), many);
    for (uint64_t i = 0; i < many; i += 97)
        ASSERT_EQ(lookup_range(nullptr, 0x7f0000000000 + i * 512 + 100).begin, 0x7f0000000000 + i * 512);
    for (uint64_t i = 0; i < many; i++)
        remove(0x7f0000000000 + i * 512);
    EXPECT_EQ(addresses_count(), 0u);
}

/* A graph keeps the address of what it allocates until it goes: then another memory has it, and that is freed as ever. */
TEST(Memories, OfAGraphUntilTheAddressIsAnothers)
{
    static struct thread thread;
    struct call call = {};
    call.thread = &thread;
    call.footprint = 1;
    const uint64_t base = 0x40000;
    allocations_node_made(&call, base, 4096);
    memory *graphs = lookup_range(nullptr, base).memory;
    ASSERT_NE(nullptr, graphs);
    const uint32_t uid = graphs->uid;
    call.leaving = nullptr;
    call.touched.count = 0;
    allocations_freeing(&call, PTDS_OP_FREE, base);
    allocations_freed(&call);
    EXPECT_EQ(graphs, lookup_range(nullptr, base).memory);
    EXPECT_EQ(uid, call.object);
    EXPECT_EQ(1u, call.touched.count);
    allocations_made(&call, PTDS_MEMORY_DEVICE, &base, sizeof base, 4096);
    EXPECT_NE(uid, lookup_range(nullptr, base).memory->uid);
    allocations_freeing(&call, PTDS_OP_FREE, base);
    allocations_freed(&call);
    EXPECT_EQ(nullptr, lookup_range(nullptr, base).memory);
    call.leaving = nullptr;
    call.result = CUDA_ERROR_UNKNOWN;
    allocations_node_made(&call, base, 4096);
    call.result = CUDA_SUCCESS, call.footprint = 0;
    allocations_node_made(&call, base, 4096);
    EXPECT_EQ(nullptr, lookup_range(nullptr, base).memory);
}

/* Each thread finds its own memories, which nobody else changes, whatever happens around them. */
TEST(Memories, ThreadsAmongChanges)
{
    std::atomic<bool> wrong{false};
    std::vector<std::thread> threads;
    for (uint64_t number = 0; number < 4; number++) {
        threads.emplace_back([number, &wrong] {
            std::mt19937_64 random(number);
            memory *mine[64] = {};
            for (int step = 0; step < 40000; step++) {
                uint64_t i = random() % 64, base = 0x1000000 + (i * 4 + number) * 256; /* between the others' */
                if (mine[i]) {
                    memory_range range = lookup_range(nullptr, base + random() % 256);
                    wrong = wrong || range.memory != mine[i] || range.begin != base;
                    memory_object_drop(addresses_unmap(base));
                    wrong = wrong || lookup_range(nullptr, base).memory;
                    mine[i] = nullptr;
                } else {
                    mine[i] = add(base, 256);
                }
            }
        });
    }
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_FALSE(wrong);
    addresses_unmap_all(0, 1 << 30);
}

/* In whichever order they come. */
TEST(Memories, ThatLieNearEachOther)
{
    constexpr uint64_t at = uint64_t{3} << 40, size = 0x100000, far = at + 3 * size + 0x10001;
    struct thread *thread = thread_get();
    struct memory *first = memory_object_new(PTDS_MEMORY_DEVICE, at, size),
                  *second = memory_object_new(PTDS_MEMORY_DEVICE, at + size, size);
    struct memory *third = memory_object_new(PTDS_MEMORY_DEVICE, at + 2 * size, size),
                  *last = memory_object_new(PTDS_MEMORY_DEVICE, far, size);
    addresses_map(third, at + 2 * size, size, at + 2 * size);
    addresses_map(last, far, size, far);
    addresses_map(first, at, size, at);
    EXPECT_EQ(third, lookup_memory(thread, at + 2 * size + 4, 0)) << "nothing lies there";
    addresses_map(second, at + size, size, at + size);
    const auto means = [&](uint64_t address) {
        struct memory *found[4];
        std::string text;
        for (unsigned i = 0, count = lookup_around(thread, address, found, 4); i < count; i++)
            text += found[i] == first    ? "1"
                    : found[i] == second ? "2"
                    : found[i] == third  ? "3"
                    : found[i] == last   ? "4"
                                         : "?";
        if (struct memory *one = lookup_memory(thread, address, 0))
            text += text == (one == first ? "1" : one == second ? "2" : one == third ? "3" : "4") ? "" : " not alone";
        else
            text += text.size() == 1 ? " beside" : "";
        return text;
    };
    EXPECT_EQ("1", means(at));
    EXPECT_EQ("1", means(at + 4));
    EXPECT_EQ("12", means(at + size - 0x10000));
    EXPECT_EQ("1", means(at + size - 0x10001));
    EXPECT_EQ("2", means(at + size));
    EXPECT_EQ("21", means(at + size + 4));
    EXPECT_EQ("21", means(at + size + 0x10000));
    EXPECT_EQ("2", means(at + size + 0x10001));
    EXPECT_EQ("23", means(at + 2 * size - 1));
    EXPECT_EQ("32", means(at + 2 * size + 4));
    EXPECT_EQ("3", means(at + 3 * size - 1));
    EXPECT_EQ("43", means(at + 3 * size + 1)) << "in none";
    EXPECT_EQ("3 beside", means(at + 3 * size));
    EXPECT_EQ("43", means(far - 1));
    EXPECT_EQ("", means(far + size + 0x10001));
    for (uint64_t base : {at, at + size, at + 2 * size, far})
        memory_object_drop(addresses_unmap(base));
    for (struct memory *one : {first, second, third, last})
        memory_object_drop(one);
}

} // namespace

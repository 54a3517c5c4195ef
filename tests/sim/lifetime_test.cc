// SPDX-License-Identifier: Apache-2.0
//
// Threads that are cancelled inside a call, and what is made and destroyed very often.
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <map>
#include <random>

#include "tests/sim/driver_fixture.h"

// A sanitizer's own memory and time say nothing.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

namespace
{

class Lifetimes : public Driver
{
protected:
    static size_t ResidentBytes()
    {
        size_t total = 0, resident = 0;
        std::ifstream("/proc/self/statm") >> total >> resident;
        return resident * 4096;
    }

    // The process's own seconds, of the quickest of some rounds: others use the machine, too.
    template <typename Round> static double Quickest(Round round)
    {
        double best = 1e9;
        for (int i = 0; i < 5; i++) {
            timespec before, after;
            clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
            round();
            clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
            best = std::min(best, static_cast<double>(after.tv_sec - before.tv_sec) +
                                      1e-9 * static_cast<double>(after.tv_nsec - before.tv_nsec));
        }
        return best;
    }
};

struct Waiter {
    CUcontext ctx;
    CUstream stream;
    bool returned;
};

void *WaitForTheStream(void *argument)
{
    auto *w = static_cast<Waiter *>(argument);
    cuCtxSetCurrent(w->ctx);
    cuStreamSynchronize(w->stream);
    w->returned = true;
    pthread_testcancel();
    return nullptr;
}

// Nothing of the driver is cancelled half way: the call ends, the thread goes, and everybody else goes on.
TEST_F(Lifetimes, AThreadCancelledInABlockingCall)
{
    pthread_t thread;
    void *result = nullptr;
    Waiter w = {ctx_, nullptr, false};
    ASSERT_EQ(CUDA_SUCCESS, cuStreamCreate(&w.stream, CU_STREAM_NON_BLOCKING));
    uint32_t *gate = Gate(w.stream);
    ASSERT_EQ(0, pthread_create(&thread, nullptr, WaitForTheStream, &w));
    usleep(50000);
    ASSERT_EQ(0, pthread_cancel(thread));
    usleep(50000);
    EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(w.stream)); /* the lock is free */
    EXPECT_EQ(CUDA_SUCCESS, Launch(Kernel("empty"), nullptr, {}));
    Open(gate);
    ASSERT_EQ(0, pthread_join(thread, &result));
    EXPECT_EQ(PTHREAD_CANCELED, result);
    EXPECT_TRUE(w.returned);
    EXPECT_EQ(CUDA_SUCCESS, cuCtxSynchronize());
    EXPECT_EQ(CUDA_SUCCESS, cuStreamDestroy_v2(w.stream));
    EXPECT_EQ(CUDA_SUCCESS, cuMemFreeHost(gate));
}

TEST_F(Lifetimes, HandlesComeAndGoInTheSameMemory)
{
    CUevent e;
    size_t before = 0;
    for (int i = 0; i < 400000; i++) {
        if (i == 10000)
            before = ResidentBytes();
        ASSERT_EQ(CUDA_SUCCESS, cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
        ASSERT_EQ(CUDA_SUCCESS, cuEventDestroy_v2(e));
    }
    if (!kSanitized) {
        EXPECT_LT(ResidentBytes(), before + (4u << 20));
    }
}

// A stream that is destroyed busy goes when its work is done, whoever looks.
TEST_F(Lifetimes, StreamsComeAndGoInTheSameMemory)
{
    CUstream s;
    CUfunction empty = Kernel("empty");
    size_t before = 0;
    for (int i = 0; i < 60000; i++) {
        if (i == 10000)
            before = ResidentBytes();
        ASSERT_EQ(CUDA_SUCCESS, cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
        ASSERT_EQ(CUDA_SUCCESS, Launch(empty, s, {}));
        ASSERT_EQ(CUDA_SUCCESS, cuStreamDestroy_v2(s));
        if (i % 500 == 499) { // on a busy machine the device falls behind, and 2 kB stay for each that is pending
            ASSERT_EQ(CUDA_SUCCESS, cuCtxSynchronize());
        }
    }
    if (!kSanitized) {
        EXPECT_LT(ResidentBytes(), before + (8u << 20));
    }
}

// A handle is found at once, however many there are.
TEST_F(Lifetimes, ManyLiveHandles)
{
    constexpr int kQueries = 4000;
    std::vector<CUevent> events(60000);
    auto seconds = [&](size_t among) {
        return Quickest([&] {
            for (int i = 0; i < kQueries; i++)
                EXPECT_EQ(CUDA_SUCCESS, cuEventQuery(events[static_cast<size_t>(i) * 7919 % among]));
        });
    };
    for (size_t i = 0; i < 10; i++)
        ASSERT_EQ(CUDA_SUCCESS, cuEventCreate(&events[i], CU_EVENT_DISABLE_TIMING));
    double few = seconds(10);
    for (size_t i = 10; i < events.size(); i++)
        ASSERT_EQ(CUDA_SUCCESS, cuEventCreate(&events[i], CU_EVENT_DISABLE_TIMING));
    double many = seconds(events.size());
    if (!kSanitized) {
        EXPECT_LT(many, few + kQueries * 10e-6); /* a look at 60,000 takes several times that */
    }
    for (CUevent e : events)
        EXPECT_EQ(CUDA_SUCCESS, cuEventDestroy_v2(e));
}

// Where memory is free is known at once, however many allocations there are.
TEST_F(Lifetimes, ManyAllocationsComeAndGo)
{
    constexpr size_t kSome = 2000;
    std::vector<CUdeviceptr> all(60000);
    size_t made = 0;
    auto some = [&] {
        for (size_t i = made; i < made + kSome; i++)
            EXPECT_EQ(CUDA_SUCCESS, cuMemAlloc_v2(&all[i], i % 3 == 0 ? 512 : i % 3 == 1 ? 1536 : 4000));
        made += kSome;
    };
    double few = Quickest(some), many = few;
    while (made < all.size())
        many = Quickest(some);
    if (!kSanitized) {
        EXPECT_LT(many, few + kSome * 50e-6); /* a walk over 50,000 takes several hundred microseconds */
    }
    for (CUdeviceptr pointer : all)
        EXPECT_EQ(CUDA_SUCCESS, cuMemFree_v2(pointer));
}

// The lowest gap that is large enough, as it always was.
TEST_F(Lifetimes, AllocationsTakeTheFirstGapThatFits)
{
    std::map<CUdeviceptr, size_t> held; /* base -> size, rounded */
    std::mt19937 random(20261122);
    CUdeviceptr first;
    ASSERT_EQ(CUDA_SUCCESS, cuMemAlloc_v2(&first, 1));
    held[first] = 512;
    for (int i = 0; i < 20000; i++) {
        if (held.size() > 1 && random() % 5 < 2) {
            auto one = std::next(held.begin(), 1 + static_cast<long>(random() % (held.size() - 1)));
            ASSERT_EQ(CUDA_SUCCESS, cuMemFree_v2(one->first));
            held.erase(one);
            continue;
        }
        size_t size = (1 + random() % 40) * 512;
        CUdeviceptr expected = first, found;
        for (auto [base, bytes] : held) {
            if (base - expected >= size)
                break;
            expected = base + bytes;
        }
        ASSERT_EQ(CUDA_SUCCESS, cuMemAlloc_v2(&found, size - random() % 512));
        ASSERT_EQ(expected, found) << i;
        held[found] = size;
        if (held.size() > 200 && random() % 400 == 0)
            while (held.size() > 20) {
                ASSERT_EQ(CUDA_SUCCESS, cuMemFree_v2(held.rbegin()->first));
                held.erase(std::prev(held.end()));
            }
    }
    for (auto [base, bytes] : held)
        EXPECT_EQ(CUDA_SUCCESS, cuMemFree_v2(base));
}

// Legacy work asks those streams that have work, not all there are.
TEST_F(Lifetimes, IdleStreamsCostALaunchNothing)
{
    constexpr int kLaunches = 400;
    std::vector<CUstream> streams(20000);
    CUfunction empty = Kernel("empty");
    auto launches = [&] {
        for (int i = 0; i < kLaunches; i++)
            EXPECT_EQ(CUDA_SUCCESS, Launch(empty, nullptr, {}));
        EXPECT_EQ(CUDA_SUCCESS, cuCtxSynchronize());
    };
    double few = Quickest(launches);
    for (CUstream &s : streams) {
        ASSERT_EQ(CUDA_SUCCESS, cuStreamCreate(&s, 0));
        ASSERT_EQ(CUDA_SUCCESS, Launch(empty, s, {})); /* each had work once */
    }
    EXPECT_EQ(CUDA_SUCCESS, cuCtxSynchronize());
    double many = Quickest(launches);
    if (!kSanitized) {
        EXPECT_LT(many, few + kLaunches * 20e-6); /* a look at 20,000 takes several times that */
    }
    for (CUstream s : streams)
        EXPECT_EQ(CUDA_SUCCESS, cuStreamDestroy_v2(s));
}

} // namespace

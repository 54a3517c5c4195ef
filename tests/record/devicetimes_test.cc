/* SPDX-License-Identifier: Apache-2.0
 *
 * Sampled device times: which operations get events around them, what is recorded of those that have ended, and what is
 * given up. The driver's events are the test's, with a clock of its own.
 */
#include "tests/record/recording.h"

#include <cerrno>
#include <cfenv>
#include <ctime>
#include <map>
#include <sys/syscall.h>
#include <unistd.h>

extern "C" {
#include "interpose/env/env.h"
#include "interpose/state/contexts.h"
#include "interpose/driver/driver.h"
#include "interpose/record/device/device_times.h"
#include "interpose/state/capture.h"
}

namespace
{

constexpr int kFirst = 178, kSecond = 131; /* the first of thread 7's that are looked at, and how many later the next is */

CUcontext const kHandle = CUcontext(0x300000);
std::map<CUevent, double> g_at; /* ms, when an event was recorded */
double g_now;                   /* ms */
uintptr_t g_events;
CUresult g_ready, g_creates, g_records;
bool g_base_is_late; /* events of the shim's own stream do not end */
CUstream const kOwn = CUstream(0x5000);
std::map<CUevent, CUstream> g_on;
CUresult g_streams, g_own_records;
int g_looks;      /* at the shim's own event */
uint64_t g_clock; /* CLOCK_MONOTONIC, which goes on by a microsecond with each look */

} // namespace

/* In the place of libc's. */
extern "C" __attribute__((visibility("default"))) int clock_gettime(clockid_t id, struct timespec *now) noexcept
{
    if (g_clock == 0 || id != CLOCK_MONOTONIC)
        return static_cast<int>(syscall(SYS_clock_gettime, id, now));
    g_clock += 1000;
    *now = {time_t(g_clock / 1000000000), long(g_clock % 1000000000)};
    return 0;
}

namespace
{

CUresult current(CUcontext *context)
{
    *context = kHandle;
    return CUDA_SUCCESS;
}
CUresult create_stream(CUstream *stream, unsigned flags)
{
    EXPECT_EQ(unsigned{CU_STREAM_NON_BLOCKING}, flags);
    *stream = kOwn;
    return g_streams;
}
CUresult create_event(CUevent *event, unsigned flags)
{
    EXPECT_EQ(unsigned{CU_EVENT_DEFAULT}, flags) << "with times";
    *event = CUevent(++g_events * 16);
    return g_creates;
}
CUresult record_event(CUevent event, CUstream stream)
{
    errno = EIO;
    if ((stream == kOwn ? g_own_records : g_records) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_HANDLE;
    g_at[event] = g_now;
    g_on[event] = stream;
    return CUDA_SUCCESS;
}
CUresult query(CUevent event)
{
    g_looks += g_on[event] == kOwn;
    if (g_on[event] == kOwn)
        return g_base_is_late ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
    return g_ready;
}
CUresult elapsed(float *ms, CUevent from, CUevent to)
{
    *ms = static_cast<float>(g_at[to] - g_at[from]);
    return CUDA_SUCCESS;
}

class DeviceTimes : public Recording
{
protected:
    void SetUp() override
    {
        Recording::SetUp();
        driver.cuCtxGetCurrent = current;
        driver_real[API_cuStreamCreate][0] = reinterpret_cast<void *>(create_stream);
        driver_real[API_cuEventCreate][0] = reinterpret_cast<void *>(create_event);
        driver_real[API_cuEventRecord][0] = reinterpret_cast<void *>(record_event);
        driver_real[API_cuEventQuery][0] = reinterpret_cast<void *>(query);
        driver_real[API_cuEventElapsedTime][0] = reinterpret_cast<void *>(elapsed);
        g_at.clear();
        g_on.clear();
        g_now = 1000;
        g_ready = g_creates = g_records = g_streams = g_own_records = CUDA_SUCCESS;
        g_looks = 0;
        g_clock = 1000000000;
        g_base_is_late = false;
        here_ = contexts_get(kHandle);
        ASSERT_TRUE(here_);
        here_->device_base = nullptr;
        here_->kind = PTDS_CONTEXT_PRIMARY;
        const_cast<struct env *>(env_get())->device_times = ENV_DEVICE_TIMES_SAMPLED;
        device_times_start();
        ASSERT_EQ(uint32_t{ENV_DEVICE_TIMES_SAMPLED}, device_times_on);
    }
    void TearDown() override
    {
        g_clock = 0;
        const_cast<struct env *>(env_get())->device_times = ENV_DEVICE_TIMES_OFF;
        Recording::TearDown();
        EXPECT_EQ(0u, device_times_on);
        driver.cuCtxGetCurrent = nullptr;
        for (uint16_t api : {uint16_t{API_cuStreamCreate}, uint16_t{API_cuEventCreate}, uint16_t{API_cuEventRecord},
                             uint16_t{API_cuEventQuery}, uint16_t{API_cuEventElapsedTime}})
            driver_real[api][0] = nullptr;
    }
    struct call work()
    {
        struct call call = made();
        call.context = here_;
        call.target = CUstream(0x6000);
        call.target_uid = 12;
        call.enter = 1000 + ++calls_;
        return call;
    }
    /* 1: it got events. It runs for so many ms. */
    int makes(struct call call, double ms = 2.5, CUresult result = CUDA_SUCCESS)
    {
        device_times_before(&call);
        if (!call.sample)
            return 0;
        g_now += ms;
        call.result = result;
        device_times_after(&call);
        EXPECT_EQ(nullptr, call.sample);
        return 1;
    }
    /* How many get events of so many calls like work(). */
    int of(int count, double ms = 2.5)
    {
        int sampled = 0;
        while (count-- > 0)
            sampled += makes(work(), ms);
        return sampled;
    }
    static std::vector<ptds_rec_DEVICE_TIME> times()
    {
        return all<ptds_rec_DEVICE_TIME>(PTDS_REC_DEVICE_TIME);
    }
    struct context *here_ = nullptr;
    uint64_t calls_ = 0;
};

/* Not before the first hundred, never more than one of a hundred, nor fewer than one of two hundred. */
TEST_F(DeviceTimes, OneInAHundred)
{
    EXPECT_EQ(0, of(kFirst - 1));
    errno = ENOTTY;
    EXPECT_EQ(1, of(1));
    EXPECT_EQ(ENOTTY, errno);
    EXPECT_EQ(0, of(kSecond - 1));
    EXPECT_EQ(1, of(1));
    const int more = of(20000);
    EXPECT_GE(more, 100);
    EXPECT_LE(more, 200);
}

TEST_F(DeviceTimes, WhatIsRecordedOfOne)
{
    of(kFirst - 1);
    g_now = 1005;
    of(1, 2.5);
    g_now = 1002; /* when the moment that times count from is marked */
    of(15);
    EXPECT_EQ(0u, times().size());
    of(1);
    ASSERT_EQ(1u, times().size());
    EXPECT_EQ(1000u + kFirst, times()[0].enter);
    EXPECT_EQ(7u, times()[0].thread);
    EXPECT_EQ(3000000u, times()[0].start);
    EXPECT_EQ(5500000u, times()[0].end);
    auto base = last<ptds_rec_DEVICE_BASE>(PTDS_REC_DEVICE_BASE);
    EXPECT_EQ(base.id, times()[0].base);
    EXPECT_EQ(here_->uid, base.context);
    EXPECT_EQ(unsigned{PTDS_DEVICE_EVENTS}, base.source);
    EXPECT_NE(0u, base.earliest);
    EXPECT_LE(base.earliest, base.latest);
    of(3000);
    EXPECT_EQ(1u, all<ptds_rec_DEVICE_BASE>(PTDS_REC_DEVICE_BASE).size()) << "for all of them, for a while";
}

/* The thread's floating-point state is the program's: its way of rounding makes no difference, and no exception occurs in
 * it. */
TEST_F(DeviceTimes, TheProgramsFloatingPointStateStays)
{
    of(kFirst - 1);
    g_now = 1005.3;
    of(1, 2.5);
    g_now = 1002;
    of(15);
    ASSERT_EQ(0u, times().size());
    fesetround(FE_UPWARD);
    feclearexcept(FE_ALL_EXCEPT);
    of(1);
    EXPECT_EQ(0, fetestexcept(FE_ALL_EXCEPT));
    EXPECT_EQ(FE_UPWARD, fegetround());
    fesetround(FE_TONEAREST);
    ASSERT_EQ(1u, times().size());
    EXPECT_EQ(3299999u, times()[0].start);
    EXPECT_EQ(5800000u, times()[0].end);
}

/* Eight at once, which are collected one by one, in their order. */
TEST_F(DeviceTimes, AsManyAsAreUnderWay)
{
    g_ready = CUDA_ERROR_NOT_READY;
    EXPECT_EQ(8, of(20000));
    EXPECT_EQ(0u, times().size());
    g_ready = CUDA_SUCCESS;
    of(16 * 8);
    ASSERT_EQ(8u, times().size());
    for (size_t i = 1; i < 8; i++)
        EXPECT_LT(times()[i - 1].enter, times()[i].enter);
    EXPECT_GE(of(400), 1);
}

TEST_F(DeviceTimes, WhatIsNoWorkOfTheDevices)
{
    std::vector<struct call> others(6, work());
    others[0].flags = PTDS_CALL_IMPLICIT;
    others[1].flags = PTDS_CALL_CAPTURING;
    others[2].target_uid = 0;
    others[3].context = &context_;
    others[4].enter = 0;
    others[5].op = PTDS_OP_EVENT_RECORD;
    for (struct call &one : others)
        for (int i = 0; i < 300; i++)
            ASSERT_EQ(0, makes(one));
    captures_open = 1;
    EXPECT_EQ(0, of(300));
    captures_open = 0;
    here_->kind = PTDS_CONTEXT_GREEN;
    EXPECT_EQ(0, of(300));
    here_->kind = PTDS_CONTEXT_PRIMARY;
    EXPECT_EQ(0, of(kFirst - 1)) << "none of them counted";
    EXPECT_EQ(1, of(1));
}

TEST_F(DeviceTimes, EachKindOfWork)
{
    for (unsigned op = PTDS_OP_NONE; op <= PTDS_OP_GRAPH_UPLOAD; op++) {
        int sampled = 0;
        for (int i = 0; i < 400; i++) {
            struct call call = work();
            call.op = uint8_t(op);
            sampled += makes(call);
        }
        const bool works = op == PTDS_OP_LAUNCH || op == PTDS_OP_COPY || op == PTDS_OP_MEMSET || op == PTDS_OP_GRAPH_LAUNCH;
        EXPECT_EQ(works, sampled > 0) << op;
    }
}

/* Work of no duration: one in 4212 next, since the events take time of the device's. */
TEST_F(DeviceTimes, FewerOfShortWork)
{
    EXPECT_EQ(1, of(kFirst, 0));
    of(16, 0); /* which collects it, after the next countdown has begun */
    of(kSecond - 16, 0);
    EXPECT_EQ(0, of(4211, 0));
    EXPECT_EQ(1, of(4212, 0));
}

TEST_F(DeviceTimes, WhatFailsIsNotWaitedFor)
{
    of(kFirst - 1);
    EXPECT_EQ(1, makes(work(), 1, CUDA_ERROR_LAUNCH_FAILED));
    of(64);
    EXPECT_EQ(0u, times().size());
    g_records = CUDA_ERROR_INVALID_HANDLE;
    EXPECT_EQ(0, of(1000));
    g_records = CUDA_SUCCESS;
    g_ready = CUDA_ERROR_LAUNCH_FAILED; /* it ended so */
    EXPECT_GE(of(200), 1);
    of(16);
    EXPECT_EQ(0u, times().size());
    g_ready = CUDA_SUCCESS;
    EXPECT_GE(of(1000), 4);
    EXPECT_GE(times().size(), 4u);
}

/* On a busy device: a later sample tries again. */
TEST_F(DeviceTimes, WithoutAMomentToCountFrom)
{
    g_base_is_late = true;
    of(kFirst + 64);
    EXPECT_EQ(0u, times().size());
    EXPECT_EQ(0u, all<ptds_rec_DEVICE_BASE>(PTDS_REC_DEVICE_BASE).size());
    g_base_is_late = false;
    of(16);
    EXPECT_EQ(1u, times().size());
}

/* Not for long: as long as 50 looks take here. */
TEST_F(DeviceTimes, ABusyDeviceIsNotWaitedFor)
{
    g_base_is_late = true;
    of(kFirst + 16);
    EXPECT_GE(g_looks, 20);
    EXPECT_LE(g_looks, 51);
}

/* Another moment to count from after two seconds, for the precision of what is counted. */
TEST_F(DeviceTimes, MomentsToCountFrom)
{
    of(2000);
    EXPECT_EQ(1u, all<ptds_rec_DEVICE_BASE>(PTDS_REC_DEVICE_BASE).size());
    const uint32_t first = last<ptds_rec_DEVICE_BASE>(PTDS_REC_DEVICE_BASE).id;
    g_clock += 1900000000;
    of(2000);
    EXPECT_EQ(1u, all<ptds_rec_DEVICE_BASE>(PTDS_REC_DEVICE_BASE).size());
    g_clock += 200000000;
    of(2000);
    EXPECT_EQ(2u, all<ptds_rec_DEVICE_BASE>(PTDS_REC_DEVICE_BASE).size());
    EXPECT_EQ(first + 1, last<ptds_rec_DEVICE_BASE>(PTDS_REC_DEVICE_BASE).id);
    EXPECT_EQ(first + 1, times().back().base);
}

/* What is made early is not made in the middle of the work. */
TEST_F(DeviceTimes, WhatALaneComesWith)
{
    device_times_ready(here_);
    device_times_ready(here_);
    g_streams = CUDA_ERROR_OUT_OF_MEMORY;
    of(4000);
    EXPECT_GT(times().size(), 4u);
    device_times_after_fork();
    struct context other = {};
    device_times_ready(&other);
    EXPECT_EQ(nullptr, other.device_base) << "not where nobody asked for it";
    device_times_start();
}

/* Where there is none to be had what has ended is given up, so that it holds up nothing. */
TEST_F(DeviceTimes, WhereNoMomentIsToBeHad)
{
    for (CUresult *refused : {&g_streams, &g_own_records}) {
        *refused = CUDA_ERROR_OUT_OF_MEMORY;
        here_->device_base = nullptr;
        EXPECT_GT(of(4000), 16);
        *refused = CUDA_SUCCESS;
        EXPECT_GT(of(1000), 4);
        EXPECT_EQ(0u, times().size()) << "it is not asked again";
    }
}

TEST_F(DeviceTimes, OfADriverThatMakesNoEvents)
{
    g_creates = CUDA_ERROR_OUT_OF_MEMORY;
    EXPECT_EQ(0, of(400));
    g_creates = CUDA_SUCCESS;
    EXPECT_EQ(0, of(4000)) << "it is not asked again";
}

TEST_F(DeviceTimes, OfADriverThatLacksAFunction)
{
    for (uint16_t api : {uint16_t{API_cuEventCreate}, uint16_t{API_cuEventRecord}, uint16_t{API_cuEventQuery},
                         uint16_t{API_cuStreamCreate}, uint16_t{API_cuEventElapsedTime}}) {
        void *before = driver_real[api][0];
        driver_real[api][0] = nullptr;
        device_times_after_fork();
        device_times_start();
        EXPECT_EQ(0u, device_times_on) << api_rows[api].symbol;
        driver_real[api][0] = before;
    }
}

} // namespace

/* SPDX-License-Identifier: Apache-2.0
 *
 * The test plays the wrapper: threads of a program that make calls; the driver is a handful of functions that succeed.
 */
#ifndef PTDS_TESTS_GUARD_CALLER_H
#define PTDS_TESTS_GUARD_CALLER_H

#include <gtest/gtest.h>

#include <atomic>

extern "C" {
#include "interpose/state/contexts.h"
#include "interpose/driver/driver.h"
#include "interpose/guard/around_call.h"
#include "interpose/guard/carry_out/issue.h"
#include "interpose/guard/carry_out/pool_streams.h"
#include "interpose/guard/guard.h"
}

#include "tests/guard/memory.h"

namespace
{

/* ---- a driver ---- */

CUcontext const kContext = CUcontext(0x1000);
std::atomic<uintptr_t> g_handles{0x10000};
std::atomic<CUstream> g_recorded_on;
std::atomic<int> g_host_waits;

CUcontext g_current = kContext;

CUresult context_now(CUcontext *context)
{
    *context = g_current;
    return CUDA_SUCCESS;
}
CUresult make_stream(CUstream *stream, unsigned)
{
    *stream = CUstream(g_handles += 16);
    return CUDA_SUCCESS;
}
CUresult make_event(CUevent *event, unsigned)
{
    *event = CUevent(g_handles += 16);
    return CUDA_SUCCESS;
}
CUresult record(CUevent, CUstream stream)
{
    g_recorded_on = stream;
    return CUDA_SUCCESS;
}
CUresult wait_event(CUstream, CUevent, unsigned)
{
    return CUDA_SUCCESS;
}
CUresult host_wait(CUstream)
{
    g_host_waits++;
    return CUDA_SUCCESS;
}

void install_driver()
{
    driver.cuCtxGetCurrent = context_now;
    driver_real[API_cuStreamCreate][0] = reinterpret_cast<void *>(make_stream);
    driver_real[API_cuEventCreate][0] = reinterpret_cast<void *>(make_event);
    driver_real[API_cuEventRecord][0] = reinterpret_cast<void *>(record);
    driver_real[API_cuStreamWaitEvent][0] = reinterpret_cast<void *>(wait_event);
    driver_real[API_cuStreamSynchronize][0] = reinterpret_cast<void *>(host_wait);
}

/* A thread of the program in the context, and one call of its. */
struct Caller {
    struct thread thread = {};
    struct thread_context here = {};
    struct call call = {};

    explicit Caller(struct context *context)
    {
        here.context = context;
        here.context_uid = context->uid;
        thread.last_context = thread.contexts = &here;
        call.thread = &thread;
        call.context = context;
    }
    void fill(uint16_t api, uint8_t op, struct memory *memory)
    {
        call.api = api;
        call.op = op;
        call.guarded.kind = call.guarded.turn = call.guarded.gate = call.guarded.again = call.guarded.waits = 0;
        call.guarded.begun = 0;
        call.touched.opaque = call.touched.host = 0;
        call.touched.count = memory != nullptr;
        call.touched.at[0] = {memory, 0, UINT64_MAX, 1};
    }
    /* Up to where the wrapper would call the driver. 1: it went the quick way. */
    int begin(struct memory *memory)
    {
        fill(API_cuLaunchKernel, PTDS_OP_LAUNCH, memory);
        EXPECT_EQ(1, guard_default_work(&call, 0, 1));
        return call.guarded.again;
    }
    void end()
    {
        around_call_leave(&call);
    }
    void launch(struct memory *memory)
    {
        begin(memory);
        end();
    }
    unsigned lane() const
    {
        return here.lanes[0];
    }
};

class Quick : public testing::Test
{
protected:
    void SetUp() override
    {
        install_driver();
        context_ = contexts_get(kContext);
        ASSERT_TRUE(context_);
        ASSERT_EQ(2u, pool_streams_make(context_, 2, 0, 0, 0));
    }
    /* The next launch on the memory goes quickly. */
    static void warm(Caller *caller, struct memory *memory)
    {
        for (int i = 0; i < 3; i++)
            caller->launch(memory);
        ASSERT_EQ(1, caller->begin(memory));
        caller->end();
    }
    struct context *context_ = nullptr;
};

} // namespace

#endif

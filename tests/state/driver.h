/* SPDX-License-Identifier: Apache-2.0
 *
 * A driver that says which context is current and of what kind a stream is, as the test wants it; and the calls that tell
 * the shim of contexts, streams and captures, as the wrappers make them.
 */
#ifndef PTDS_TESTS_STATE_DRIVER_H
#define PTDS_TESTS_STATE_DRIVER_H

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

extern "C" {
#include "interpose/state/streams.h"
#include "interpose/state/contexts.h"
#include "interpose/driver/driver.h"
#include "interpose/state/call.h"
#include "interpose/state/capture.h"
#include "interpose/state/thread.h"
}

namespace
{

thread_local CUcontext t_current;
std::atomic<int> g_active;     /* of the primary context */
std::atomic<unsigned> g_flags; /* of a stream that is asked about */
std::atomic<int> g_asked;      /* how often the driver was */
CUstreamCaptureStatus g_status = CU_STREAM_CAPTURE_STATUS_NONE;

CUresult context_now(CUcontext *context)
{
    *context = t_current;
    return CUDA_SUCCESS;
}
CUresult device_now(CUdevice *device)
{
    g_asked++;
    *device = 5;
    return CUDA_SUCCESS;
}
CUresult primary_state(CUdevice, unsigned *flags, int *active)
{
    *flags = 0;
    *active = g_active;
    return CUDA_SUCCESS;
}
CUresult stream_flags(CUstream, unsigned *flags)
{
    g_asked++;
    *flags = g_flags;
    return CUDA_SUCCESS;
}
CUresult is_capturing(CUstream, CUstreamCaptureStatus *status)
{
    *status = g_status;
    return CUDA_SUCCESS;
}

CUcontext context_handle(unsigned number)
{
    return CUcontext(0x100000 + uintptr_t{number} * 0x100);
}
CUstream stream_handle(unsigned number)
{
    return CUstream(0x9000000 + uintptr_t{number} * 0x10);
}

class State : public testing::Test
{
protected:
    static void SetUpTestSuite()
    {
        driver.cuCtxGetCurrent = context_now;
        driver.cuCtxGetDevice = device_now;
        driver.cuDevicePrimaryCtxGetState = primary_state;
        driver.cuStreamGetFlags = stream_flags;
        driver_real[API_cuStreamIsCapturing][0] = reinterpret_cast<void *>(is_capturing);
    }
    void SetUp() override
    {
        g_active = g_flags = 0;
        g_status = CU_STREAM_CAPTURE_STATUS_NONE;
    }
    void TearDown() override
    {
        EXPECT_EQ(0u, captures_open);
        for (CUcontext one : alive())
            destroy(one);
    }
    static struct call after(CUresult result = CUDA_SUCCESS)
    {
        struct call call = {};
        call.thread = thread_get();
        call.result = result;
        return call;
    }
    static struct context *create(CUcontext handle)
    {
        struct call call = after();
        contexts_coming(&call);
        contexts_created(&call, &handle);
        t_current = handle;
        return call.context;
    }
    /* As what it is recorded. */
    static unsigned destroy(CUcontext handle, CUresult result = CUDA_SUCCESS)
    {
        struct call call = after();
        call.op = PTDS_OP_CTX_DESTROY;
        contexts_leaving(&call, handle);
        call.result = result;
        contexts_left(&call);
        return call.op;
    }
    static struct context *retain(CUcontext handle)
    {
        struct call call = after();
        contexts_primary_retained(&call, &handle, 0);
        t_current = handle;
        g_active = 1;
        return call.context;
    }
    static unsigned release(int active_then, CUresult result = CUDA_SUCCESS)
    {
        struct call call = after();
        call.op = PTDS_OP_CTX_DESTROY;
        contexts_primary_leaving(&call, 0);
        g_active = active_then;
        call.result = result;
        contexts_primary_left(&call, 0);
        return call.op;
    }
    static uint32_t create_stream(CUstream handle, unsigned flags = 0)
    {
        struct call call = after();
        streams_created(&call, &handle, flags, 0);
        return call.stream_uid;
    }
    static void destroy_stream(CUstream handle, CUresult result = CUDA_SUCCESS)
    {
        struct call call = after();
        streams_leaving(&call, handle);
        call.result = result;
        streams_left(&call, handle);
    }
    static struct stream *stream(CUstream handle)
    {
        return streams_get(thread_get(), handle);
    }
    static void begin(CUstream handle)
    {
        struct call call = after();
        capture_beginning(&call, handle);
        capture_began(&call, handle);
    }
    static void end(CUstream handle, CUresult result = CUDA_SUCCESS)
    {
        struct call call = after(result);
        capture_ended(&call, handle);
    }
    static std::vector<CUcontext> alive()
    {
        std::vector<CUcontext> found;
        contexts_each([](struct context *context,
                         void *data) { static_cast<std::vector<CUcontext> *>(data)->push_back(context->handle); },
                      &found);
        return found;
    }
};

} // namespace

#endif

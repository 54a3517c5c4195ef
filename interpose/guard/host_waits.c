/* SPDX-License-Identifier: Apache-2.0
 *
 * The host waits for others' work, or asks about it. Called by the guard, without its lock. A capture that another thread
 * has open, or begins at this moment, must not end by that.
 */
#include "interpose/driver/driver.h"
#include "interpose/guard/rails.h"
#include "interpose/state/capture.h"

/* Who waits or asks while a capture is open has to say that it knows. */
static int relax(CUstreamCaptureMode *mode)
{
    return REAL(cuThreadExchangeStreamCaptureMode) && REAL(cuThreadExchangeStreamCaptureMode)(mode) == CUDA_SUCCESS;
}

static void relax_no_more(int relaxed, CUstreamCaptureMode mode)
{
    if (relaxed)
        REAL(cuThreadExchangeStreamCaptureMode)(&mode);
}

CUresult rails_host_wait(CUstream stream)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    int relaxed = relax(&mode);
    CUresult result = REAL(cuStreamSynchronize)(stream);
    relax_no_more(relaxed, mode);
    return result;
}

CUresult rails_host_wait_of_program(CUstream stream)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    int relaxed = capture_any() && relax(&mode);
    CUresult result = REAL(cuStreamSynchronize)(stream);
    relax_no_more(relaxed, mode);
    return result;
}

CUresult rails_host_wait_event(CUevent event)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    int relaxed = relax(&mode);
    CUresult result = REAL(cuEventSynchronize)(event);
    relax_no_more(relaxed, mode);
    return result;
}

int rails_is_done(CUstream stream, CUevent event)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    int relaxed = relax(&mode);
    CUresult result = event ? REAL(cuEventQuery)(event) : REAL(cuStreamQuery)(stream);
    relax_no_more(relaxed, mode);
    return result == CUDA_SUCCESS;
}

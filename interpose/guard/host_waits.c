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

/* For the stream, or where `event` is not NULL for that. */
static CUresult host_waits(CUstream stream, CUevent event, int relaxes)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    int relaxed = relaxes && relax(&mode);
    CUresult result = event ? REAL(cuEventSynchronize)(event) : REAL(cuStreamSynchronize)(stream);
    relax_no_more(relaxed, mode);
    return result;
}

CUresult rails_host_wait(CUstream stream)
{
    return host_waits(stream, NULL, 1);
}

CUresult rails_host_wait_of_program(CUstream stream)
{
    return host_waits(stream, NULL, capture_any());
}

CUresult rails_host_wait_event(CUevent event)
{
    return host_waits(NULL, event, 1);
}

int rails_is_done(CUstream stream, CUevent event)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    int relaxed = relax(&mode);
    CUresult result = event ? REAL(cuEventQuery)(event) : REAL(cuStreamQuery)(stream);
    relax_no_more(relaxed, mode);
    return result == CUDA_SUCCESS;
}

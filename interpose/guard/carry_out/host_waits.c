/* SPDX-License-Identifier: Apache-2.0
 *
 * The host waits for others' work, or asks about it. Called by the guard, without its lock. A capture that another thread
 * has open, or begins at this moment, must not end by that.
 */
#include "interpose/guard/carry_out/host_waits.h"

#include "interpose/base/cancel.h"
#include "interpose/driver/driver.h"
#include "interpose/guard/carry_out/issue.h"
#include "interpose/guard/decide/order.h"
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

CUresult host_waits_for_stream(CUstream stream)
{
    return host_waits(stream, NULL, 1);
}

CUresult host_waits_for_stream_as_program(CUstream stream)
{
    return host_waits(stream, NULL, capture_any());
}

CUresult host_waits_for_event(CUevent event)
{
    return host_waits(NULL, event, 1);
}

int host_waits_is_done(CUstream stream, CUevent event)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    int relaxed = relax(&mode);
    CUresult result = event ? REAL(cuEventQuery)(event) : REAL(cuStreamQuery)(stream);
    relax_no_more(relaxed, mode);
    return result == CUDA_SUCCESS;
}

/* Of a stream that is destroyed, or captured now, the mark stands for what was on it before. */
static int waits_in_turn(unsigned lane, uint32_t ticket)
{
    const struct lane *of = guard_state.order.lanes[lane];
    const struct stream *stream = issue_lanes[lane].stream;
    issue_await_turn(lane, ticket);
    gate_await_quick(&issue_lanes[lane].gate);
    CUevent mark = issue_lanes[lane].mark[of->newest];
    CUresult result = CUDA_SUCCESS;
    if (!of->gone && !(stream && stream->capturing))
        result = host_waits_for_stream(issue_recorded_on(lane));
    else if (mark)
        result = host_waits_for_event(mark);
    issue_served(lane, ticket);
    return result == CUDA_SUCCESS;
}

int host_waits_in_capture(const struct context *context)
{
    uint16_t lanes[ORDER_LANES];
    uint32_t tickets[ORDER_LANES];
    unsigned count = 0;
    int all = 1, cancel = cancel_off();
    lock_take(&guard_state.lock);
    for (unsigned lane = 0; lane < guard_state.order.high; lane++) {
        if (guard_state.order.lanes[lane] && guard_state.order.lanes[lane]->open && issue_lanes[lane].context == context) {
            lanes[count] = (uint16_t)lane;
            tickets[count++] = issue_ticket(lane);
        }
    }
    lock_drop(&guard_state.lock);
    for (unsigned i = 0; i < count; i++)
        all &= waits_in_turn(lanes[i], tickets[i]);
    cancel_back(cancel);
    return all;
}

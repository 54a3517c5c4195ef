/* SPDX-License-Identifier: Apache-2.0
 *
 * Asks the driver how far memory goes. Called for memory of other processes and interfaces, on cold paths. Must not end a
 * capture that is open.
 */
#include "interpose/footprint/allocations/driver_range.h"

#include "interpose/driver/driver.h"
#include "interpose/footprint/memories/touch_memory.h"
#include "interpose/state/capture.h"

/* The question would end a capture that is open, or that begins at this moment, unless the thread has said that it may (the
 * relaxed mode). */
static CUresult ask_driver(CUdeviceptr *begin, size_t *size, CUdeviceptr address)
{
    __typeof__(&cuThreadExchangeStreamCaptureMode) exchange = REAL(cuThreadExchangeStreamCaptureMode);
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    int relaxed = exchange && ASK(exchange(&mode)) == CUDA_SUCCESS;
    CUresult result = CUDA_ERROR_NOT_SUPPORTED;
    if ((relaxed || !capture_any()) && driver.cuMemGetAddressRange_v2)
        result = ASK(driver.cuMemGetAddressRange_v2(begin, size, address));
    if (relaxed)
        (void)ASK(exchange(&mode));
    return result;
}

int driver_range_ask(uint64_t *base, uint64_t *bytes)
{
    CUdeviceptr begin = 0;
    size_t size = 0;
    if (ask_driver(&begin, &size, *base) != CUDA_SUCCESS || !size) {
        touch_memory_kernels_are_opaque(OPAQUE_OTHER);
        return 0;
    }
    *base = begin;
    *bytes = size;
    return 1;
}

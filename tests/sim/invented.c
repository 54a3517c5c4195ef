/* SPDX-License-Identifier: Apache-2.0
 *
 * What the invented functions do (invented.def). Called by programs that test how a shim treats what it does not know.
 */
#include "tests/sim/sim.h"

/* The argument behind the stream counts, too. */
CUresult impl_cuFutureMix(CUdeviceptr dst, CUdeviceptr src, size_t words, float a, double b, unsigned int c,
                          unsigned long long d, double e, float f, double g, double h, double i, double j, double k,
                          float l, unsigned int m, unsigned int n, CUstream hStream, unsigned int o)
{
    const double floats =
        (double)a + 2 * b + 5 * e + 6 * (double)f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k + 12 * (double)l;
    const double whole = 3.0 * c + 4.0 * (double)d + 13.0 * m + 14.0 * n + 15.0 * o;
    CUresult result = impl_cuMemcpyDtoDAsync_v2(dst, src, words * 4, hStream);
    if (result != CUDA_SUCCESS)
        return result;
    return impl_cuMemsetD32Async(dst + words * 4, (unsigned int)(floats + whole), 1, hStream);
}

CUresult impl_cuFutureRecord(CUevent hEvent, CUstream hStream)
{
    return impl_cuEventRecord(hEvent, hStream);
}

static CUresult do_nothing(CUstream hStream)
{
    struct stream *s;
    struct work nothing = {.kind = WORK_NONE};
    sim_lock();
    CUresult result = stream_find(hStream, &s);
    if (result == CUDA_SUCCESS)
        result = stream_push(s, &nothing, NULL);
    sim_unlock();
    return result;
}

#define INVENTED(symbol, params, args)
#define INVENTED_NOTHING(symbol, params, args) \
    CUresult impl_##symbol params \
    { \
        return do_nothing args; \
    }
#include "tests/sim/invented.def"

/* SPDX-License-Identifier: Apache-2.0
 *
 * Memsets of all widths. Called by programs. The synchronous form waits only where the target is page-locked host memory
 * or the program has asked for it (SYNC_MEMOPS).
 */
#include "tests/sim/sim.h"

static CUresult set(CUstream stream, CUdeviceptr dst, size_t pitch, unsigned int element, unsigned int value, size_t width,
                    size_t height, enum copy_mode mode)
{
    struct stream *s;
    struct work w = {.kind = WORK_FILL, .fill = {memory_bytes(dst), pitch, width, height, value, element, dst}};
    const size_t most = (size_t)1 << 47; /* of rows, of their length, of all: no GPU has as much */
    if (dst % element || pitch % element || (height > 1 && pitch < width * element))
        return CUDA_ERROR_INVALID_VALUE;
    if (width > most || height > most || (height && width > most / height) || (height > 1 && pitch > most / height))
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    CUresult result = stream_find(stream, &s);
    enum memory_kind kind = memory_kind_of(dst);
    if (result == CUDA_SUCCESS && kind == MEMORY_PAGEABLE)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && width && height)
        result = memory_check(dst, (height - 1) * pitch + width * element);
    if (result == CUDA_SUCCESS && mode == COPY_SYNC)
        result = capture_observe(s);
    if (result == CUDA_SUCCESS && width && height)
        result = mode == COPY_SYNC && (memory_page_locked(kind) || memory_waits(dst) || context_waits(s->ctx))
                     ? stream_push_done(s, &w)
                     : stream_push(s, &w, NULL);
    sim_unlock();
    return result;
}

#define MEMSET(suffix, type, bytes) \
    CUresult impl_cuMemset##suffix##_v2(CUdeviceptr d, type value, size_t n) \
    { \
        return set(NULL, d, 0, bytes, value, n, 1, COPY_SYNC); \
    } \
    CUresult impl_cuMemset##suffix##Async(CUdeviceptr d, type value, size_t n, CUstream stream) \
    { \
        return set(stream, d, 0, bytes, value, n, 1, COPY_ASYNC); \
    } \
    CUresult impl_cuMemsetD2##suffix##_v2(CUdeviceptr d, size_t pitch, type value, size_t width, size_t height) \
    { \
        return set(NULL, d, pitch, bytes, value, width, height, COPY_SYNC); \
    } \
    CUresult impl_cuMemsetD2##suffix##Async(CUdeviceptr d, size_t pitch, type value, size_t width, size_t height, \
                                            CUstream s) \
    { \
        return set(s, d, pitch, bytes, value, width, height, COPY_ASYNC); \
    }

MEMSET(D8, unsigned char, 1)
MEMSET(D16, unsigned short, 2)
MEMSET(D32, unsigned int, 4)

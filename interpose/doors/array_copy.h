/* SPDX-License-Identifier: Apache-2.0
 *
 * The three synchronous array copies that have no asynchronous form of their own: the same copy as a one-row 3D copy, on a
 * stream. Used by the table's async_form column.
 */
#ifndef PTDS_ARRAY_COPY_H
#define PTDS_ARRAY_COPY_H

#include "interpose/driver/driver.h"

static inline CUresult array_copy(CUstream stream, CUDA_MEMCPY3D *copy, size_t bytes)
{
    copy->WidthInBytes = copy->dstPitch = copy->srcPitch = bytes;
    copy->Height = copy->Depth = 1;
    return REAL(cuMemcpy3DAsync_v2)(copy, stream);
}

static inline CUresult array_copy_async_AtoA(CUstream stream, CUarray to, size_t to_offset, CUarray from,
                                             size_t from_offset, size_t bytes)
{
    CUDA_MEMCPY3D copy = {.dstMemoryType = CU_MEMORYTYPE_ARRAY, .srcMemoryType = CU_MEMORYTYPE_ARRAY};
    copy.dstArray = to;
    copy.dstXInBytes = to_offset;
    copy.srcArray = from;
    copy.srcXInBytes = from_offset;
    return array_copy(stream, &copy, bytes);
}

static inline CUresult array_copy_async_AtoD(CUstream stream, CUdeviceptr to, CUarray from, size_t from_offset,
                                             size_t bytes)
{
    CUDA_MEMCPY3D copy = {.dstMemoryType = CU_MEMORYTYPE_DEVICE, .srcMemoryType = CU_MEMORYTYPE_ARRAY};
    copy.dstDevice = to;
    copy.srcArray = from;
    copy.srcXInBytes = from_offset;
    return array_copy(stream, &copy, bytes);
}

static inline CUresult array_copy_async_DtoA(CUstream stream, CUarray to, size_t to_offset, CUdeviceptr from, size_t bytes)
{
    CUDA_MEMCPY3D copy = {.dstMemoryType = CU_MEMORYTYPE_ARRAY, .srcMemoryType = CU_MEMORYTYPE_DEVICE};
    copy.dstArray = to;
    copy.dstXInBytes = to_offset;
    copy.srcDevice = from;
    return array_copy(stream, &copy, bytes);
}

#endif

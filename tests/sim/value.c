/* SPDX-License-Identifier: Apache-2.0
 *
 * Stream memory operations: wait for a value, write one, and batches of both. Called by programs.
 */
#include "tests/sim/sim.h"

static CUresult push(CUstream stream, CUdeviceptr address, uint64_t value, unsigned int flags, bool wide, bool wait)
{
    struct stream *s;
    struct work w = {.kind = WORK_VALUE, .value = {memory_bytes(address), value, flags, wide, wait}};
    if (address % (wide ? 8 : 4))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = stream_find(stream, &s);
    if (result == CUDA_SUCCESS && memory_kind_of(address) == MEMORY_PAGEABLE)
        result = CUDA_ERROR_INVALID_VALUE;
    return result == CUDA_SUCCESS ? stream_push(s, &w, NULL) : result;
}

static CUresult one(CUstream stream, CUdeviceptr address, uint64_t value, unsigned int flags, bool wide, bool wait)
{
    sim_lock();
    CUresult result = push(stream, address, value, flags, wide, wait);
    sim_unlock();
    return result;
}

#define VALUE_OPERATIONS(version) \
    CUresult impl_cuStreamWaitValue32##version(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags) \
    { \
        return one(stream, addr, value, flags, false, true); \
    } \
    CUresult impl_cuStreamWaitValue64##version(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags) \
    { \
        return one(stream, addr, value, flags, true, true); \
    } \
    CUresult impl_cuStreamWriteValue32##version(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags) \
    { \
        return one(stream, addr, value, flags, false, false); \
    } \
    CUresult impl_cuStreamWriteValue64##version(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags) \
    { \
        return one(stream, addr, value, flags, true, false); \
    } \
    CUresult impl_cuStreamBatchMemOp##version(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *params, \
                                              unsigned int flags) \
    { \
        return batch(stream, count, params, flags); \
    }

static CUresult batch_one(CUstream stream, const CUstreamBatchMemOpParams *p)
{
    switch (p->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        return push(stream, p->waitValue.address, p->waitValue.value, p->waitValue.flags, false, true);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        return push(stream, p->waitValue.address, p->waitValue.value64, p->waitValue.flags, true, true);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        return push(stream, p->writeValue.address, p->writeValue.value, p->writeValue.flags, false, false);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        return push(stream, p->writeValue.address, p->writeValue.value64, p->writeValue.flags, true, false);
    default: return CUDA_ERROR_NOT_SUPPORTED;
    }
}

static CUresult batch(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *params, unsigned int flags)
{
    CUresult result = !count || count > 256 || !params || flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    sim_lock();
    for (unsigned int i = 0; result == CUDA_SUCCESS && i < count; i++)
        result = batch_one(stream, &params[i]);
    sim_unlock();
    return result;
}

VALUE_OPERATIONS()
VALUE_OPERATIONS(_v2)

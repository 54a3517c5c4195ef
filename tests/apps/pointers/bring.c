// SPDX-License-Identifier: Apache-2.0
//
// How one pointer comes to where a kernel finds it: an entry of a table, a variable, a node. Each is ordinary work on the
// default stream, and most of it is unfinished when the function returns. Called by the rows, in the first thread.

#include <string.h>

#include "tests/apps/pointers/pointers.h"

void bring_pageable(struct scene *s, CUdeviceptr at, uint64_t value)
{
    (void)s;
    CU(cuMemcpyHtoD(at, &value, sizeof value));
}

void bring_halves(struct scene *s, CUdeviceptr at, uint64_t value)
{
    uint32_t low = (uint32_t)value, high = (uint32_t)(value >> 32);
    (void)s;
    CU(cuMemcpyHtoD(at, &low, sizeof low));
    CU(cuMemcpyHtoD(at + 4, &high, sizeof high));
}

void bring_memset_halves(struct scene *s, CUdeviceptr at, uint64_t value)
{
    (void)s;
    CU(cuMemsetD32Async(at, (uint32_t)value, 1, NULL));
    CU(cuMemsetD32Async(at + 4, (uint32_t)(value >> 32), 1, NULL));
}

void bring_value_write(struct scene *s, CUdeviceptr at, uint64_t value)
{
    can(s, cuStreamWriteValue64(NULL, at, value, CU_STREAM_WRITE_VALUE_DEFAULT), "the driver does not write that value");
}

static void fill(void *data)
{
    const struct fill *f = data;
    *f->at = f->value;
}

void host_function_fills(struct scene *s, CUstream stream, uint64_t *at, uint64_t value)
{
    struct fill *f = &s->fills[s->fill_count++];
    *f = (struct fill){at, value};
    CU(cuLaunchHostFunc(stream, fill, f));
}

// While the copy is called, another pointer lies there.
void bring_by_host_function(struct scene *s, CUdeviceptr at, uint64_t value)
{
    s->pinned[0] = s->decoy;
    spin_before(s);
    host_function_fills(s, NULL, &s->pinned[0], value);
    CU(cuMemcpyHtoDAsync(at, &s->pinned[0], 8, NULL));
}

// Before and after the copy, another pointer lies there.
void bring_rewritten(struct scene *s, CUdeviceptr at, uint64_t value)
{
    bring_by_host_function(s, at, value);
    host_function_fills(s, NULL, &s->pinned[0], s->decoy);
}

void bring_device_copy(struct scene *s, CUdeviceptr at, uint64_t value)
{
    if (!s->more[2])
        CU(cuMemAlloc(&s->more[2], 64));
    CU(cuMemcpyHtoD(s->more[2] + 16, &value, sizeof value));
    CU(cuMemcpyDtoDAsync(at, s->more[2] + 16, sizeof value, NULL));
}

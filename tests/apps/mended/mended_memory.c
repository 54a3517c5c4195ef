/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of mended.def about memory and other things that a program makes again in each round, and about memory that is not
 * pinned.
 */
#include "tests/apps/mended/mended.h"

#include <stdlib.h>
#include <string.h>

#include "tests/conformance/kernels.ptx.h"

enum { LARGE = 16 << 20, TEMPORARY = 4 << 20, CHURN = 10 };

/* Large copies from memory of malloc. Mended: from pinned memory. */
void mended_pageable_copy(struct mended *m)
{
    CUdeviceptr words;
    uint32_t *source = m->mended ? mended_pinned(LARGE) : malloc(LARGE);
    memset(source, 0, LARGE);
    CU(cuMemAlloc(&words, LARGE));
    mended_begin(m);
    for (unsigned i = 0; i < m->rounds; i++) {
        source[0] = i;
        if (m->mended) {
            CU(cuMemcpyHtoDAsync(words, source, LARGE, NULL));
            CU(cuStreamSynchronize(NULL));
        } else {
            CU(cuMemcpyHtoD(words, source, LARGE));
        }
    }
    mended_end(m);
    mended_kernel(m, NULL, words);
    uint32_t first;
    CU(cuMemcpyDtoH(&first, words, sizeof first));
    m->right = first == m->rounds;
}

/* An asynchronous copy to memory of malloc, which waits. Mended: to pinned memory. */
static void copy_in_each_round(struct mended *m, int host_works)
{
    CUstream stream = mended_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr words = speed_buffer();
    uint32_t *landing = m->mended ? mended_pinned(MENDED_BYTES) : malloc(MENDED_BYTES);
    mended_begin(m);
    for (unsigned i = 0; i < m->rounds; i++) {
        mended_kernel(m, stream, words);
        CU(cuMemcpyDtoHAsync(landing, words, MENDED_BYTES, stream));
        if (!host_works)
            continue;
        mended_host_works();
        CU(cuStreamSynchronize(stream));
        mended_check_words(m, landing, i + 1);
    }
    mended_end(m);
    mended_check(m, words, m->rounds);
}

void mended_pageable_async(struct mended *m)
{
    copy_in_each_round(m, 1);
}

/* The same where the GPU is what takes the time: nothing to gain. */
void mended_pageable_async_behind_work(struct mended *m)
{
    copy_in_each_round(m, 0);
}

/* What a kernel uses besides is allocated in each round. Mended: once. */
static void in_each_round(struct mended *m, int host_works)
{
    CUdeviceptr words = speed_buffer(), temporary = 0;
    mended_begin(m);
    if (m->mended)
        CU(cuMemAlloc(&temporary, TEMPORARY));
    for (unsigned i = 0; i < m->rounds; i++) {
        if (!m->mended)
            CU(cuMemAlloc(&temporary, TEMPORARY));
        CU(cuMemsetD8Async(temporary, 0, SPEED_WORDS, NULL));
        mended_kernel(m, NULL, words);
        if (!m->mended)
            CU(cuMemFree(temporary));
        if (host_works)
            mended_host_works();
    }
    mended_end(m);
    mended_check(m, words, m->rounds);
}

void mended_alloc_in_loop(struct mended *m)
{
    in_each_round(m, 1);
}

/* The same where the GPU is what takes the time: little to gain. */
void mended_free_behind_work(struct mended *m)
{
    in_each_round(m, 0);
}

/* Pinned memory is allocated in each round. Mended: once. */
void mended_pin_in_loop(struct mended *m)
{
    CUdeviceptr words = speed_buffer();
    uint32_t *landing = m->mended ? mended_pinned(MENDED_BYTES) : NULL;
    mended_begin(m);
    for (unsigned i = 0; i < m->rounds; i++) {
        if (!m->mended)
            landing = mended_pinned(MENDED_BYTES);
        mended_kernel(m, NULL, words);
        CU(cuMemcpyDtoHAsync(landing, words, MENDED_BYTES, NULL));
        CU(cuStreamSynchronize(NULL));
        mended_check_words(m, landing, i + 1);
        if (!m->mended)
            CU(cuMemFreeHost(landing));
    }
    mended_end(m);
    mended_check(m, words, m->rounds);
}

/* A kernel's code is loaded in each round. Mended: once. */
void mended_load_in_loop(struct mended *m)
{
    struct mended other = *m;
    CUdeviceptr words = speed_buffer();
    mended_begin(m);
    for (unsigned i = 0; i < m->rounds; i++) {
        if (!m->mended) {
            CU(cuModuleLoadData(&other.speed.app.module, ptds_test_ptx));
            CU(cuModuleGetFunction(&other.speed.spin_add, other.speed.app.module, "spin_add"));
        }
        mended_kernel(&other, NULL, words);
        mended_host_works();
        if (!m->mended)
            CU(cuModuleUnload(other.speed.app.module));
    }
    mended_end(m);
    mended_check(m, words, m->rounds);
}

/* Streams are made for each piece of work. Mended: once. */
void mended_stream_in_loop(struct mended *m)
{
    CUdeviceptr words = speed_buffer();
    CUstream stream = mended_stream(CU_STREAM_NON_BLOCKING);
    mended_begin(m);
    for (unsigned i = 0; i < CHURN * m->rounds; i++) {
        CUstream used = m->mended ? stream : mended_stream(CU_STREAM_NON_BLOCKING);
        CU(app_add_one(&m->speed.app, used, words, SPEED_WORDS));
        CU(cuStreamSynchronize(used));
        if (!m->mended)
            CU(cuStreamDestroy(used));
    }
    mended_end(m);
    mended_check(m, words, CHURN * m->rounds);
}

/* A pool gives its memory back at each wait. Mended: its release threshold is raised. */
void mended_pool_trims(struct mended *m)
{
    CUstream stream = mended_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr words = speed_buffer(), temporary;
    CUmemoryPool pool;
    uint64_t keep = UINT64_MAX;
    CU(cuDeviceGetDefaultMemPool(&pool, m->speed.app.device));
    if (m->mended) /* who sets it, to whatever, is taken to know */
        CU(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
    mended_begin(m);
    for (unsigned i = 0; i < CHURN * m->rounds; i++) {
        CU(cuMemAllocAsync(&temporary, LARGE, stream));
        CU(app_add_one(&m->speed.app, stream, words, SPEED_WORDS));
        CU(cuMemFreeAsync(temporary, stream));
        CU(cuStreamSynchronize(stream));
    }
    mended_end(m);
    mended_check(m, words, CHURN * m->rounds);
}

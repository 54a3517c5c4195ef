/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of mended.def in which work waits for other work because something is on the default stream.
 */
#include "tests/apps/mended/mended.h"

/* Two blocking streams, and behind each kernel something small on the default stream. Mended: on the kernel's stream. */
static void two_streams(struct mended *m, void (*small)(CUstream stream, void *about), void *about)
{
    CUstream stream[2] = {mended_stream(CU_STREAM_DEFAULT), mended_stream(CU_STREAM_DEFAULT)};
    CUdeviceptr words[2] = {speed_buffer(), speed_buffer()};
    mended_begin(m);
    for (unsigned i = 0; i < m->rounds; i++) {
        mended_kernel(m, stream[0], words[0]);
        small(m->mended ? stream[0] : NULL, about);
        mended_kernel(m, stream[1], words[1]);
        small(m->mended ? stream[1] : NULL, about);
    }
    mended_end(m);
    mended_check(m, words[0], m->rounds);
    mended_check(m, words[1], m->rounds);
}

static void record(CUstream stream, void *event)
{
    CU(cuEventRecord(event, stream));
}

void mended_event_on_zero(struct mended *m)
{
    two_streams(m, record, mended_event());
}

static void clear(CUstream stream, void *words)
{
    CU(cuMemsetD32Async(*(CUdeviceptr *)words, 7, SPEED_WORDS, stream));
}

void mended_memset_on_zero(struct mended *m)
{
    CUdeviceptr words = speed_buffer();
    two_streams(m, clear, &words);
    mended_check(m, words, 7);
}

/* One thread works on the default stream, another one on a blocking stream. Mended: on a non-blocking one. */
struct pair {
    struct mended *m;
    CUstream stream[2];
    CUdeviceptr words[2];
};

static void work(unsigned index, void *shared)
{
    struct pair *pair = shared;
    for (unsigned i = 0; i < pair->m->rounds; i++) {
        mended_kernel(pair->m, pair->stream[index], pair->words[index]);
        if (i % 4 == 3)
            CU(cuStreamSynchronize(pair->stream[index]));
    }
}

static void two_threads(struct mended *m, CUstream first, CUstream second)
{
    struct pair pair = {m, {first, second}, {speed_buffer(), speed_buffer()}};
    mended_begin(m);
    app_threads(&m->speed.app, 2, work, &pair);
    mended_end(m);
    mended_check(m, pair.words[0], m->rounds);
    mended_check(m, pair.words[1], m->rounds);
}

void mended_blocking_stream(struct mended *m)
{
    two_threads(m, NULL, mended_stream(m->mended ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT));
}

/* Two threads share the default stream. Mended: each has its own. */
void mended_threads_on_zero(struct mended *m)
{
    CUstream stream = m->mended ? CU_STREAM_PER_THREAD : NULL;
    two_threads(m, stream, stream);
}

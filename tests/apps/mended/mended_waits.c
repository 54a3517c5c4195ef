/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of mended.def in which the host waits where it need not, or for longer.
 */
#include "tests/apps/mended/mended.h"

/* Each result is brought to the host and used there. Mended: the host uses the result before while the next one is made. */
void mended_sync_copy(struct mended *m)
{
    CUstream stream = mended_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr words = speed_buffer();
    uint32_t *landing[2] = {mended_pinned(MENDED_BYTES), mended_pinned(MENDED_BYTES)};
    CUevent there[2] = {mended_event(), mended_event()};
    mended_begin(m);
    for (unsigned i = 0; i < m->rounds + 1; i++) {
        if (!m->mended && i < m->rounds) {
            mended_kernel(m, NULL, words);
            CU(cuMemcpyDtoH(landing[0], words, MENDED_BYTES));
            mended_check_words(m, landing[0], i + 1);
            mended_host_works();
        }
        if (m->mended && i < m->rounds) {
            mended_kernel(m, stream, words);
            CU(cuMemcpyDtoHAsync(landing[i % 2], words, MENDED_BYTES, stream));
            CU(cuEventRecord(there[i % 2], stream));
        }
        if (m->mended && i > 0) {
            CU(cuEventSynchronize(there[(i - 1) % 2]));
            mended_check_words(m, landing[(i - 1) % 2], i);
            mended_host_works();
        }
    }
    mended_end(m);
    mended_check(m, words, m->rounds);
}

/* The program waits for its kernel, and does something that has nothing to do with it. */
void mended_wait_in_loop(struct mended *m)
{
    CUstream stream = mended_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr words = speed_buffer();
    mended_begin(m);
    for (unsigned i = 0; i < m->rounds; i++) {
        mended_kernel(m, stream, words);
        if (!m->mended)
            CU(cuStreamSynchronize(stream));
        mended_host_works();
    }
    mended_end(m);
    mended_check(m, words, m->rounds);
}

/* A wait right before a copy that waits itself: leaving it out saves next to nothing. */
void mended_wait_before_copy(struct mended *m)
{
    CUdeviceptr words = speed_buffer();
    uint32_t *landing = mended_pinned(MENDED_BYTES);
    mended_begin(m);
    for (unsigned i = 0; i < m->rounds; i++) {
        mended_kernel(m, NULL, words);
        if (!m->mended)
            CU(cuStreamSynchronize(NULL));
        CU(cuMemcpyDtoH(landing, words, MENDED_BYTES));
        mended_check_words(m, landing, i + 1);
        mended_host_works();
    }
    mended_end(m);
    mended_check(m, words, m->rounds);
}

/* The host waits for the device so that a second stream may use what a first one has made. Mended: the stream waits. */
void mended_device_wait(struct mended *m)
{
    CUstream first = mended_stream(CU_STREAM_NON_BLOCKING), second = mended_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr made = speed_buffer(), copy = speed_buffer();
    CUevent done = mended_event();
    mended_begin(m);
    for (unsigned i = 0; i < m->rounds; i++) {
        mended_kernel(m, first, made);
        if (m->mended) {
            CU(cuEventRecord(done, first));
            CU(cuStreamWaitEvent(second, done, 0));
        } else {
            CU(cuCtxSynchronize());
        }
        CU(cuMemcpyDtoDAsync(copy, made, MENDED_BYTES, second));
        CU(cuEventRecord(done, second));
        CU(cuStreamWaitEvent(first, done, 0));
        mended_host_works();
    }
    mended_end(m);
    mended_check(m, copy, m->rounds);
}

/* The host asks again and again whether a kernel is done. Mended: it works meanwhile, and waits then. */
void mended_query_loop(struct mended *m)
{
    CUstream stream = mended_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr words = speed_buffer();
    mended_begin(m);
    for (unsigned i = 0; i < m->rounds; i++) {
        mended_kernel(m, stream, words);
        if (m->mended) {
            mended_host_works();
            CU(cuStreamSynchronize(stream));
        } else {
            while (cuStreamQuery(stream) == CUDA_ERROR_NOT_READY)
                ;
            mended_host_works();
        }
    }
    mended_end(m);
    mended_check(m, words, m->rounds);
}

/* The host waits for the device after each kernel, and the kernels of two streams have nothing to do with each other. */
void mended_device_wait_apart(struct mended *m)
{
    CUstream stream[2] = {mended_stream(CU_STREAM_NON_BLOCKING), mended_stream(CU_STREAM_NON_BLOCKING)};
    CUdeviceptr words[2] = {speed_buffer(), speed_buffer()};
    mended_begin(m);
    for (unsigned i = 0; i < 2 * m->rounds; i++) {
        mended_kernel(m, stream[i % 2], words[i % 2]);
        if (!m->mended)
            CU(cuCtxSynchronize());
    }
    mended_end(m);
    mended_check(m, words[0], m->rounds);
    mended_check(m, words[1], m->rounds);
}

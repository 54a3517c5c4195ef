/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases that no choice of stream mends: host functions (S17), hardware queues (S18), too much switching (S20). Run by
 * kit.c.
 */
#include "tests/kit/kit.h"

enum { STREAMS = 12, ROUNDS = 100 };

/* Host functions of different streams share one thread: the second waits although its stream has nothing before it. */
static uint32_t host_gate, host_ran;

static void CUDA_CB slow(void *unused)
{
    (void)unused;
    while (!kit_is_open(&host_gate))
        app_sleep_ms(1);
}

static void CUDA_CB quick(void *unused)
{
    (void)unused;
    __atomic_fetch_add(&host_ran, 1, __ATOMIC_ACQ_REL);
}

void kit_S17(void)
{
    CUstream a = kit_stream(CU_STREAM_NON_BLOCKING), b = kit_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr x = kit_words(1), y = kit_words(2);
    for (unsigned i = 0; i < 4; i++) {
        kit_add_one(a, x);
        CU(cuLaunchHostFunc(a, i == 0 ? slow : quick, NULL));
        kit_add_one(b, y);
        CU(cuLaunchHostFunc(b, quick, NULL));
    }
    kit_open_soon(&host_gate);
    CU(cuStreamSynchronize(b));
    CU(cuStreamSynchronize(a));
    kit_is("all host functions ran", __atomic_load_n(&host_ran, __ATOMIC_ACQUIRE) == 7);
    kit_check("a's", x, 5);
    kit_check("b's", y, 6);
}

/* More streams with something to run than the device has queues. */
void kit_S18(void)
{
    CUstream streams[STREAMS];
    CUdeviceptr words[STREAMS];
    uint32_t *gates[STREAMS];
    for (unsigned i = 0; i < STREAMS; i++) {
        streams[i] = kit_stream(CU_STREAM_NON_BLOCKING);
        words[i] = kit_words(i);
    }
    for (unsigned i = 0; i < STREAMS; i++) {
        gates[i] = kit_gate(streams[i]);
        kit_add_one(streams[i], words[i]);
    }
    for (unsigned i = 0; i < STREAMS; i++)
        kit_open(gates[i]);
    for (unsigned i = 0; i < STREAMS; i++)
        CU(cuStreamSynchronize(streams[i]));
    for (unsigned i = 0; i < STREAMS; i++)
        kit_check("a stream's", words[i], i + 1);
}

/* Every step goes in on one stream, is worked on on a second and comes out on a third: two waits for three short
 * operations. */
void kit_S20(void)
{
    CUstream in = kit_stream(CU_STREAM_NON_BLOCKING), compute = kit_stream(CU_STREAM_NON_BLOCKING);
    CUstream out = kit_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr x = kit_words(0);
    uint32_t *source = kit_pinned(3), *landing = kit_pinned(0);
    CUevent arrived, computed, left;
    CU(cuEventCreate(&arrived, CU_EVENT_DISABLE_TIMING));
    CU(cuEventCreate(&computed, CU_EVENT_DISABLE_TIMING));
    CU(cuEventCreate(&left, CU_EVENT_DISABLE_TIMING));
    for (unsigned i = 0; i < ROUNDS; i++) {
        CU(cuMemcpyHtoDAsync(x, source, KIT_BYTES, in));
        CU(cuEventRecord(arrived, in));
        CU(cuStreamWaitEvent(compute, arrived, 0));
        kit_add_one(compute, x);
        CU(cuEventRecord(computed, compute));
        CU(cuStreamWaitEvent(out, computed, 0));
        CU(cuMemcpyDtoHAsync(landing, x, KIT_BYTES, out));
        CU(cuEventRecord(left, out));
        CU(cuStreamWaitEvent(in, left, 0));
    }
    CU(cuStreamSynchronize(out));
    kit_is("what came out", landing[0] == 4 && landing[KIT_WORDS - 1] == 4);
    kit_check("what is there", x, 4);
}

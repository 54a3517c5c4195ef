/* SPDX-License-Identifier: Apache-2.0
 *
 * A crowd: 128 threads with four blocking streams each, which work on memory of their own, wait for their streams, and now
 * and then use the default stream, which all 512 others wait for. Used by analysis.c.
 */
#include "tests/bench/made_up.h"

enum { LEGACY = 1, THREADS = 128, STREAMS = 4, CALLS = 180, MEMORIES = 2, POINTERS = 3 };

static uint32_t stream_of(uint32_t thread, uint32_t i)
{
    return LEGACY + 1 + (thread - 1) * STREAMS + i % STREAMS;
}

static uint64_t address(uint32_t thread, uint32_t i)
{
    return 0x7f0000000000u + ((uint64_t)(thread - 1) * MEMORIES + i % MEMORIES) * 0x200000;
}

static void define(void)
{
    made_up_stream(LEGACY, PTDS_STREAM_LEGACY);
    for (uint32_t i = 0; i < THREADS * STREAMS; i++)
        made_up_stream(LEGACY + 1 + i, PTDS_STREAM_BLOCKING);
    made_up_kernel(1, "_Z4stepPfPKfS1_", POINTERS);
    for (uint32_t i = 0; i < THREADS * MEMORIES; i++)
        made_up_memory(i + 1, address(1, 0) + (uint64_t)i * 0x200000, 0x100000);
}

static void lay_out(uint32_t thread)
{
    for (uint32_t i = 0; i < CALLS; i++) {
        uint32_t stream = i % 30 == 29 ? (uint32_t)LEGACY : stream_of(thread, i);
        struct ptds_rec_CALL *record = made_up_launch(thread, stream, 1, POINTERS);
        record->flags = stream == LEGACY ? PTDS_CALL_LEGACY : 0;
        for (uint32_t k = 0; k < POINTERS; k++)
            record->word[3 + k] = made_up_pointer(k, address(thread, i + k));
        if (i % 20 == 19)
            made_up_call(thread, SYNC_API, PTDS_OP_STREAM_SYNC, stream_of(thread, i), 0)->flags |= PTDS_CALL_TIMED;
    }
}

static uint64_t when(uint32_t thread, uint64_t unit, uint32_t call)
{
    return 1000000 + (unit * 200 + call) * STEP + thread;
}

const struct workload crowd_workload = {
    .name = "crowd", .threads = THREADS, .define = define, .lay_out = lay_out, .when = when};

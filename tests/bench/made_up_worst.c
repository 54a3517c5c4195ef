/* SPDX-License-Identifier: Apache-2.0
 *
 * The worst case: two threads that write each other's memory without any order, more than one conflict a record, so that
 * almost every access has to be looked into. No program that works is like that. Used by analysis.c.
 */
#include "tests/bench/made_up.h"

enum { LEGACY = 1, BLOCKING, NON_BLOCKING, OTHER };
enum { CALLS = 186, MEMORIES = 64, KERNELS = 16, POINTERS = 3 };

static uint64_t address(uint32_t memory)
{
    return 0x7f0000000000u + (uint64_t)memory * 0x200000;
}

static void define(void)
{
    made_up_stream(LEGACY, PTDS_STREAM_LEGACY);
    made_up_stream(BLOCKING, PTDS_STREAM_BLOCKING);
    made_up_stream(NON_BLOCKING, PTDS_STREAM_NON_BLOCKING);
    made_up_stream(OTHER, PTDS_STREAM_NON_BLOCKING);
    for (uint32_t i = 1; i <= KERNELS; i++)
        made_up_kernel(i, "_Z4stepPfPKfS1_", POINTERS);
    for (uint32_t i = 0; i < MEMORIES; i++)
        made_up_memory(i + 1, address(i), 0x100000);
}

/* The thread's own half of the memory, now and then the other's. */
static uint64_t some_memory(uint32_t thread, uint32_t i)
{
    uint32_t half = i % 29 == 0 ? 2 - thread : thread - 1;
    return address(half * (MEMORIES / 2) + i * 7 % (MEMORIES / 2));
}

static void launch(uint32_t thread, uint32_t stream, uint32_t i)
{
    struct ptds_rec_CALL *record = made_up_launch(thread, stream, i % KERNELS + 1, POINTERS);
    record->flags = stream == LEGACY ? PTDS_CALL_LEGACY : 0;
    for (uint32_t k = 0; k < POINTERS; k++)
        record->word[3 + k] = made_up_pointer(k, some_memory(thread, i * 3 + k));
}

static void lay_out(uint32_t thread)
{
    uint32_t main_stream = thread == 1 ? LEGACY : OTHER, side = thread == 1 ? BLOCKING : NON_BLOCKING;
    for (uint32_t i = 0; i < CALLS; i++) {
        launch(thread, i % 8 == 7 ? side : i % 50 == 0 ? (uint32_t)LEGACY : main_stream, i);
        if (i % 25 == 24)
            made_up_copy(thread, side, some_memory(thread, i), 0x555500000000u + i * 0x10000, false);
        if (i % 90 == 89) {
            made_up_event(thread, false, thread, side);
            made_up_event(thread, true, thread, main_stream);
        }
    }
    made_up_call(thread, SYNC_API, PTDS_OP_STREAM_SYNC, side, 0)->flags |= PTDS_CALL_TIMED;
    made_up_copy(thread, LEGACY, some_memory(thread, 1), 0x555500010000u, true);
}

static uint64_t when(uint32_t thread, uint64_t unit, uint32_t call)
{
    return 1000000 + (unit * 200 + call) * STEP + thread;
}

const struct workload worst_workload = {
    .name = "worst case", .threads = 2, .define = define, .lay_out = lay_out, .when = when};

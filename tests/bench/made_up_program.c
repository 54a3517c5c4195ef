/* SPDX-License-Identifier: Apache-2.0
 *
 * A program as recordings of PyTorch and of thread pools look, used by analysis.c. Four threads, 19 of 20 calls launches
 * with 2 to 6 pointers to tensors, of which every allocation holds eight. Threads 1 and 2 are a forward and a backward
 * pass, in turns, both on the default stream: the backward pass reads what the forward pass wrote, copies come in on a
 * blocking stream, an event orders them, a synchronous copy takes the result out. Threads 3 and 4 are of a pool and work on
 * something of their own, one in bursts on a blocking stream, so that the default stream's implicit order meets it, the
 * other all the time on a non-blocking one. A third of the kernels have names that say nothing of their parameters. About
 * one call in 10 000 uses memory of another thread that nothing orders.
 */
#include "tests/bench/made_up.h"

enum { LEGACY = 1, LOADING, BURSTS, ALONE };
enum { FORWARD = 1, BACKWARD, BURSTING, STEADY };
enum { KERNELS = 15, LEAST_POINTERS = 2, KINDS_OF_POINTERS = 5 };
enum {
    ALLOCATIONS_A_THREAD = 8,
    TENSORS = 8,
    WEIGHTS = 4,
    CALLS = 220,
    ALLOCATIONS = (STEADY + STEADY - 1) * ALLOCATIONS_A_THREAD,
    BURST = 20,
    BURSTS_APART = 8,
    RACE_EVERY = 11
};

static struct ptds_rec_CALL *racing;

static uint64_t address(uint32_t allocation, uint32_t tensor)
{
    return 0x7f0000000000u + (uint64_t)allocation * 0x200000 + tensor * 0x40000;
}

/* A tensor of the thread's own, over and over. */
static uint64_t tensor(uint32_t thread, uint32_t i)
{
    i %= ALLOCATIONS_A_THREAD * TENSORS;
    return address((thread - 1) * ALLOCATIONS_A_THREAD + i / TENSORS, i % TENSORS);
}

/* What the forward and the backward pass share; the pool's threads work on something else each. */
static uint64_t weight(uint32_t thread, uint32_t i)
{
    uint32_t owner = thread <= BACKWARD ? STEADY : STEADY + thread - BACKWARD;
    return address(owner * ALLOCATIONS_A_THREAD + i % (WEIGHTS * TENSORS) / TENSORS, i % TENSORS);
}

static uint32_t pointers_of(uint32_t kernel)
{
    return LEAST_POINTERS + kernel % KINDS_OF_POINTERS;
}

static void define(void)
{
    static const char *const names[KINDS_OF_POINTERS] = {"_Z4copyPfPKf", "_Z3addPfPKfS1_", "_Z3mulPfPKfS1_S1_",
                                                         "_Z4normPfPKfS1_S1_S1_", "_Z4gemmPfPKfS1_S1_S1_S1_"};
    made_up_stream(LEGACY, PTDS_STREAM_LEGACY);
    made_up_stream(LOADING, PTDS_STREAM_BLOCKING);
    made_up_stream(BURSTS, PTDS_STREAM_BLOCKING);
    made_up_stream(ALONE, PTDS_STREAM_NON_BLOCKING);
    for (uint32_t i = 1; i <= KERNELS; i++)
        made_up_kernel(i, i % 3 == 0 ? "ampere_sgemm_nt" : names[i % KINDS_OF_POINTERS], pointers_of(i));
    for (uint32_t i = 0; i < ALLOCATIONS; i++)
        made_up_memory(i + 1, address(i, 0), 0x200000);
}

/* Reads what the launches before it wrote, weights, and, in the backward pass, what the forward pass left. */
static struct ptds_rec_CALL *launch(uint32_t thread, uint32_t stream, uint32_t i)
{
    uint32_t kernel = i % KERNELS + 1, pointers = pointers_of(kernel);
    struct ptds_rec_CALL *record = made_up_launch(thread, stream, kernel, pointers);
    record->flags = stream == LEGACY ? PTDS_CALL_LEGACY : 0;
    for (uint32_t k = 0; k < pointers; k++) {
        uint64_t at = k < 2 ? tensor(thread, i - k) : k % 2 == 0 ? weight(thread, i + k) : tensor(thread, i - k * 5);
        if (thread == BACKWARD && k == 1)
            at = tensor(FORWARD, CALLS - i);
        record->word[3 + k] = made_up_pointer(k, at);
    }
    return record;
}

static void load(uint32_t thread, uint32_t i)
{
    made_up_copy(thread, LOADING, tensor(thread, i), 0x555500000000u + i * 0x10000, false);
    made_up_event(thread, false, thread, LOADING);
    made_up_event(thread, true, thread, LEGACY);
}

static void lay_out(uint32_t thread)
{
    static const uint32_t streams[] = {0, LEGACY, LEGACY, BURSTS, ALONE};
    for (uint32_t i = 0; i < CALLS - 10; i++) {
        struct ptds_rec_CALL *last = launch(thread, streams[thread], i + 1000 * KERNELS);
        racing = thread == STEADY ? last : racing;
        if (thread == FORWARD && i % 70 == 69)
            load(thread, i);
    }
    if (thread == FORWARD)
        made_up_copy(thread, LEGACY, tensor(thread, 1), 0x555500010000u, true);
    else if (thread != BACKWARD)
        made_up_call(thread, SYNC_API, PTDS_OP_STREAM_SYNC, streams[thread], 0)->flags |= PTDS_CALL_TIMED;
}

static uint64_t when(uint32_t thread, uint64_t unit, uint32_t call)
{
    static const uint64_t span = (uint64_t)CALLS * STEP;
    uint64_t at = unit * span + thread;
    if (thread == FORWARD || thread == BACKWARD)
        return at + (thread - 1) * span / 2 + (uint64_t)call * STEP / 2;
    if (thread == BURSTING)
        return at + (uint64_t)call / BURST * BURST * STEP + (uint64_t)call % BURST * STEP / BURSTS_APART;
    return at + (uint64_t)call * STEP;
}

static void change(uint32_t thread, uint64_t unit)
{
    if (thread == STEADY)
        racing->word[3] = made_up_pointer(0, tensor(unit % RACE_EVERY == 0 ? BURSTING : STEADY, CALLS));
}

const struct workload program_workload = {
    .name = "program", .threads = STEADY, .define = define, .lay_out = lay_out, .when = when, .change = change};

/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases about threads that share the default stream, needlessly (S4, S5), not at the same time (S6), or because they hand
 * work to each other (R-a, R-f). Run by kit.c; threads take turns, so that the order of their calls is always the same.
 */
#include "tests/kit/kit.h"

enum { MOST = 4 };

static struct {
    CUdeviceptr x[MOST], y[MOST];
    uint32_t *gate, *landing[MOST];
} own;

static void give_each_its_own(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        own.x[i] = kit_words(100 * i);
        own.y[i] = kit_words(0);
        own.landing[i] = kit_pinned(0);
    }
}

static void check_each(unsigned count, uint32_t added)
{
    for (unsigned i = 0; i < count; i++) {
        kit_check("a thread's own", own.x[i], 100 * i + added);
        kit_is("what a thread read", own.landing[i][0] == 100 * i + added);
    }
}

/* Tasks, each on data of its own, all on the one default stream. The gate is before them all. */
static void s4_task(unsigned index, void *unused)
{
    (void)unused;
    for (unsigned round = 0; round < 3; round++) {
        kit_turn(round * MOST + index);
        if (round == 0 && index == 0)
            own.gate = kit_gate(NULL);
        kit_add_one(NULL, own.x[index]);
        CU(cuMemcpyDtoHAsync(own.landing[index], own.x[index], KIT_BYTES, NULL));
        kit_next();
    }
    kit_turn(3 * MOST);
    kit_open(own.gate);
    CU(cuStreamSynchronize(NULL));
}

void kit_S4(void)
{
    give_each_its_own(MOST);
    kit_threads(MOST, s4_task);
    kit_all_done();
    check_each(MOST, 3);
}

/* Two tasks that still wait for each other when each has a stream of its own: one waits for the whole device, copies
 * synchronously, and frees. */
static void s5_first(void)
{
    kit_turn(0);
    own.gate = kit_gate(NULL);
    kit_add_one(NULL, own.x[0]);
    kit_next();
    kit_turn(2);
    CU(cuMemcpyDtoH(own.landing[0], own.x[0], KIT_BYTES));
}

static void s5_second(void)
{
    kit_turn(1);
    kit_add_one(NULL, own.x[1]);
    kit_open_soon(own.gate);
    CU(cuCtxSynchronize());
    kit_is("the gate is open when the wait returns", kit_is_open(own.gate));
    own.gate = kit_gate(NULL);
    kit_open_soon(own.gate);
    CU(cuMemcpyDtoH(own.landing[1], own.x[1], KIT_BYTES));
    kit_is("the gate is open when the copy returns", kit_is_open(own.gate));
    own.gate = kit_gate(NULL);
    kit_open_soon(own.gate);
    CU(cuMemFree(own.y[1]));
    kit_is("the gate is open when the free returns", kit_is_open(own.gate));
    kit_next();
}

static void s5_task(unsigned index, void *unused)
{
    (void)unused;
    if (index == 0)
        s5_first();
    else
        s5_second();
}

void kit_S5(void)
{
    give_each_its_own(2);
    kit_threads(2, s5_task);
    kit_all_done();
    check_each(2, 1);
}

/* Requests come one after the other; each is waited for before the next one is taken. */
static void s6_worker(unsigned index, void *unused)
{
    (void)unused;
    for (unsigned round = 0; round < 3; round++) {
        kit_turn(round * 2 + index);
        kit_add_one(NULL, own.x[index]);
        CU(cuMemcpyDtoHAsync(own.landing[index], own.x[index], KIT_BYTES, NULL));
        CU(cuStreamSynchronize(NULL));
        kit_next();
    }
}

void kit_S6(void)
{
    give_each_its_own(2);
    kit_threads(2, s6_worker);
    check_each(2, 3);
}

/* Three layers, run by two threads in turn, each on what the layer before it made. */
static struct {
    CUdeviceptr first, second, third;
    uint32_t *gate;
} layers;

static void r_a_layer(unsigned index, void *unused)
{
    (void)unused;
    if (index == 0) {
        kit_turn(0);
        layers.gate = kit_gate(NULL);
        kit_fill(NULL, layers.first, 5);
        kit_next();
        kit_turn(2);
        kit_copy(NULL, layers.third, layers.second);
        kit_open_soon(layers.gate);
    } else {
        kit_turn(1);
        kit_copy(NULL, layers.second, layers.first);
        kit_next();
    }
}

void kit_R_a(void)
{
    layers.first = kit_words(0);
    layers.second = kit_words(0);
    layers.third = kit_words(0);
    kit_threads(2, r_a_layer);
    kit_all_done();
    kit_check("the second layer", layers.second, 5);
    kit_check("the third layer", layers.third, 5);
}

/* A thread of a pool reads a page; the thread that asked for it uses it at once. */
static struct {
    CUdeviceptr page, result;
    uint32_t *file, *gate;
} pool;

static void r_f_thread(unsigned index, void *unused)
{
    (void)unused;
    kit_turn(index);
    if (index == 0) {
        pool.gate = kit_gate(NULL);
        CU(cuMemcpyHtoDAsync(pool.page, pool.file, KIT_BYTES, NULL));
    } else {
        kit_copy(NULL, pool.result, pool.page);
        kit_open_soon(pool.gate);
    }
    kit_next();
}

void kit_R_f(void)
{
    pool.page = kit_words(0);
    pool.result = kit_words(0);
    pool.file = kit_pinned(6);
    kit_threads(2, r_f_thread);
    kit_all_done();
    kit_check("what was made of the page", pool.result, 6);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * The built-in kernels: what tests/conformance/kernels.ptx.h does on a GPU, by the same names and parameters. Called by
 * module.c for the names and by the engine's threads to run them. A kernel must never take the simulator's lock.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/sim/sim.h"
#include "tests/sim/sim_test_api.h"

/* The parameters, one after the other; offsets as PTX lays them out. */
struct reader {
    const unsigned char *at, *start;
};

static uint64_t next(struct reader *r, size_t size)
{
    uint64_t value = 0;
    r->at = r->start + ((size_t)(r->at - r->start) + size - 1) / size * size;
    memcpy(&value, r->at, size);
    r->at += size;
    return value;
}

static void *pointer(struct reader *r)
{
    return memory_bytes(next(r, 8));
}
static uint32_t word(struct reader *r)
{
    return (uint32_t)next(r, 4);
}

#define KERNEL(name) \
    static void run_##name(struct reader r); \
    static void enter_##name(const struct kernel_work *k, const unsigned char *parameters) \
    { \
        (void)k; \
        run_##name((struct reader){parameters, parameters}); \
    } \
    static void run_##name(struct reader r)

KERNEL(empty)
{
    (void)r;
}

KERNEL(gate)
{
    const uint32_t *flag = pointer(&r);
    const struct timespec nap = {0, 10000};
    while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE))
        nanosleep(&nap, NULL);
}

KERNEL(spin)
{
    uint64_t end = sim_now_ns() + next(&r, 8);
    const struct timespec t = {(time_t)(end / 1000000000u), (long)(end % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0) {
    }
}

KERNEL(mark)
{
    uint32_t *p = pointer(&r);
    __atomic_store_n(p, word(&r), __ATOMIC_RELEASE);
}

KERNEL(ticket)
{
    uint32_t *counter = pointer(&r), *slot = pointer(&r);
    __atomic_store_n(slot, __atomic_fetch_add(counter, 1, __ATOMIC_ACQ_REL), __ATOMIC_RELEASE);
}

KERNEL(fill)
{
    uint32_t *p = pointer(&r), value = word(&r), n = word(&r);
    for (uint32_t i = 0; i < n; i++)
        p[i] = value;
}

KERNEL(add_one)
{
    uint32_t *p = pointer(&r), n = word(&r);
    for (uint32_t i = 0; i < n; i++)
        p[i]++;
}

KERNEL(copy)
{
    uint32_t *dst = pointer(&r);
    const uint32_t *src = pointer(&r);
    uint32_t n = word(&r);
    for (uint32_t i = 0; i < n; i++)
        dst[i] = src[i];
}

KERNEL(add)
{
    uint32_t *c = pointer(&r);
    const uint32_t *a = pointer(&r), *b = pointer(&r);
    uint32_t n = word(&r);
    for (uint32_t i = 0; i < n; i++)
        c[i] = a[i] + b[i];
}

KERNEL(saxpy)
{
    float *y = pointer(&r), a;
    const float *x = pointer(&r);
    uint32_t bits = word(&r), n = word(&r);
    memcpy(&a, &bits, sizeof a);
    for (uint32_t i = 0; i < n; i++) {
        float product = a * x[i];
        y[i] = product + y[i];
    }
}

/* ---- by name ---- */

struct kernel {
    char name[64], signature[MAX_PARAMETERS + 1]; /* p and q: 8 bytes, d and f: 4 */
    kernel_function run;
    sim_kernel custom;
};

static struct kernel kernels[128] = {
    {"empty", "", enter_empty, NULL},
    {"gate", "p", enter_gate, NULL},
    {"spin", "q", enter_spin, NULL},
    {"spin_ns", "q", enter_spin, NULL},
    {"mark", "pd", enter_mark, NULL},
    {"ticket", "pp", enter_ticket, NULL},
    {"fill", "pdd", enter_fill, NULL},
    {"add_one", "pd", enter_add_one, NULL},
    {"copy", "ppd", enter_copy, NULL},
    {"add", "pppd", enter_add, NULL},
    {"saxpy", "ppfd", enter_saxpy, NULL},
    /* the same under C++ names: tests/kit/kernels.ptx.h */
    {"_Z5emptyv", "", enter_empty, NULL},
    {"_Z4gatePKj", "p", enter_gate, NULL},
    {"_Z4fillPjjj", "pdd", enter_fill, NULL},
    {"_Z7add_onePjj", "pd", enter_add_one, NULL},
    {"_Z4copyPjPKjj", "ppd", enter_copy, NULL},
};

static struct kernel *slot_of(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(kernels); i++)
        if (!kernels[i].name[0] || strcmp(kernels[i].name, name) == 0)
            return &kernels[i];
    return NULL;
}

static void enter_custom(const struct kernel_work *k, const unsigned char *parameters)
{
    slot_of(k->function->name)->custom(parameters);
}

kernel_function kernel_find(const char *name, const char **signature)
{
    const struct kernel *k = slot_of(name);
    if (!k || !k->name[0])
        return NULL;
    *signature = k->signature;
    return k->run;
}

void sim_define_kernel(const char *name, const char *signature, sim_kernel run)
{
    sim_lock();
    struct kernel *k = slot_of(name);
    if (!k || strlen(name) >= sizeof k->name || strlen(signature) > MAX_PARAMETERS)
        abort();
    snprintf(k->name, sizeof k->name, "%s", name);
    snprintf(k->signature, sizeof k->signature, "%s", signature);
    k->custom = run;
    k->run = enter_custom;
    sim_unlock();
}

void *sim_bytes(uint64_t device_pointer)
{
    return memory_bytes(device_pointer);
}

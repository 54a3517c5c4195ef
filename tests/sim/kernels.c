/* SPDX-License-Identifier: Apache-2.0
 *
 * The built-in kernels: what tests/conformance/kernels.ptx.h does on a GPU, by the same names and parameters; those that
 * find their memory in other ways than by a parameter are in kernels_memory.c. Called by module.c for the names and by the
 * engine's threads to run them. A kernel must never take the simulator's lock.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/sim/kernels.h"
#include "tests/sim/sim.h"
#include "tests/sim/sim_test_api.h"

KERNEL(static, empty)
{
}

KERNEL(static, gate)
{
    const uint32_t *flag = reader_pointer(&r);
    const struct timespec nap = {0, 10000};
    while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE))
        nanosleep(&nap, NULL);
}

static void spin(uint64_t ns)
{
    uint64_t end = sim_now_ns() + ns;
    const struct timespec t = {(time_t)(end / 1000000000u), (long)(end % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0) {
    }
}

KERNEL(static, spin)
{
    spin(reader_next(&r, 8));
}

KERNEL(static, spin_add)
{
    uint32_t *p = reader_pointer(&r);
    spin(reader_next(&r, 8));
    uint32_t n = reader_word(&r);
    for (uint32_t i = 0; i < n; i++)
        p[i]++;
}

KERNEL(static, mark)
{
    uint32_t *p = reader_pointer(&r);
    __atomic_store_n(p, reader_word(&r), __ATOMIC_RELEASE);
}

KERNEL(static, ticket)
{
    uint32_t *counter = reader_pointer(&r), *slot = reader_pointer(&r);
    __atomic_store_n(slot, __atomic_fetch_add(counter, 1, __ATOMIC_ACQ_REL), __ATOMIC_RELEASE);
}

KERNEL(static, fill)
{
    uint32_t *p = reader_pointer(&r), value = reader_word(&r), n = reader_word(&r);
    for (uint32_t i = 0; i < n; i++)
        p[i] = value;
}

KERNEL(static, add_one)
{
    uint32_t *p = reader_pointer(&r), n = reader_word(&r);
    for (uint32_t i = 0; i < n; i++)
        p[i]++;
}

KERNEL(static, copy)
{
    uint32_t *dst = reader_pointer(&r);
    const uint32_t *src = reader_pointer(&r);
    uint32_t n = reader_word(&r);
    for (uint32_t i = 0; i < n; i++)
        dst[i] = src[i];
}

KERNEL(static, add)
{
    uint32_t *c = reader_pointer(&r);
    const uint32_t *a = reader_pointer(&r), *b = reader_pointer(&r);
    uint32_t n = reader_word(&r);
    for (uint32_t i = 0; i < n; i++)
        c[i] = a[i] + b[i];
}

KERNEL(static, saxpy)
{
    float *y = reader_pointer(&r), a;
    const float *x = reader_pointer(&r);
    uint32_t bits = reader_word(&r), n = reader_word(&r);
    memcpy(&a, &bits, sizeof a);
    for (uint32_t i = 0; i < n; i++) {
        float product = a * x[i];
        y[i] = product + y[i];
    }
}

/* ---- by name ---- */

struct kernel {
    char name[64], signature[MAX_PARAMETERS + 1]; /* p and q: 8 bytes, d and f: 4, S: 4,000 */
    kernel_function run;
    sim_kernel custom;
};

static struct kernel kernels[256] = {
    {"empty", "", kernel_empty, NULL},
    {"four_pointers", "pppp", kernel_empty, NULL},
    {"gate", "p", kernel_gate, NULL},
    {"spin", "q", kernel_spin, NULL},
    {"spin_ns", "q", kernel_spin, NULL},
    {"spin_add", "pqd", kernel_spin_add, NULL},
    {"mark", "pd", kernel_mark, NULL},
    {"ticket", "pp", kernel_ticket, NULL},
    {"fill", "pdd", kernel_fill, NULL},
    {"add_one", "pd", kernel_add_one, NULL},
    {"copy", "ppd", kernel_copy, NULL},
    {"add", "pppd", kernel_add, NULL},
    {"saxpy", "ppfd", kernel_saxpy, NULL},
    /* kernels_memory.c; tests/conformance/variables.ptx.h, tables.ptx.h, textures.ptx.h */
    {"var_set", "d", kernel_var_set, NULL},
    {"var_add", "d", kernel_var_add, NULL},
    {"var_get", "pd", kernel_var_get, NULL},
    {"kept_set", "p", kernel_kept_set, NULL},
    {"kept_add", "d", kernel_kept_add, NULL},
    {"kept_get", "pd", kernel_kept_get, NULL},
    {"gather", "ppdd", kernel_gather, NULL},
    {"scatter", "pddd", kernel_scatter, NULL},
    {"deep_add", "Sd", kernel_deep_add, NULL},
    {"tex_copy", "pqd", kernel_tex_copy, NULL},
    {"surf_add", "qd", kernel_surf_add, NULL},
    {"_Z6gatherPjPPKjjj", "ppdd", kernel_gather, NULL},
    {"_Z7scatterPPjjjj", "pddd", kernel_scatter, NULL},
    /* the same under C++ names: tests/kit/kernels.ptx.h */
    {"_Z5emptyv", "", kernel_empty, NULL},
    {"_Z4gatePKj", "p", kernel_gate, NULL},
    {"_Z4fillPjjj", "pdd", kernel_fill, NULL},
    {"_Z7add_onePjj", "pd", kernel_add_one, NULL},
    {"_Z4copyPjPKjj", "ppd", kernel_copy, NULL},
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

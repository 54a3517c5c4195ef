/* SPDX-License-Identifier: Apache-2.0
 *
 * The built-in kernels, which an image has that is no PTX: the texts of the conformance programs and of the kit. And
 * kernels that tests define as functions. Called by module.c for the names.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/conformance/kernels.ptx.h"
#include "tests/conformance/tables.ptx.h"
#include "tests/conformance/textures.ptx.h"
#include "tests/conformance/variables.ptx.h"
#include "tests/kit/kernels.ptx.h"
#include "tests/sim/sim.h"
#include "tests/sim/sim_test_api.h"

struct ptx_text *ptx_built_in(void)
{
    static const char *const parts[] = {ptds_test_ptx,   ptds_variables_ptx, ptds_kept_ptx,
                                        ptds_tables_ptx, ptds_textures_ptx,  kit_ptx};
    static char *all;
    size_t size = 1;
    for (size_t i = 0; i < COUNT_OF(parts) && !all; i++)
        size += strlen(parts[i]);
    if (!all && (all = calloc(1, size)))
        for (size_t i = 0; i < COUNT_OF(parts); i++)
            strcat(all, parts[i]);
    if (!all)
        abort();
    return ptx_open(all);
}

/* ---- tests' own ---- */

struct kernel {
    char name[64], signature[MAX_PARAMETERS + 1]; /* p and q: 8 bytes, d and f: 4 */
    sim_kernel run;
};

static struct kernel kernels[256];

static struct kernel *slot_of(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(kernels); i++)
        if (!kernels[i].name[0] || strcmp(kernels[i].name, name) == 0)
            return &kernels[i];
    return NULL;
}

static void enter(const struct kernel_work *k, const unsigned char *parameters)
{
    slot_of(k->function->name)->run(parameters);
}

kernel_function kernel_find(const char *name, const char **signature)
{
    const struct kernel *k = slot_of(name);
    if (!k || !k->name[0])
        return NULL;
    *signature = k->signature;
    return enter;
}

void sim_define_kernel(const char *name, const char *signature, sim_kernel run)
{
    sim_lock();
    struct kernel *k = slot_of(name);
    if (!k || strlen(name) >= sizeof k->name || strlen(signature) > MAX_PARAMETERS)
        abort();
    snprintf(k->name, sizeof k->name, "%s", name);
    snprintf(k->signature, sizeof k->signature, "%s", signature);
    k->run = run;
    sim_unlock();
}

void *sim_bytes(uint64_t device_pointer)
{
    return memory_bytes(device_pointer);
}

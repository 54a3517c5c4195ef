/* SPDX-License-Identifier: Apache-2.0
 *
 * A module's variables: the .global and .const declarations of its PTX text, in device memory that the module owns. Called
 * by module.c and by the two calls that ask for an address. Kernels find them by their place in that memory.
 */
#include <string.h>

#include "tests/sim/sim.h"

static bool in_memory(const struct ptx_variable *v)
{
    return v->space != SPACE_SHARED && !v->external;
}

CUresult module_variable(const struct module *m, const char *name, CUdeviceptr *address, size_t *size)
{
    for (const struct ptx_variable *v = m->text->variables; v; v = v->next)
        if (in_memory(v) && strcmp(v->name, name) == 0) {
            if (address)
                *address = m->memory + v->offset;
            if (size)
                *size = v->size;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_NOT_FOUND;
}

static void set_first(const struct module *m, const struct ptx_variable *v)
{
    char *at = (char *)memory_bytes(m->memory) + v->offset;
    if (v->first)
        memcpy(at, v->first, v->size);
    for (unsigned i = 0; i < v->address_count; i++) {
        uint64_t address = m->memory + v->addresses[i].of->offset + (uint64_t)v->addresses[i].offset;
        if (in_memory(v->addresses[i].of))
            memcpy(at + v->addresses[i].at, &address, sizeof address);
    }
}

void variables_place(struct module *m)
{
    const size_t total = m->text->memory_bytes;
    if (!total || memory_allocate(m->ctx, MEMORY_MODULE, total, 0, &m->memory) != CUDA_SUCCESS)
        return;
    m->memory_id = memory_find(m->memory)->id;
    memset(memory_bytes(m->memory), 0, total);
    for (const struct ptx_variable *v = m->text->variables; v; v = v->next)
        if (in_memory(v))
            set_first(m, v);
}

/* The context may have gone before and taken the memory along. */
void variables_free(struct module *m)
{
    const struct allocation *a = m->memory ? memory_find(m->memory) : NULL;
    if (a && a->id == m->memory_id)
        memory_free(m->memory);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Which parameters of a kernel lead to memory. The kernel's code says so where the trace has that (KERNEL_FACTS); whether
 * a store is ever reached it does not say, so a kernel may write, and never surely does. Else its mangled name does:
 * through a pointer to const a kernel reads; whether it writes through another pointer is not known. Where one part of a
 * name is not understood, no parameter is. Called once a kernel.
 */
#include "analysis/order/memory/signatures.h"

#include <stdlib.h>

#include "analysis/base/heap.h"
#include "analysis/base/id_map.h"
#include "analysis/order/arguments/mangled_access.h"
#include "analysis/order/memory/live_memories.h"

enum { PARAMETERS_MOST = 512 };

static enum access access_of(enum mangled_parameter kind)
{
    return kind == MANGLED_CONST_POINTER || kind == MANGLED_POINTER_POINTER ? ACCESS_READ : ACCESS_UNKNOWN;
}

static struct parameter *take_parameters(struct signature *signature, const uint8_t *kinds, const uint32_t *layout,
                                         uint32_t count)
{
    struct parameter *parameters = heap_bytes((count + 1) * sizeof *parameters);
    uint32_t named = 0, wide = 0;
    if (parameters == NULL)
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t offset = layout[i] >> 16;
        wide += (layout[i] & 0xffff) >= 8;
        signature->opaque |= kinds[i] == MANGLED_POINTER_POINTER && !signature->complete;
        if (offset % 8 == 0)
            parameters[named++] = (struct parameter){(uint16_t)(offset / 8), access_of((enum mangled_parameter)kinds[i])};
    }
    parameters[named].at = SIGNATURE_END;
    signature->wide_first = wide == 1 && (layout[0] & 0xffff) >= 8;
    return parameters;
}

static void read_name(struct verdicts *v, struct signature *signature, const struct kernel_def *kernel)
{
    uint8_t kinds[PARAMETERS_MOST];
    const char *name = kernel->name != 0 ? definitions_string(&v->trace->defs, kernel->name) : NULL;
    int count = name != NULL ? mangled_access_parameters(name, kinds, PARAMETERS_MOST) : -1;
    if (count > 0 && (uint32_t)count == kernel->params && kernel->layout != NULL)
        signature->parameters = take_parameters(signature, kinds, kernel->layout, (uint32_t)count);
}

/* Of a trace that does not tell, all modules' variables are one memory. */
static void read_variables(struct verdicts *v, struct signature *signature, uint32_t variables)
{
    signature->complete = variables != 0;
    signature->plain = variables == PTDS_NO_VARIABLES;
    if (variables == PTDS_NO_VARIABLES)
        return;
    signature->variables = live_memories_named(v, variables & ~PTDS_CONSTANT_VARIABLES);
    signature->variables_access = variables & PTDS_CONSTANT_VARIABLES ? ACCESS_READ : ACCESS_UNKNOWN;
}

static enum access access_of_touch(unsigned touch)
{
    return touch == FACTS_READS ? ACCESS_READ : ACCESS_UNKNOWN;
}

/* By places of 8 bytes: those of which the code says that they lead to memory. NULL without memory. */
static struct parameter *take_places(const uint8_t *touch)
{
    uint32_t count = 0, named = 0;
    for (uint32_t i = 0; i < FACTS_PLACES; i++)
        count += touch[i] != FACTS_NOTHING;
    struct parameter *parameters = heap_bytes((count + 1) * sizeof *parameters);
    for (uint32_t i = 0; i < FACTS_PLACES && parameters != NULL; i++) {
        if (touch[i] != FACTS_NOTHING)
            parameters[named++] = (struct parameter){(uint16_t)i, (uint16_t)access_of_touch(touch[i])};
    }
    if (parameters != NULL)
        parameters[named].at = SIGNATURE_END;
    return parameters;
}

/* What is reached through memory has words of its own, or makes the launch opaque. */
static void read_code(struct verdicts *v, struct signature *signature, const struct kernel_facts *facts, uint32_t variables)
{
    uint8_t touch[FACTS_PLACES];
    enum facts_touch of_variables = kernel_facts_variables(facts);
    if (!kernel_facts_are_known(facts)) {
        signature->opaque = true;
        read_variables(v, signature, variables);
        return;
    }
    kernel_facts_places(facts, touch);
    signature->parameters = take_places(touch);
    signature->by_code = signature->parameters != NULL;
    read_variables(v, signature, of_variables == FACTS_NOTHING ? PTDS_NO_VARIABLES : variables);
    if (of_variables == FACTS_READS)
        signature->variables_access = ACCESS_READ;
}

const struct signature *signatures_look_up(struct verdicts *v, uint32_t uid)
{
    static const struct signature unknown = {.opaque = true}; /* so its module's variables are among what it touches */
    const struct kernel_def *kernel = definitions_kernel(&v->trace->defs, uid);
    uint32_t at;
    if (kernel == NULL || kernel->params == UINT32_MAX)
        return &unknown;
    if (!TABLE_ADD(&v->signatures))
        return &unknown;
    at = (uint32_t)v->signatures.count - 1;
    v->signatures.items[at] = (struct signature){0};
    if (!id_map_put(&v->signature_by_uid, uid, at)) {
        v->signatures.count--;
        return &unknown;
    }
    const struct kernel_facts *facts = definitions_kernel_facts(&v->trace->defs, uid);
    if (facts != NULL) {
        read_code(v, &v->signatures.items[at], facts, kernel->variables);
    } else {
        read_variables(v, &v->signatures.items[at], kernel->variables);
        read_name(v, &v->signatures.items[at], kernel);
    }
    return &v->signatures.items[at];
}

void signatures_free(struct verdicts *v)
{
    for (size_t i = 0; i < v->signatures.count; i++)
        free(v->signatures.items[i].parameters);
    free(v->signatures.items);
    id_map_free(&v->signature_by_uid);
}

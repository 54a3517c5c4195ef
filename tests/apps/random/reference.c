// SPDX-License-Identifier: Apache-2.0
//
// What a program does, one operation after the other as they are called: the result that legacy order promises. Called
// while a program is planned. Shares nothing with how the operations are run.

#include <string.h>

#include "plan.h"

static uint32_t first_word(unsigned mem, unsigned word)
{
    return mem * 0x01000000u + word;
}

void reference_start(struct plan *p)
{
    for (unsigned mem = 0; mem < MEMS; mem++)
        for (unsigned i = 0; i < MEM_WORDS; i++)
            p->memory[mem][i] = p->first[mem][i] = first_word(mem, i);
}

// FNV-1a by words.
uint64_t reference_digest(const uint32_t *words, unsigned count)
{
    uint64_t digest = 0xcbf29ce484222325ull;
    for (unsigned i = 0; i < count; i++)
        digest = (digest ^ words[i]) * 0x100000001b3ull;
    return digest;
}

static uint32_t *words_of(struct plan *p, const struct range *range)
{
    return p->memory[range->mem] + range->first * PART_WORDS;
}

static void fill(struct plan *p, const struct op *op)
{
    uint32_t *to = words_of(p, &op->to);
    for (unsigned i = 0; i < op->to.words; i++)
        to[i] = op->value;
}

static void add(struct plan *p, const struct op *op)
{
    uint32_t *to = words_of(p, &op->to);
    const uint32_t *from = words_of(p, &op->from), *other = words_of(p, &op->other);
    for (unsigned i = 0; i < op->to.words; i++)
        to[i] = from[i] + other[i];
}

static void add_one(struct plan *p, const struct op *op)
{
    uint32_t *to = words_of(p, &op->to);
    for (unsigned i = 0; i < op->to.words; i++)
        to[i]++;
}

void reference_apply(struct plan *p, struct op *op)
{
    switch (op->kind) {
    case KERNEL_FILL:
    case MEMSET:
    case MEMSET_SYNC:
    case PAGEABLE_TO_DEVICE:
    case PAGEABLE_TO_DEVICE_SYNC:
    case HOST_FUNCTION_WRITES:
    case HOST_WRITES:
    case POOL_ALLOC:
    case SCRATCH_ALLOC: fill(p, op); return;
    case EVENT_RECORD_BY_KERNEL:
    case KERNEL_ADD_ONE: add_one(p, op); return;
    case KERNEL_ADD: add(p, op); return;
    case KERNEL_COPY:
    case DEVICE_TO_DEVICE:
    case DEVICE_TO_DEVICE_SYNC:
    case PINNED_TO_DEVICE:
    case PINNED_TO_DEVICE_SYNC:
    case DEVICE_TO_PINNED:
    case DEVICE_TO_PINNED_SYNC:
        memcpy(words_of(p, &op->to), words_of(p, &op->from), op->to.words * sizeof(uint32_t));
        return;
    case DEVICE_TO_PAGEABLE:
    case DEVICE_TO_PAGEABLE_SYNC:
    case HOST_FUNCTION_READS:
    case HOST_READS: op->expected = reference_digest(words_of(p, &op->from), op->from.words); return;
    case GRAPH_LAUNCH:
        for (unsigned i = 0; i < op->nodes; i++)
            reference_apply(p, &p->nodes[op->nodes_at + i]);
        return;
    default: return;
    }
}

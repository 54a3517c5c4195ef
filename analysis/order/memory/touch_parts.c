/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts of memories that a launch touches. Called by touches.c for launches with PTDS_PART_ words, which the guard's work
 * on parts of one memory has. A part says where a pointer leads to at most: which of its bytes are touched is not known.
 * Words come from the trace: a part that begins in no memory, or ends before it begins, says nothing.
 */
#include "analysis/order/memory/touch_parts.h"

#include "analysis/order/memory/access_check.h"
#include "analysis/order/memory/live_memories.h"
#include "analysis/order/memory/memory_use.h"
#include "analysis/order/memory/remembered.h"
#include "analysis/order/memory/signatures.h"

/* The part of the memory that the launch's words say. false: they say none. */
static bool find_part(const struct call *call, uint32_t pointers, const struct memory *memory, struct touch *touch)
{
    for (uint32_t i = pointers; i + 1 < call->words && word_is_part(call_word(call, i)); i += 2) {
        uint64_t begin = launch_address(call_word(call, i)), end = launch_address(call_word(call, i + 1));
        if (begin < memory->base || begin > end || end > memory->end)
            continue;
        touch->lo = begin;
        touch->hi = end;
        return true;
    }
    return false;
}

static unsigned add(struct verdicts *v, uint32_t strand, struct memory *part, const struct touch *touch)
{
    struct edge_query query = {.strand = strand};
    struct memory *memory = live_memories_whole(v, part);
    if (touch->lo == touch->hi)
        return 0;
    access_check_range(v, &query, memory, touch);
    memory_use_newest(v, memory, strand, touch->access);
    remembered_add(v, strand, memory, touch, v->now, v->end);
    return memory->classes;
}

unsigned touch_parts_of_launch(struct verdicts *v, const struct toucher *by, const struct call *call,
                               const struct signature *signature, uint32_t pointers)
{
    const struct parameter *next = signature != NULL ? signature->parameters : NULL;
    unsigned classes = 0;
    for (uint32_t i = LAUNCH_WORDS_AT; i < pointers; i++) {
        uint64_t word = call_word(call, i), address = launch_address(word);
        struct touch touch = {.access = ACCESS_UNKNOWN, .extent = EXTENT_HOLES};
        if (signature != NULL)
            touch.access = signatures_access_at(signature, launch_offset(word) / 8, &next);
        if (touch.access == ACCESS_NONE)
            continue;
        struct memory *memory = live_memories_part(v, address);
        const struct memory *touched = NULL;
        if (memory != NULL && find_part(call, pointers, memory, &touch))
            classes |= add(v, by->strand, memory, &touch);
        else
            touched = access_cache_touch(v, by, access_cache_order(v, i - LAUNCH_WORDS_AT), address, touch.access);
        classes |= touched != NULL ? touched->classes : 0;
    }
    return classes;
}

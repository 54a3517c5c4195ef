/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads KERNEL_FACTS. Called once a kernel, by who judges what launches touch. Records are untrusted: where one is not
 * whole, the kernel may touch anything.
 */
#include "analysis/trace/kernel_facts.h"

#include <string.h>

bool kernel_facts_next(const struct kernel_facts *facts, uint32_t *at, struct facts_base *base)
{
    if (*at >= facts->words)
        return false;
    uint32_t head = facts->word[*at], count = head >> 12 & 15;
    if (count == 0 || count > FACTS_TERMS || count > facts->words - *at - 1)
        return false;
    *base = (struct facts_base){.use = head & 15, .through = head >> 4 & 15, .beyond = head >> 8 & 15, .count = count};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t term = facts->word[*at + 1 + i];
        base->term[i] =
            (struct facts_term){(enum ptds_code_kind)(head >> (16 + 2 * i) & 3), (uint16_t)term, (uint16_t)(term >> 16)};
    }
    *at += 1 + count;
    return true;
}

struct kernel_facts kernel_facts_of(const struct ptds_rec_KERNEL_FACTS *record, const void *tail, size_t bytes)
{
    struct kernel_facts facts = {.kernel = record->kernel,
                                 .at = record->at,
                                 .arch = record->arch,
                                 .verdict = record->verdict,
                                 .why = record->why,
                                 .flags = record->flags,
                                 .ptx = record->ptx,
                                 .words = (uint32_t)(bytes / sizeof(uint32_t)),
                                 .word = tail};
    struct facts_base base;
    uint32_t at = 0, bases = 0;
    while (bases < record->bases && kernel_facts_next(&facts, &at, &base))
        bases++;
    facts.words = at; /* what follows is padding */
    if (bases != record->bases || facts.verdict > PTDS_CODE_UNKNOWN)
        facts.verdict = PTDS_CODE_UNKNOWN;
    return facts;
}

static uint8_t touch_of_use(unsigned use)
{
    return use & PTDS_CODE_WRITE ? FACTS_MAY_WRITE : FACTS_READS;
}

static void add_place(uint8_t *touch, unsigned place, uint8_t added)
{
    if (touch[place] < added)
        touch[place] = added;
}

static void add_term(uint8_t *touch, const struct facts_term *term, uint8_t added)
{
    if (term->kind == PTDS_CODE_PARAMETER) {
        add_place(touch, term->low / 8, added);
        add_place(touch, term->high / 8, added);
    }
    /* a pointer in a packed structure may begin in any byte */
    for (unsigned place = term->low / 8; term->kind == PTDS_CODE_RANGE && place * 8 < term->high; place++)
        add_place(touch, place, added);
}

void kernel_facts_places(const struct kernel_facts *facts, uint8_t *touch)
{
    bool all = kernel_facts_are_known(facts) && !(facts->flags & PTDS_CODE_TENSOR_MAP);
    struct facts_base base;
    memset(touch, all ? FACTS_NOTHING : FACTS_UNSAID, FACTS_PLACES);
    for (uint32_t at = 0; kernel_facts_next(facts, &at, &base);) {
        for (unsigned i = 0; i < base.count; i++)
            add_term(touch, &base.term[i], touch_of_use(base.use));
    }
}

enum facts_touch kernel_facts_variables(const struct kernel_facts *facts)
{
    enum facts_touch touch = FACTS_NOTHING;
    struct facts_base base;
    if (!kernel_facts_are_known(facts))
        return FACTS_UNSAID;
    for (uint32_t at = 0; kernel_facts_next(facts, &at, &base);) {
        for (unsigned i = 0; i < base.count; i++) {
            if (base.term[i].kind == PTDS_CODE_VARIABLE && touch < touch_of_use(base.use))
                touch = touch_of_use(base.use);
        }
    }
    return touch;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Keeps the facts of a kernel in the form in which launches use them. Called once a kernel. Must never lose one: what does
 * not fit makes the kernel opaque.
 */
#include "interpose/footprint/modules/launch_facts.h"

#include "interpose/base/pages.h"

static uint32_t offset_of(uint32_t layout)
{
    return layout >> 16;
}

static uint32_t size_of(uint32_t layout)
{
    return layout & 0xffffu;
}

/* In which parameter, and where in it, the four bytes at `offset` lie. 0: in none. */
static int find_half(uint32_t offset, uint32_t params, const uint32_t *layout, uint16_t *number, uint16_t *at)
{
    for (uint32_t i = 0; i < params; i++) {
        uint32_t begin = offset_of(layout[i]), size = size_of(layout[i]);
        if (offset < begin || size < 4 || offset - begin > size - 4)
            continue;
        *number = (uint16_t)i;
        *at = (uint16_t)(offset - begin);
        return 1;
    }
    return 0;
}

static int find_word(uint32_t low, uint32_t high, uint32_t params, const uint32_t *layout, struct launch_facts_word *word)
{
    return find_half(low, params, layout, &word->low, &word->low_at) &&
           find_half(high, params, layout, &word->high, &word->high_at);
}

static size_t terms_of(const struct code_facts *from)
{
    size_t terms = 0;
    for (unsigned i = 0; i < from->bases; i++)
        terms += from->base[i].count + (from->base[i].mixes <= CODE_MIXED ? from->base[i].mixes : 0u);
    return terms;
}

static size_t room_for(const struct code_facts *from)
{
    return from->bases * sizeof(struct launch_facts_base) + terms_of(from) * sizeof(struct launch_facts_term) +
           from->handles * sizeof(struct launch_facts_handle);
}

static int make_room(struct launch_facts *facts, const struct code_facts *from)
{
    size_t bytes = room_for(from);
    if (bytes > facts->room) {
        facts->base = pages_keep(bytes);
        facts->room = facts->base ? (uint32_t)bytes : 0;
    }
    if (bytes > facts->room)
        return 0;
    facts->term = (struct launch_facts_term *)(void *)(facts->base + from->bases);
    facts->handle = (struct launch_facts_handle *)(void *)(facts->term + terms_of(from));
    return 1;
}

static int take_term(struct launch_facts *facts, const struct code_facts *from, const struct code_term *term,
                     uint32_t params, const uint32_t *layout)
{
    struct launch_facts_term *kept = &facts->term[facts->terms++];
    *kept = (struct launch_facts_term){.kind = term->kind, .from = term->low, .to = term->high};
    if (term->kind == CODE_PARAMETER)
        return find_word(term->low, term->high, params, layout, &kept->word);
    if (term->kind != CODE_VARIABLE)
        return term->kind == CODE_RANGE ? term->low < term->high : term->kind == CODE_LOADED;
    if (term->low >= from->variables)
        return 0;
    kept->constant = from->variable[term->low].constant;
    return 1;
}

/* Two mixed words side by side are kept as one word of 64 bits, which may be a pointer. */
static void take_mixed(struct launch_facts *facts, struct launch_facts_base *kept, const struct code_base *base,
                       uint32_t params, const uint32_t *layout)
{
    if (base->mixes > CODE_MIXED) {
        kept->mixes = CODE_MIXED_ANY;
        return;
    }
    for (unsigned i = 0; i < base->mixes && kept->mixes != CODE_MIXED_ANY; i++) {
        uint32_t low = base->mixed[i], is_pair = i + 1u < base->mixes && base->mixed[i + 1] == low + 4u;
        struct launch_facts_term *term = &facts->term[facts->terms];
        *term = (struct launch_facts_term){
            .kind = CODE_PARAMETER, .from = (uint16_t)low, .to = is_pair ? (uint16_t)(low + 4) : 0};
        kept->mixes =
            find_word(low, is_pair ? low + 4 : low, params, layout, &term->word) ? kept->mixes + 1 : CODE_MIXED_ANY;
        facts->terms++;
        i += is_pair;
    }
}

static int take_base(struct launch_facts *facts, const struct code_facts *from, const struct code_base *base,
                     uint32_t params, const uint32_t *layout)
{
    struct launch_facts_base *kept = &facts->base[facts->bases++];
    *kept = (struct launch_facts_base){base->use,        base->through, base->beyond, base->sum_through,
                                       base->sum_beyond, base->count,   facts->terms, 0};
    if (!base->count || base->count > CODE_TERMS)
        return 0;
    for (unsigned i = 0; i < base->count; i++) {
        if (!take_term(facts, from, &base->term[i], params, layout))
            return 0;
    }
    take_mixed(facts, kept, base, params, layout);
    return 1;
}

/* The base's place among the parameters: bases are sorted by it, so that the record names memories in the order of the
 * parameters. */
static uint32_t place_of(const struct launch_facts *facts, const struct launch_facts_base *base)
{
    const struct launch_facts_term *term = &facts->term[base->first];
    return term->kind == CODE_PARAMETER || term->kind == CODE_RANGE ? term->from : UINT32_MAX;
}

static void sort_bases(struct launch_facts *facts)
{
    for (unsigned i = 1; i < facts->bases; i++) {
        struct launch_facts_base one = facts->base[i];
        unsigned at = i;
        for (; at && place_of(facts, &facts->base[at - 1]) > place_of(facts, &one); at--)
            facts->base[at] = facts->base[at - 1];
        facts->base[at] = one;
    }
}

/* A variable without a base counts as read. */
static void take_variables(struct launch_facts *facts, const struct code_facts *from)
{
    facts->variables = from->variables ? CODE_READ : 0;
    for (unsigned i = 0; i < facts->bases; i++) {
        const struct launch_facts_base *base = &facts->base[i];
        for (unsigned k = 0; k < base->terms; k++) {
            if (facts->term[base->first + k].kind == CODE_VARIABLE)
                facts->variables |= base->use;
        }
    }
}

static int take_handles(struct launch_facts *facts, const struct code_facts *from, uint32_t params, const uint32_t *layout)
{
    for (unsigned i = 0; i < from->handles; i++) {
        struct launch_facts_handle *kept = &facts->handle[facts->handles++];
        *kept = (struct launch_facts_handle){.offset = from->handle[i].offset, .use = from->handle[i].use};
        if (!find_word(kept->offset, kept->offset + 4u, params, layout, &kept->word))
            return 0;
    }
    return 1;
}

static enum opaque_reason reason_of(const struct code_facts *from)
{
    if (from->flags & CODE_HEAP || (from->verdict == CODE_UNKNOWN && from->why == CODE_WHY_HEAP))
        return OPAQUE_HEAP;
    if (from->verdict == CODE_UNKNOWN)
        return OPAQUE_CODE;
    return from->flags & CODE_BOUND_TEXTURE ? OPAQUE_TEXTURE : OPAQUE_NO;
}

void launch_facts_take(struct launch_facts *facts, const struct code_facts *from, uint32_t params, const uint32_t *layout)
{
    facts->bases = facts->terms = facts->handles = 0;
    facts->variables = 0;
    facts->opaque = (uint8_t)reason_of(from);
    facts->maps = (from->flags & CODE_TENSOR_MAP) != 0;
    if (facts->opaque)
        return;
    int taken = params != UINT32_MAX && from->bases <= CODE_BASES && from->handles <= CODE_HANDLES &&
                from->variables <= CODE_VARIABLES && make_room(facts, from);
    for (unsigned i = 0; taken && i < from->bases; i++)
        taken = take_base(facts, from, &from->base[i], params, layout);
    if (!taken || !take_handles(facts, from, params, layout)) {
        facts->opaque = params == UINT32_MAX ? OPAQUE_PARAMETERS : OPAQUE_CODE;
        return;
    }
    sort_bases(facts);
    take_variables(facts, from);
}

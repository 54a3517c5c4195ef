/* SPDX-License-Identifier: Apache-2.0
 *
 * Keeps the facts of a kernel in the form in which launches use them. Called once a kernel. Must never lose one: what does
 * not fit makes the kernel opaque.
 */
#include "interpose/footprint/facts.h"

#include <string.h>

#include "interpose/base/pages.h"

static uint32_t offset_of(uint32_t layout)
{
    return layout >> 16;
}
static uint32_t size_of(uint32_t layout)
{
    return layout & 0xffffu;
}

/* Where the four bytes at `offset` lie. 0: in no parameter. */
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

static int find_word(uint32_t low, uint32_t high, uint32_t params, const uint32_t *layout, struct facts_word *word)
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
    return from->bases * sizeof(struct facts_base) + terms_of(from) * sizeof(struct facts_term) +
           from->handles * sizeof(struct facts_handle);
}

static int make_room(struct facts *facts, const struct code_facts *from)
{
    size_t bytes = room_for(from);
    if (bytes > facts->room) {
        facts->base = pages_keep(bytes);
        facts->room = facts->base ? (uint32_t)bytes : 0;
    }
    if (bytes > facts->room)
        return 0;
    facts->term = (struct facts_term *)(void *)(facts->base + from->bases);
    facts->handle = (struct facts_handle *)(void *)(facts->term + terms_of(from));
    return 1;
}

static int take_term(struct facts *facts, const struct code_facts *from, const struct code_term *term, uint32_t params,
                     const uint32_t *layout)
{
    struct facts_term *kept = &facts->term[facts->terms++];
    *kept = (struct facts_term){.kind = term->kind, .from = term->low, .to = term->high};
    if (term->kind == CODE_PARAMETER)
        return find_word(term->low, term->high, params, layout, &kept->word);
    if (term->kind != CODE_VARIABLE)
        return term->kind == CODE_RANGE ? term->low < term->high : term->kind == CODE_LOADED;
    if (term->low >= from->variables)
        return 0;
    kept->constant = from->variable[term->low].constant;
    return 1;
}

/* Two words side by side are one of 64 bits, which a pointer may be. */
static void take_mixed(struct facts *facts, struct facts_base *kept, const struct code_base *base, uint32_t params,
                       const uint32_t *layout)
{
    if (base->mixes > CODE_MIXED) {
        kept->mixes = CODE_MIXED_ANY;
        return;
    }
    for (unsigned i = 0; i < base->mixes && kept->mixes != CODE_MIXED_ANY; i++) {
        uint32_t low = base->mixed[i], is_pair = i + 1u < base->mixes && base->mixed[i + 1] == low + 4u;
        struct facts_term *term = &facts->term[facts->terms];
        *term = (struct facts_term){.kind = CODE_PARAMETER, .from = (uint16_t)low, .to = is_pair ? (uint16_t)(low + 4) : 0};
        kept->mixes =
            find_word(low, is_pair ? low + 4 : low, params, layout, &term->word) ? kept->mixes + 1 : CODE_MIXED_ANY;
        facts->terms++;
        i += is_pair;
    }
}

static int take_base(struct facts *facts, const struct code_facts *from, const struct code_base *base, uint32_t params,
                     const uint32_t *layout)
{
    struct facts_base *kept = &facts->base[facts->bases++];
    *kept = (struct facts_base){base->use,        base->through, base->beyond, base->sum_through,
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

/* In the order of the parameters: so they are told, too. */
static uint32_t place_of(const struct facts *facts, const struct facts_base *base)
{
    const struct facts_term *term = &facts->term[base->first];
    return term->kind == CODE_PARAMETER || term->kind == CODE_RANGE ? term->from : UINT32_MAX;
}

static void sort_bases(struct facts *facts)
{
    for (unsigned i = 1; i < facts->bases; i++) {
        struct facts_base one = facts->base[i];
        unsigned at = i;
        for (; at && place_of(facts, &facts->base[at - 1]) > place_of(facts, &one); at--)
            facts->base[at] = facts->base[at - 1];
        facts->base[at] = one;
    }
}

/* A variable that is named, and of which no base tells, is read. */
static void take_variables(struct facts *facts, const struct code_facts *from)
{
    facts->variables = from->variables ? CODE_READ : 0;
    for (unsigned i = 0; i < facts->bases; i++) {
        const struct facts_base *base = &facts->base[i];
        for (unsigned k = 0; k < base->terms; k++) {
            if (facts->term[base->first + k].kind == CODE_VARIABLE)
                facts->variables |= base->use;
        }
    }
}

static int take_handles(struct facts *facts, const struct code_facts *from, uint32_t params, const uint32_t *layout)
{
    for (unsigned i = 0; i < from->handles; i++) {
        struct facts_handle *kept = &facts->handle[facts->handles++];
        *kept = (struct facts_handle){.offset = from->handle[i].offset, .use = from->handle[i].use};
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

void facts_take(struct facts *facts, const struct code_facts *from, uint32_t params, const uint32_t *layout)
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

/* ---- several kinds of devices ---- */

static int is_same_term(const struct code_term *one, const struct code_term *other)
{
    return one->kind == other->kind && one->low == other->low && one->high == other->high;
}

static int is_same_base(const struct code_base *one, const struct code_base *other)
{
    int same = one->count == other->count;
    for (unsigned i = 0; same && i < one->count; i++)
        same = is_same_term(&one->term[i], &other->term[i]);
    return same;
}

static void be_unknown(struct code_facts *all)
{
    all->verdict = CODE_UNKNOWN;
    all->why = CODE_WHY_MANY;
}

static void merge_mixed(struct code_base *all, const struct code_base *one)
{
    for (unsigned i = 0; i < one->mixes && all->mixes <= CODE_MIXED; i++) {
        unsigned at = 0;
        while (at < all->mixes && all->mixed[at] != (one->mixes <= CODE_MIXED ? one->mixed[i] : 0))
            at++;
        if (one->mixes > CODE_MIXED || (at == all->mixes && at == CODE_MIXED))
            all->mixes = CODE_MIXED_ANY;
        else if (at == all->mixes)
            all->mixed[all->mixes++] = one->mixed[i];
    }
}

/* One of the same beginning is one more use of it. */
static void merge_base(struct code_facts *all, const struct code_base *base)
{
    for (unsigned i = 0; i < all->bases; i++) {
        struct code_base *same = &all->base[i];
        if (!is_same_base(same, base))
            continue;
        same->use |= base->use;
        same->through |= base->through;
        same->beyond |= base->beyond;
        same->sum_through |= base->sum_through;
        same->sum_beyond |= base->sum_beyond;
        merge_mixed(same, base);
        return;
    }
    if (all->bases == CODE_BASES)
        be_unknown(all);
    else
        all->base[all->bases++] = *base;
}

/* The number of that variable among all; added if it is not there. */
static uint16_t merge_variable(struct code_facts *all, const struct code_variable *variable)
{
    for (uint16_t i = 0; i < all->variables; i++) {
        if (all->variable[i].constant == variable->constant && strcmp(all->variable[i].name, variable->name) == 0)
            return i;
    }
    if (all->variables == CODE_VARIABLES) {
        be_unknown(all);
        return 0;
    }
    all->variable[all->variables] = *variable;
    return all->variables++;
}

static void merge_handle(struct code_facts *all, const struct code_handle *handle)
{
    for (unsigned i = 0; i < all->handles; i++) {
        if (all->handle[i].offset == handle->offset) {
            all->handle[i].use |= handle->use;
            return;
        }
    }
    if (all->handles == CODE_HANDLES)
        be_unknown(all);
    else
        all->handle[all->handles++] = *handle;
}

void facts_merge(struct code_facts *all, const struct code_facts *one)
{
    uint16_t number[CODE_VARIABLES];
    if (one->verdict > all->verdict) {
        all->verdict = one->verdict;
        all->why = one->why;
        all->at = one->at;
        memcpy(all->text, one->text, sizeof all->text);
    }
    all->flags |= one->flags;
    for (unsigned i = 0; i < one->variables; i++)
        number[i] = merge_variable(all, &one->variable[i]);
    for (unsigned i = 0; i < one->bases; i++) {
        struct code_base base = one->base[i];
        for (unsigned k = 0; k < base.count && k < CODE_TERMS; k++) {
            if (base.term[k].kind == CODE_VARIABLE && base.term[k].low < one->variables)
                base.term[k].low = number[base.term[k].low];
        }
        merge_base(all, &base);
    }
    for (unsigned i = 0; i < one->handles; i++)
        merge_handle(all, &one->handle[i]);
}

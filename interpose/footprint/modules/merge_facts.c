/* SPDX-License-Identifier: Apache-2.0
 *
 * Adds up the facts of a kernel over kinds of devices. Called once a kernel, where an image has several versions of it.
 * Must never lose one: what does not fit makes the kernel unknown.
 */
#include "interpose/footprint/modules/merge_facts.h"

#include <string.h>

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

/* A base with the same terms as one that is there adds its use to that one. */
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

/* Returns the variable's number in `all`, and adds the variable if it is not there. */
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

/* Several versions of a kernel: which one runs is not known, and their accesses are not the same ones. */
static void forget_extents(struct code_facts *all)
{
    all->extent_steps = 0;
    for (unsigned i = 0; i < all->bases; i++)
        all->base[i].has_extent = 0;
}

void merge_facts(struct code_facts *all, const struct code_facts *one)
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
    forget_extents(all);
}

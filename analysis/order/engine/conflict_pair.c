/* SPDX-License-Identifier: Apache-2.0
 *
 * Judges two accesses by their ranges and directions alone. Called for every pair that is examined (memory/conflicts.c),
 * and for pairs that are shown. Must not ask what orders the two.
 */
#include "analysis/order/engine/conflict_pair.h"

static bool overlap(const struct touch *a, const struct touch *b)
{
    return a->lo < b->hi && b->lo < a->hi;
}

/* Whether the known parts of both ranges share a byte. *may: whether the ranges may share one. */
static bool meet(const struct touch *a, const struct touch *b, bool *may)
{
    const struct touch *open = a->extent == EXTENT_FROM ? a : b, *other = open == a ? b : a;
    *may = true;
    if (open->extent != EXTENT_FROM) {
        *may = overlap(a, b);
        return *may && a->extent == EXTENT_EXACT && b->extent == EXTENT_EXACT;
    }
    if (other->extent == EXTENT_FROM)
        return open->lo == other->lo;
    return other->extent == EXTENT_EXACT && open->lo >= other->lo && open->lo < other->hi;
}

/* Of a kernel's access neither the end is known, nor whether the access happens at all. */
enum verdict conflict_pair_judge(const struct touch *a, const struct touch *b, enum verdict_reason *reason)
{
    bool may, met;
    *reason = REASON_NONE;
    if (a->access == ACCESS_READ && b->access == ACCESS_READ)
        return VERDICT_NOT_NEEDED;
    met = meet(a, b, &may);
    if (!may)
        return VERDICT_NOT_NEEDED;
    *reason = !met ? REASON_EXTENT : REASON_ACCESS;
    return met && a->extent == EXTENT_EXACT && b->extent == EXTENT_EXACT &&
                   (a->access == ACCESS_WRITE || b->access == ACCESS_WRITE)
               ? VERDICT_NEEDED
               : VERDICT_MAYBE_NEEDED;
}

void conflict_pair_describe(const struct verdicts *v, const struct access_pair *accesses, struct edge_pair *pair)
{
    const struct remembered *first = accesses->first;
    const struct touch *touch = &first->touch, *second = accesses->second;
    uint64_t lo = larger(touch->lo, second->lo), hi = touch->hi < second->hi ? touch->hi : second->hi;
    enum verdict_reason reason;
    *pair = (struct edge_pair){.first = first->end,
                               .second = *v->end,
                               .first_access = touch->access,
                               .second_access = second->access,
                               .address = lo,
                               .allocation = accesses->memory->uid,
                               .both_write = touch->access == ACCESS_WRITE && second->access == ACCESS_WRITE &&
                                             v->end->stream != 0, /* else the host frees it */
                               .definite = conflict_pair_judge(touch, second, &reason) == VERDICT_NEEDED};
    bool exact = touch->extent != EXTENT_FROM && second->extent != EXTENT_FROM;
    if (touch->extent == EXTENT_FROM && second->extent != EXTENT_FROM)
        pair->address = touch->lo;
    if (touch->extent != EXTENT_FROM && second->extent == EXTENT_FROM)
        pair->address = second->lo;
    pair->size = exact && hi > lo ? hi - lo : 0;
}

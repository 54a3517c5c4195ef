/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of accesses that are remembered of a memory: by time, and open-ended ones by strand and address. Called by
 * access_check.c and access_cache.c, which decide what is remembered. Must not grow beyond ACCESSES_MOST: the oldest
 * access is forgotten then, and noted (forgotten_add).
 */
#include "analysis/order/memory/remembered.h"

#include "analysis/base/hints.h"
#include "analysis/order/strands/forgotten.h"

static uint16_t bucket_of(uint32_t strand, const struct touch *touch)
{
    uint64_t mixed = (touch->lo ^ (uint64_t)strand << 40) * UINT64_C(0x9e3779b97f4a7c15);
    return touch->extent == EXTENT_FROM ? (uint16_t)(1 + (mixed >> 32) % (BUCKETS - 1)) : 0;
}

static void leave_bucket(struct memory *memory, uint16_t position)
{
    const struct remembered *old = remembered_at(memory, position);
    uint16_t *link = &memory->bucket[old->home];
    while (*link != position)
        link = &remembered_at(memory, *link)->chained;
    *link = old->chained;
}

static void leave_order(struct memory *memory, const struct remembered *old)
{
    *(old->earlier != 0 ? &remembered_at(memory, old->earlier)->later : &memory->oldest) = old->later;
    *(old->later != 0 ? &remembered_at(memory, old->later)->earlier : &memory->newest) = old->earlier;
}

/* Its place is free then. */
void remembered_forget(struct memory *memory, struct remembered *old)
{
    uint16_t position = (uint16_t)(old - memory->list.items + 1);
    leave_bucket(memory, position);
    leave_order(memory, old);
    old->strand = NO_STRAND;
    old->chained = memory->free;
    memory->free = position;
    memory->live--;
}

/* By op. Mostly the access is the newest, but not if others were added while it stood in the cache. */
static INLINE void enter_order(struct memory *memory, struct remembered *access, uint16_t position)
{
    uint16_t earlier = memory->newest, later = 0;
    while (earlier != 0 && remembered_at(memory, earlier)->op > access->op) {
        later = earlier;
        earlier = remembered_at(memory, earlier)->earlier;
    }
    access->earlier = earlier;
    access->later = later;
    *(earlier != 0 ? &remembered_at(memory, earlier)->later : &memory->oldest) = position;
    *(later != 0 ? &remembered_at(memory, later)->earlier : &memory->newest) = position;
}

void remembered_renew(struct memory *memory, struct remembered *access, uint16_t position, uint64_t op,
                      const struct edge_end *end)
{
    access->op = op;
    access->end = *end;
    if (memory->newest == position)
        return;
    leave_order(memory, access);
    enter_order(memory, access, position);
}

/* Not again before the host has learnt something by explicit order. */
ASIDE void remembered_clean(struct verdicts *v, struct memory *memory)
{
    const struct vclock *done = &strands_at(v, HOST_STRAND)->expl;
    if (memory->cleaned >= v->learnt)
        return;
    memory->cleaned = v->now;
    for (uint32_t at = memory->oldest, next; at != 0; at = next) {
        struct remembered *old = remembered_at(memory, at);
        next = old->later;
        if (vclock_get(done, old->strand) >= old->op)
            remembered_forget(memory, old);
    }
}

/* Position 0: no memory. */
static uint16_t new_place(struct memory *memory)
{
    uint16_t position = memory->free;
    if (position != 0)
        memory->free = remembered_at(memory, position)->chained;
    else if (TABLE_ADD(&memory->list))
        position = (uint16_t)memory->list.count;
    return position;
}

void remembered_find(struct memory *memory, uint32_t strand, uint64_t address, uint16_t positions[ACCESS_UNKNOWN])
{
    struct touch touch = {.lo = address, .extent = EXTENT_FROM};
    for (uint16_t at = memory->bucket[bucket_of(strand, &touch)]; at != 0; at = remembered_at(memory, at)->chained) {
        const struct remembered *old = remembered_at(memory, at);
        if (old->strand == strand && old->touch.lo == address)
            positions[old->touch.access - 1] = at;
    }
}

/* After access_check_range or access_check_open_ended with the same access. */
uint16_t remembered_add(struct verdicts *v, uint32_t strand, struct memory *memory, const struct touch *touch, uint64_t op,
                        const struct edge_end *end)
{
    if (memory->live >= ACCESSES_MOST)
        remembered_clean(v, memory);
    if (memory->live >= ACCESSES_MOST) {
        struct remembered *oldest = remembered_at(memory, memory->oldest);
        forgotten_add(v, oldest->strand, oldest->op);
        remembered_forget(memory, oldest);
    }
    uint16_t at = new_place(memory), bucket = bucket_of(strand, touch);
    if (at == 0) {
        v->limited = true;
        return 0;
    }
    *remembered_at(memory, at) =
        (struct remembered){.touch = *touch, .op = op, .strand = strand, .home = bucket, .end = *end};
    enter_order(memory, remembered_at(memory, at), at);
    remembered_at(memory, at)->chained = memory->bucket[bucket];
    memory->bucket[bucket] = at;
    memory->live++;
    return at;
}

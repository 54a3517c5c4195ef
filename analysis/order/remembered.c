/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of accesses that are remembered of a piece of memory: by time, those from one address on by lane, too. Called by
 * accesses.c and places.c, which decide what is to be remembered. Must not grow beyond ACCESSES_MOST: what there is no room
 * for is forgotten, oldest first, and that is told (blame_forgotten).
 */
#include "analysis/base/hints.h"
#include "analysis/order/blame.h"

static uint16_t bucket_of(uint32_t lane, const struct touch *touch)
{
    uint64_t mixed = (touch->lo ^ (uint64_t)lane << 40) * UINT64_C(0x9e3779b97f4a7c15);
    return touch->extent == EXTENT_FROM ? (uint16_t)(1 + (mixed >> 32) % (BUCKETS - 1)) : 0;
}

static void leave_bucket(struct memory *memory, uint16_t position)
{
    const struct remembered *old = accesses_at(memory, position);
    uint16_t *link = &memory->bucket[old->home];
    while (*link != position)
        link = &accesses_at(memory, *link)->chained;
    *link = old->chained;
}

static void leave_order(struct memory *memory, const struct remembered *old)
{
    *(old->earlier != 0 ? &accesses_at(memory, old->earlier)->later : &memory->oldest) = old->later;
    *(old->later != 0 ? &accesses_at(memory, old->later)->earlier : &memory->newest) = old->earlier;
}

/* Its place is free afterwards; `chained` of what was before it in its bucket goes on behind it. */
void accesses_forget(struct memory *memory, struct remembered *old)
{
    uint16_t position = (uint16_t)(old - memory->list.items + 1);
    leave_bucket(memory, position);
    leave_order(memory, old);
    old->lane = NO_LANE;
    old->chained = memory->free;
    memory->free = position;
    memory->live--;
}

/* Mostly it is the newest of all; behind exact ones that came while it was noted elsewhere (places.h) it is not. */
static INLINE void enter_order(struct memory *memory, struct remembered *access, uint16_t position)
{
    uint16_t earlier = memory->newest, later = 0;
    while (earlier != 0 && accesses_at(memory, earlier)->op > access->op) {
        later = earlier;
        earlier = accesses_at(memory, earlier)->earlier;
    }
    access->earlier = earlier;
    access->later = later;
    *(earlier != 0 ? &accesses_at(memory, earlier)->later : &memory->oldest) = position;
    *(later != 0 ? &accesses_at(memory, later)->earlier : &memory->newest) = position;
}

void accesses_again(struct memory *memory, struct remembered *access, uint16_t position, uint64_t op,
                    const struct edge_end *end)
{
    access->op = op;
    access->end = *end;
    if (memory->newest == position)
        return;
    leave_order(memory, access);
    enter_order(memory, access, position);
}

/* Drops what everybody comes after anyway. */
ASIDE void accesses_clean(struct verdicts *v, struct memory *memory)
{
    const struct vclock *done = &lanes_at(v, HOST_LANE)->expl;
    if (memory->cleaned >= v->learnt)
        return;
    memory->cleaned = v->now;
    for (uint32_t at = memory->oldest, next; at != 0; at = next) {
        struct remembered *old = accesses_at(memory, at);
        next = old->later;
        if (vclock_get(done, old->lane) >= old->op)
            accesses_forget(memory, old);
    }
}

/* Position 0: no memory. */
static uint16_t new_place(struct memory *memory)
{
    uint16_t position = memory->free;
    if (position != 0)
        memory->free = accesses_at(memory, position)->chained;
    else if (TABLE_ADD(&memory->list))
        position = (uint16_t)memory->list.count;
    return position;
}

void accesses_find(struct memory *memory, uint32_t lane, uint64_t address, uint16_t positions[ACCESS_UNKNOWN])
{
    struct touch touch = {.lo = address, .extent = EXTENT_FROM};
    for (uint16_t at = memory->bucket[bucket_of(lane, &touch)]; at != 0; at = accesses_at(memory, at)->chained) {
        const struct remembered *old = accesses_at(memory, at);
        if (old->lane == lane && old->touch.lo == address)
            positions[old->touch.access - 1] = at;
    }
}

/* After accesses_touch or accesses_open with the same access. */
uint16_t accesses_remember(struct verdicts *v, uint32_t lane, struct memory *memory, const struct touch *touch, uint64_t op,
                           const struct edge_end *end)
{
    if (memory->live >= ACCESSES_MOST)
        accesses_clean(v, memory);
    if (memory->live >= ACCESSES_MOST) {
        struct remembered *oldest = accesses_at(memory, memory->oldest);
        blame_forgotten(v, oldest->lane, oldest->op);
        accesses_forget(memory, oldest);
    }
    uint16_t at = new_place(memory), bucket = bucket_of(lane, touch);
    if (at == 0) {
        v->limited = true;
        return 0;
    }
    *accesses_at(memory, at) = (struct remembered){.touch = *touch, .op = op, .lane = lane, .home = bucket, .end = *end};
    enter_order(memory, accesses_at(memory, at), at);
    accesses_at(memory, at)->chained = memory->bucket[bucket];
    memory->bucket[bucket] = at;
    memory->live++;
    return at;
}

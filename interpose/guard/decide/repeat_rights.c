/* SPDX-License-Identifier: Apache-2.0
 *
 * Repeat rights: how they are made and end, under the lock. Called by order.c and by the guard. Must not know the driver,
 * lock, or call malloc.
 */
#include "interpose/guard/decide/repeat_rights.h"

#include <stddef.h>

#include "interpose/guard/decide/ledger.h"
#include "interpose/guard/decide/order.h"
#include "interpose/guard/decide/order_lane.h"

/* Where a new right goes: in the place of its older one, of one that has ended, or else of any in its row. */
static struct repeat_right *place_for(struct order *o, struct lane *lane, const struct memory *memory, uint32_t writes,
                                      uint64_t epoch)
{
    int slot = repeat_rights_slot(lane, memory, writes);
    unsigned first = repeat_rights_row(memory), way = 0;
    if (slot >= 0)
        return &lane->rights[slot];
    while (way < RIGHTS_ROW && repeat_rights_is_live(lane, (int)(first + way), epoch))
        way++;
    return &lane->rights[first + (way < RIGHTS_ROW ? way : o->now % RIGHTS_ROW)];
}

/* Opaque work has ended all rights: it is such a first one. */
void repeat_rights_make(struct order *o, struct lane *lane, const struct touched *touched)
{
    uint64_t epoch = __atomic_load_n(&o->epoch, __ATOMIC_RELAXED); /* a stream that comes ends rights without the lock */
    if (lane->ready != epoch + 1) { /* where promises change all the time, rights would be made for nothing */
        __atomic_store_n(&lane->ready, epoch + 1, __ATOMIC_RELEASE);
        return;
    }
    for (unsigned i = 0; i < touched->count; i++) {
        const struct access *access = &touched->at[i];
        if (access->begin || access->end != UINT64_MAX || access->memory->host & 1)
            continue;
        struct repeat_right *right = place_for(o, lane, access->memory, access->writes, epoch + 1);
        right->key = repeat_rights_key(access->memory, access->writes);
        __atomic_store_n(&right->epoch, epoch + 1, __ATOMIC_RELEASE);
    }
}

int repeat_rights_has(const struct order *o, unsigned number, const struct memory *memory)
{
    const struct lane *lane = o->lanes[number];
    uint64_t epoch = __atomic_load_n(&o->epoch, __ATOMIC_RELAXED);
    return repeat_rights_is_live(lane, repeat_rights_slot(lane, memory, 0), epoch + 1) ||
           repeat_rights_is_live(lane, repeat_rights_slot(lane, memory, 1), epoch + 1);
}

static void take_away(struct lane *lane, const struct memory *memory, uint32_t writes)
{
    int slot = repeat_rights_slot(lane, memory, writes);
    if (slot >= 0)
        __atomic_store_n(&lane->rights[slot].epoch, 0, __ATOMIC_SEQ_CST);
}

/* A lane that has a right on a memory has a row in its ledger. */
static void end_others(struct order *o, unsigned lane, const struct access *access)
{
    const struct ledger *ledger = access->memory->ledger;
    for (unsigned i = 0; ledger && i < ledger->count; i++) {
        if (ledger->at[i].lane == lane)
            continue;
        take_away(o->lanes[ledger->at[i].lane], access->memory, 1);
        if (access->writes)
            take_away(o->lanes[ledger->at[i].lane], access->memory, 0);
    }
}

void repeat_rights_forget(struct order *o, const struct memory *memory)
{
    const struct ledger *ledger = memory->ledger;
    for (unsigned i = 0; ledger && i < ledger->count; i++) {
        take_away(o->lanes[ledger->at[i].lane], memory, 0);
        take_away(o->lanes[ledger->at[i].lane], memory, 1);
    }
}

/* Promises change with all but plain work of a default lane. What runs on a non-blocking stream promises by its events
 * alone. */
static int changes_promises(const struct order *o, const struct order_op *op)
{
    const struct lane *lane = o->lanes[op->lane];
    if (op->touched && op->touched->opaque)
        return 1;
    if (lane->kind == LANE_NON_BLOCKING)
        return 0;
    if (op->waits && repeat_rights_need_marks(o))
        return 1; /* what came quickly from here on would have no mark before it */
    return op->work && (lane->kind == LANE_BLOCKING || !op->touched || op->join > JOIN_HOST);
}

/* As one operation on each memory on which the lane has used its right. No blocking stream has worked since the lane's
 * newest operation, else there were no rights: so the context's promises are what they were. */
static void register_used(struct order *o, unsigned number)
{
    struct lane *lane = o->lanes[number];
    uint64_t used = __atomic_exchange_n(&lane->used, 0, __ATOMIC_SEQ_CST);
    if (!lane->open)
        return;
    order_lane_begin(o, lane);
    for (unsigned slot = 0; used; used >>= 1, slot++) {
        const uintptr_t key = lane->rights[slot].key;
        const struct access access = {(struct memory *)(key & ~(uintptr_t)1), 0, UINT64_MAX, key & 1};
        if (used & 1 && !ledger_note(o, &access, number, o->now))
            order_lane_crowded(o);
    }
}

void repeat_rights_catch_up(struct order *o, const struct order_op *op)
{
    const struct touched *touched = op ? op->touched : NULL;
    if (op && changes_promises(o, op))
        repeat_rights_end(o);
    for (unsigned i = 0; touched && i < touched->count; i++)
        end_others(o, op->lane, &touched->at[i]);
    for (unsigned word = 0; word < sizeof o->active / sizeof o->active[0]; word++) {
        if (!__atomic_load_n(&o->active[word], __ATOMIC_SEQ_CST))
            continue;
        uint64_t active = __atomic_exchange_n(&o->active[word], 0, __ATOMIC_SEQ_CST);
        for (; active; active &= active - 1)
            register_used(o, word * 64 + (unsigned)__builtin_ctzll(active));
    }
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Claims: operations that need not be registered. Called by order.c and by the guard. Must not know the driver, lock, or
 * call malloc; order_again must write nothing but the lane's own words and its bit among the active ones.
 */
#include "interpose/guard/claims.h"

#include <stddef.h>

#include "interpose/guard/lanes.h"
#include "interpose/guard/ledger.h"

/* Reads and writes apart: a lane that only reads conflicts with fewer. Memories have successive numbers. */
static inline unsigned slot_of(const struct memory *memory, uint32_t writes)
{
    return (memory->uid * 2 + (writes != 0)) % LANE_CLAIMS;
}

static inline int is_live(const struct claim *claim, const struct memory *memory, uint64_t epoch)
{
    return claim->memory == memory && __atomic_load_n(&claim->epoch, __ATOMIC_SEQ_CST) == epoch;
}

/* ---- without the lock ---- */

/* All loads from here on are sequentially consistent, as is what they are about to find: an acquiring load may be done
 * before the gate or the announcement can be seen. */
static inline int hold(const struct order *o, const struct lane *lane, const struct touched *touched, uint64_t *slots)
{
    uint64_t epoch = __atomic_load_n(&o->epoch, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&lane->ready, __ATOMIC_ACQUIRE) != epoch + 1)
        return 0;
    for (unsigned i = 0; i < touched->count; i++) {
        const struct access *access = &touched->at[i];
        unsigned slot = slot_of(access->memory, access->writes);
        if (!is_live(&lane->claims[slot], access->memory, epoch + 1))
            return 0;
        *slots |= UINT64_C(1) << slot;
    }
    return 1;
}

int order_again(struct order *o, unsigned number, const struct touched *touched)
{
    struct lane *lane = o->lanes[number];
    uint64_t slots = 0, bit = UINT64_C(1) << number % 64, *active = &o->active[number / 64];
    if (!hold(o, lane, touched, &slots))
        return 0;
    if ((__atomic_load_n(&lane->used, __ATOMIC_SEQ_CST) & slots) == slots &&
        __atomic_load_n(active, __ATOMIC_SEQ_CST) & bit)
        return 1; /* who registers next finds both */
    __atomic_or_fetch(&lane->used, slots, __ATOMIC_SEQ_CST);
    __atomic_or_fetch(active, bit, __ATOMIC_SEQ_CST);
    return hold(o, lane, touched, &slots);
}

/* ---- under the lock ---- */

/* Opaque work has ended all claims: it is such a first one. */
void claims_make(struct order *o, struct lane *lane, const struct touched *touched)
{
    uint64_t epoch = __atomic_load_n(&o->epoch, __ATOMIC_RELAXED); /* a stream that comes ends claims without the lock */
    if (lane->ready != epoch + 1) { /* where promises change all the time, claims would be made for nothing */
        __atomic_store_n(&lane->ready, epoch + 1, __ATOMIC_RELEASE);
        return;
    }
    for (unsigned i = 0; i < touched->count; i++) {
        const struct access *access = &touched->at[i];
        struct claim *claim = &lane->claims[slot_of(access->memory, access->writes)];
        if (access->begin || access->end != UINT64_MAX || access->memory->host & 1)
            continue;
        claim->memory = access->memory;
        __atomic_store_n(&claim->epoch, epoch + 1, __ATOMIC_RELEASE);
    }
}

int claims_live(const struct order *o, unsigned number, const struct memory *memory)
{
    const struct lane *lane = o->lanes[number];
    uint64_t epoch = __atomic_load_n(&o->epoch, __ATOMIC_RELAXED);
    return is_live(&lane->claims[slot_of(memory, 0)], memory, epoch + 1) ||
           is_live(&lane->claims[slot_of(memory, 1)], memory, epoch + 1);
}

static void take_away(struct lane *lane, const struct memory *memory, uint32_t writes)
{
    struct claim *claim = &lane->claims[slot_of(memory, writes)];
    if (claim->memory == memory)
        __atomic_store_n(&claim->epoch, 0, __ATOMIC_SEQ_CST);
}

/* Whoever has a claim on a memory has a row in its ledger. */
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

void claims_forget(struct order *o, const struct memory *memory)
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
    if (op->waits && claims_need_marks(o))
        return 1; /* what came quickly from here on would have no mark before it */
    return op->work && (lane->kind == LANE_BLOCKING || !op->touched || op->join > JOIN_HOST);
}

/* As one operation on each of the lane's claims that was used. No blocking stream has worked since the lane's newest
 * operation, else there were no claims: so the context's promises are what they were. */
static void register_used(struct order *o, unsigned number)
{
    struct lane *lane = o->lanes[number];
    uint64_t used = __atomic_exchange_n(&lane->used, 0, __ATOMIC_SEQ_CST);
    if (!lane->open)
        return;
    lanes_begin(o, lane);
    for (unsigned slot = 0; used; used >>= 1, slot++) {
        const struct access access = {lane->claims[slot].memory, 0, UINT64_MAX, slot & 1};
        if (used & 1 && !ledger_note(o, &access, number, o->now))
            lanes_crowded(o);
    }
}

void order_catch_up(struct order *o, const struct order_op *op)
{
    const struct touched *touched = op ? op->touched : NULL;
    if (op && changes_promises(o, op))
        claims_end(o);
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

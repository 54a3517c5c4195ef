/* SPDX-License-Identifier: Apache-2.0
 *
 * What a lane may do again without being registered. Once a default lane's operation is registered, the lane has a right on
 * each memory that it touched: until another lane touches that memory, or a promise changes, the next operation on the same
 * memories needs no wait and no mark. That such operations came is noted in two words, and counts as one operation when the
 * next call is registered (repeat_rights_catch_up).
 *
 * repeat_rights_use alone is called without the lock, by the thread that holds the lane's gate (base/gate.h). It announces
 * itself first and looks at the right afterwards; a thread that takes a right away does it the other way round. So one of
 * the two sees the other. Work that touches nothing needs no gate: no other call has to find it on its way.
 */
#ifndef PTDS_REPEAT_RIGHTS_H
#define PTDS_REPEAT_RIGHTS_H

#include "interpose/guard/decide/order.h"

/* Reads and writes apart: a lane that only reads conflicts with fewer. */
static inline uintptr_t repeat_rights_key(const struct memory *memory, uint32_t writes)
{
    return (uintptr_t)memory | (writes != 0);
}

/* The first place of its row. Memories have successive numbers, so what a thread allocates together lies in different rows,
 * and several threads that share a lane have room beside each other. */
static inline unsigned repeat_rights_row(const struct memory *memory)
{
    return memory->uid % (LANE_RIGHTS / RIGHTS_ROW) * RIGHTS_ROW;
}

/* Where the lane's right on it lies, live or not; -1: it has none. */
static inline int repeat_rights_slot(const struct lane *lane, const struct memory *memory, uint32_t writes)
{
    const uintptr_t key = repeat_rights_key(memory, writes);
    unsigned first = repeat_rights_row(memory);
    for (unsigned slot = first; slot < first + RIGHTS_ROW; slot++) {
        if (lane->rights[slot].key == key)
            return (int)slot;
    }
    return -1;
}

static inline int repeat_rights_is_live(const struct lane *lane, int slot, uint64_t epoch)
{
    return slot >= 0 && __atomic_load_n(&lane->rights[slot].epoch, __ATOMIC_SEQ_CST) == epoch;
}

/* All loads from here on are sequentially consistent, as is what they are about to find: an acquiring load may be done
 * before the gate or the announcement can be seen. */
static inline __attribute__((always_inline)) int repeat_rights_hold(const struct order *o, const struct lane *lane,
                                                                    const struct touched *touched, uint64_t *slots)
{
    uint64_t epoch = __atomic_load_n(&o->epoch, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&lane->ready, __ATOMIC_ACQUIRE) != epoch + 1)
        return 0;
    uint64_t found = 0;
    for (const struct access *access = touched->at, *end = access + touched->count; access < end; access++) {
        int slot = repeat_rights_slot(lane, access->memory, access->writes);
        if (!repeat_rights_is_live(lane, slot, epoch + 1))
            return 0;
        found |= UINT64_C(1) << slot;
    }
    *slots = found;
    return 1;
}

/* 1: the lane's operation, which touches this, has rights on all of it and is noted. 0: it has to be registered. Writes
 * nothing but the lane's own words and its bit among the active ones. In line, since every launch asks. */
static inline __attribute__((always_inline)) int repeat_rights_use(struct order *o, unsigned number,
                                                                   const struct touched *touched)
{
    struct lane *lane = o->lanes[number];
    uint64_t slots = 0, bit = UINT64_C(1) << number % 64, *active = &o->active[number / 64];
    if (!repeat_rights_hold(o, lane, touched, &slots))
        return 0;
    if ((__atomic_load_n(&lane->used, __ATOMIC_SEQ_CST) & slots) == slots &&
        __atomic_load_n(active, __ATOMIC_SEQ_CST) & bit)
        return 1; /* who registers next finds both */
    __atomic_or_fetch(&lane->used, slots, __ATOMIC_SEQ_CST);
    __atomic_or_fetch(active, bit, __ATOMIC_SEQ_CST);
    return repeat_rights_hold(o, lane, touched, &slots);
}

/* Without the lock: 0 if repeat_rights_use will say no, whatever the operation touches. */
static inline int repeat_rights_are_ready(const struct order *o, unsigned lane)
{
    return __atomic_load_n(&o->lanes[lane]->ready, __ATOMIC_ACQUIRE) == __atomic_load_n(&o->epoch, __ATOMIC_ACQUIRE) + 1;
}

/* Before order_add of the operation (NULL: only the second half): other lanes' rights on what it touches end, all rights
 * where it changes a promise; then what repeat_rights_use noted is registered. */
void repeat_rights_catch_up(struct order *o, const struct order_op *op);

/* After an operation of a default lane was registered: it has rights on what it touched, if it was not the lane's first
 * since a promise changed. */
void repeat_rights_make(struct order *o, struct lane *lane, const struct touched *touched);

/* The lane still has one on the memory: its row has to stay. */
int repeat_rights_has(const struct order *o, unsigned lane, const struct memory *memory);

/* The memory is somebody else's from now on. */
void repeat_rights_forget(struct order *o, const struct memory *memory);

/* All rights end: a promise has changed. */
static inline void repeat_rights_end(struct order *o)
{
    __atomic_add_fetch(&o->epoch, 1, __ATOMIC_SEQ_CST);
}

/* Also without the lock: from now on there is somebody who may be promised less than all. */
static inline void repeat_rights_free_running(struct order *o)
{
    __atomic_store_n(&o->free_running, 1, __ATOMIC_RELAXED);
    repeat_rights_end(o);
}

/* Not all is promised to all, so boundaries need marks. */
static inline int repeat_rights_need_marks(const struct order *o)
{
    return __atomic_load_n(&o->free_running, __ATOMIC_RELAXED) || o->domains_used > 1;
}

#endif

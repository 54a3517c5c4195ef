/* SPDX-License-Identifier: Apache-2.0
 *
 * What a lane may do again without being registered. Once a default lane's operation is registered, the lane has a claim on
 * each memory that it touched: until another lane touches that memory, or a promise changes, the next operation on the same
 * memories needs no wait and no mark. So nobody has to be asked; that such operations came is noted in two words, and
 * counts as one operation as soon as anybody looks (order_catch_up).
 *
 * order_again alone is called without the lock, by whoever holds the lane's gate (base/gate.h). It announces itself first
 * and looks at the claim afterwards; who takes a claim away does it the other way round. So one of the two sees the other.
 * Work that touches nothing needs no gate: nobody has to find it on its way.
 */
#ifndef PTDS_CLAIMS_H
#define PTDS_CLAIMS_H

#include "interpose/guard/order.h"

/* 1: the lane's operation, which touches this, has claims on all of it and is noted. 0: it has to be registered. */
int order_again(struct order *o, unsigned lane, const struct touched *touched);

/* Without the lock: 0 if order_again will say no, whatever the operation touches. */
static inline int order_is_ready(const struct order *o, unsigned lane)
{
    return __atomic_load_n(&o->lanes[lane]->ready, __ATOMIC_ACQUIRE) == __atomic_load_n(&o->epoch, __ATOMIC_ACQUIRE) + 1;
}

/* Before order_add of the operation (NULL: only the second half): other lanes' claims on what it touches end, all claims
 * where it changes a promise; then what order_again noted is registered. */
void order_catch_up(struct order *o, const struct order_op *op);

/* After an operation of a default lane was registered: it has claims on what it touched, if it was not the lane's first
 * since a promise changed. */
void claims_make(struct order *o, struct lane *lane, const struct touched *touched);

/* The lane still has one on the memory: its row has to stay. */
int claims_live(const struct order *o, unsigned lane, const struct memory *memory);

/* The memory is somebody else's from now on. */
void claims_forget(struct order *o, const struct memory *memory);

/* All claims end: a promise has changed. */
static inline void claims_end(struct order *o)
{
    __atomic_add_fetch(&o->epoch, 1, __ATOMIC_SEQ_CST);
}

/* Also without the lock: from now on there is somebody who may be promised less than all. */
static inline void claims_free_running(struct order *o)
{
    __atomic_store_n(&o->free_running, 1, __ATOMIC_RELAXED);
    claims_end(o);
}

/* Not all is promised to all, so boundaries need marks. */
static inline int claims_need_marks(const struct order *o)
{
    return __atomic_load_n(&o->free_running, __ATOMIC_RELAXED) || o->domains_used > 1;
}

#endif

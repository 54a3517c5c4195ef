/* SPDX-License-Identifier: Apache-2.0
 *
 * Who touched a memory, by lanes. One caller at a time, as in order.h.
 */
#ifndef PTDS_LEDGER_H
#define PTDS_LEDGER_H

#include "interpose/guard/decide/order.h"

/* A lane's reads, or its writes, since they were last all done: when the oldest and the newest were (0: there are none),
 * and the bytes between the lowest and the highest. */
struct ledger_span {
    moment first, newest;
    uint64_t begin, end;
};

/* `read_before`, `write_before`: of operations on all of the memory, older than those in `read` and `write`, which are on
 * parts of it. So a lane that goes over to parts is not in the way with all of the memory until its work is done. */
struct ledger_entry {
    uint16_t lane;
    struct ledger_span read, write, read_before, write_before;
};

struct ledger {
    uint16_t count, capacity;
    struct ledger_entry *at;
    struct ledger *next_unused;
};

/* When the entry's lane touched bytes that the access conflicts with, after `completed`: the newest moment, 0 never, and
 * the oldest. */
moment ledger_conflict(const struct ledger_entry *entry, const struct access *access, moment completed, moment *first);

/* The lane touches the memory now. 0: no memory is left to remember it. */
int ledger_note(const struct order *o, const struct access *access, unsigned lane, moment now);

void ledger_drop(struct ledger *ledger);

#endif

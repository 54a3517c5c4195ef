/* SPDX-License-Identifier: Apache-2.0
 *
 * Who touched a memory, by lanes. One caller at a time, as in order.h.
 */
#ifndef PTDS_LEDGER_H
#define PTDS_LEDGER_H

#include "interpose/guard/order.h"

/* A lane's accesses to the memory since they were last all done: when the first and the newest were, and which bytes. */
struct ledger_entry {
    uint16_t lane;
    moment first, read, write; /* read, write: the newest of each; 0 none */
    uint64_t read_begin, read_end, write_begin, write_end;
};

struct ledger {
    uint16_t count, capacity;
    struct ledger_entry *at;
};

/* The newest moment at which the entry's lane touched bytes that the access conflicts with; 0: it did not. */
moment ledger_conflict(const struct ledger_entry *entry, const struct access *access);

/* The lane touches the memory now. 0: no memory is left to remember it. */
int ledger_note(const struct order *o, const struct access *access, unsigned lane, moment now);

void ledger_drop(struct ledger *ledger);

#endif

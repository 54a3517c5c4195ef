/* SPDX-License-Identifier: Apache-2.0
 *
 * The accesses of a kernel and with what their addresses begin, before they are told as facts.
 */
#ifndef PTDS_CODE_ACCESSES_H
#define PTDS_CODE_ACCESSES_H

#include "interpose/code/solve.h"

/* Beside enum code_kind. LOADED: `low` is the step that loaded it. */
enum begins {
    BEGINS_DATA = 16, /* a pointer that lies in constant variable `low` */
    BEGINS_PLACE      /* the parameters themselves */
};

struct term {
    uint32_t kind, low, high;
};
struct beginning {
    uint32_t count;
    uint32_t either; /* as CODE_EITHER */
    struct term term[CODE_TERMS];
};

/* A step that accesses memory: its beginnings are `count` numbers from `first` on. */
struct seen {
    uint32_t use, first, count;
    uint32_t mixed; /* the list of the words that are in it in any other way than added */
};

struct accesses {
    struct seen *seen;
    uint32_t seens, seen_room;
    uint32_t *number, numbers, number_room; /* of beginnings */
    struct beginning *beginning;
    uint32_t beginnings, beginning_room;
    uint32_t *seen_at; /* by step: which one of seen, from 1 */
    uint64_t banks;    /* constant variables that operands name */
};

/* Adds a handle to the facts. */
void accesses_facts_add_handle(struct solver *solver, uint32_t offset, uint8_t use);

#endif

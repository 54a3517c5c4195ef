/* SPDX-License-Identifier: Apache-2.0
 *
 * What a kernel reaches by pointers that lie in memory.
 */
#ifndef PTDS_FOLLOW_H
#define PTDS_FOLLOW_H

#include "interpose/state/touched.h"

/* The kernel follows pointers that lie in this memory. */
struct follow {
    struct memory *memory;
    uint8_t through;   /* enum code_use of what they point to */
    uint8_t beyond;    /* enum code_use of what pointers point to that lie there, and so on; 0 none are followed */
    uint8_t constants; /* only pointers that lie in constant variables */
    uint8_t own;       /* a module's variables, which begin as addresses of each other */
};

/* A launch's, or all of a graph's. */
struct follow_list {
    unsigned count;
    uint8_t many; /* there was no room for all */
    struct follow at[TOUCHED_MOST];
};
static inline void follow_clear(struct follow_list *follows)
{
    follows->count = follows->many = 0;
}

/* Adds it to the list. A memory that is in the list already is used in one more way. */
void follow_add(struct follow_list *follows, struct follow one);

/* Adds what is reached to `touched`; all of the list at once, since a launch's own writes may change what it follows.
 * *by_name: a module's variables that the launch writes by their names alone, so that the constant ones stay as they are;
 * NULL none. Becomes NULL where pointers lead to them, too. May ask the driver about managed variables, never while a
 * capture is open. */
void follow_all(struct touched *touched, const struct follow_list *follows, const struct memory **by_name);

#endif

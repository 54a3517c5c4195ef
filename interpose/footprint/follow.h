/* SPDX-License-Identifier: Apache-2.0
 *
 * What is reached by pointers that lie in memory.
 */
#ifndef PTDS_FOLLOW_H
#define PTDS_FOLLOW_H

#include "interpose/state/touched.h"

/* Pointers in that memory are followed, and what they point to is used so (enum code_use); and what pointers point to that
 * lie there, and so on. */
struct follow {
    struct memory *memory;
    uint8_t through, beyond;
    uint8_t constants; /* only such as lie in constant variables */
    uint8_t own;       /* variables begin as addresses of others of their module */
};

struct follows {
    unsigned count;
    uint8_t many; /* there was no room for all */
    struct follow at[TOUCHED_MOST];
};
static inline void follows_clear(struct follows *follows)
{
    follows->count = follows->many = 0;
}

/* One of the same memory is one more use of it. */
void follow_add(struct follows *follows, struct follow one);

/* Adds what is reached; all at once, since one launch's own writes may change what it follows. *by_name: a module's
 * variables that are written by their names alone, so that its constants stay as they are; NULL none. Other ways may lead
 * to them. */
void follow_all(struct touched *touched, const struct follows *follows, const struct memory **by_name);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Pointers that lie in memory: to which memories, and whether all of them are known. There is one question,
 * tables_may_hide; all that brings bytes into memory answers to it here.
 */
#ifndef PTDS_TABLES_H
#define PTDS_TABLES_H

#include <stddef.h>

#include "interpose/footprint/memories.h"
#include "interpose/footprint/touch.h"

struct table;

/* The memory may hold pointers that nobody has seen, or may get some at any time. constants: only by the constant variables
 * among a module's, into which kernels store by an address alone. */
int tables_may_hide(struct memory *memory, int constants);

/* The host stores there without a call. */
int tables_is_hosts(const struct memory *memory);

/* What lies in the memory points at these, each there now, and, if `why` is not 0, at anything. */
struct pointees {
    unsigned count;
    enum opaque_reason why;
    struct memory *at[TOUCHED_MOST];
};
void tables_read(struct memory *memory, struct pointees *pointees);

/* Copies are looked through up to so many bytes; all of them once a kernel was met that follows pointers in memory. */
enum { TABLES_COPY_MOST = 1 << 20 };
extern uint32_t tables_are_followed;
static inline int tables_want(uint64_t bytes)
{
    return bytes <= TABLES_COPY_MOST || __atomic_load_n(&tables_are_followed, __ATOMIC_RELAXED);
}

/* Nothing has been written to it: it holds no pointers. */
void tables_made(struct memory *memory);

/* The same of what nothing has been written to since so much work had been there that may put pointers anywhere. */
uint64_t tables_works(void);
void tables_made_at(struct memory *memory, uint64_t works);

/* The bytes from `begin` on are these now; or nobody knows what; or zeros up to `end`; or as those of another memory, flat:
 * all of them, one after the other. Addresses are the memories' own. */
void tables_filled(struct thread *thread, struct memory *memory, uint64_t begin, const uint8_t *bytes, size_t size);
void tables_filled_unseen(struct memory *memory);
void tables_cleared(struct memory *memory, uint64_t begin, uint64_t end);
void tables_copied(struct memory *to, uint64_t to_begin, struct memory *from, uint64_t from_begin, uint64_t size, int flat);

/* The same with zeros or other bytes by a kernel: any that it may have. */
static inline void tables_stored(struct memory *memory)
{
    if (!(__atomic_load_n(&memory->unknown, __ATOMIC_RELAXED) & UNKNOWN_SOME))
        __atomic_store_n(&memory->unknown, UNKNOWN_SOME, __ATOMIC_RELAXED);
}

/* Kernels touch these: what they write may hold any pointers from here on. variables: of a module, which they write by name
 * alone; NULL none. */
void tables_written(const struct touched *touched, const struct memory *variables);

/* The same of work that brings bytes there in any way. */
void tables_filled_by(const struct touched *touched);

/* Work that nobody sees through may have put pointers into any memory. */
void tables_unknown_work(void);

/* The memory is gone, and its table with it. */
void tables_give_back(struct table *table);

void tables_after_fork(void);

#endif

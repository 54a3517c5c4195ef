/* SPDX-License-Identifier: Apache-2.0
 *
 * Pointers that lie in memory: to which memories, and whether all of them are known. pointer_tables_incomplete asks the one
 * question; whatever brings bytes into memory has to answer to it, by one of the functions here. Addresses are the
 * memories' own.
 */
#ifndef PTDS_POINTER_TABLES_H
#define PTDS_POINTER_TABLES_H

#include "interpose/footprint/memories/memory_object.h"

/* Copies are looked through up to so many bytes; all of them once a kernel was met that follows pointers in memory. */
enum { POINTER_TABLES_COPY_MOST = 1 << 20 };
extern uint32_t pointer_tables_followed;
static inline int pointer_tables_want(uint64_t bytes)
{
    return bytes <= POINTER_TABLES_COPY_MOST || __atomic_load_n(&pointer_tables_followed, __ATOMIC_RELAXED);
}

/* ---- what a launch asks: any thread, no lock ---- */

/* Whether the memory may hold pointers that were not seen, or may get some at any time. constants: ask only about the
 * constant variables among a module's, into which kernels store by an address alone. May ask the driver about managed
 * variables, never while a capture is open. */
int pointer_tables_incomplete(struct memory *memory, int constants);

/* What the pointers in a memory point to. */
struct pointees {
    unsigned count;
    enum opaque_reason why; /* not OPAQUE_NO: to anything, besides */
    struct memory *at[TOUCHED_MOST];
};
void pointer_tables_read(struct memory *memory, struct pointees *pointees);

/* ---- what brings bytes ---- */

/* The memory is new: no bytes have come there, so it holds no pointers. */
void pointer_tables_empty(struct memory *memory);

/* How much work there has been that may have put pointers into any memory; and: nothing has come to the memory since there
 * was so much of it. */
uint64_t pointer_tables_unknown_works(void);
void pointer_tables_empty_since(struct memory *memory, uint64_t works);

/* Bytes of unknown content came. */
void pointer_tables_filled_unseen(struct memory *memory);

/* Zeros came to [begin, end). Takes the tables' lock where the memory has a table. */
void pointer_tables_cleared(struct memory *memory, uint64_t begin, uint64_t end);

/* `size` bytes of another memory came, which may be the same. flat: all of them, one after the other; else rows that lie
 * apart. Takes the tables' lock. */
void pointer_tables_copied(struct memory *to, uint64_t to_begin, struct memory *from, uint64_t from_begin, uint64_t size,
                           int flat);

/* A kernel stored there: any pointers that it may have. */
static inline void pointer_tables_stored(struct memory *memory)
{
    if (!(__atomic_load_n(&memory->unknown, __ATOMIC_RELAXED) & UNKNOWN_SOME))
        __atomic_store_n(&memory->unknown, UNKNOWN_SOME, __ATOMIC_RELAXED);
}

/* A kernel's launch touches these: what it writes may hold any pointers from here on. variables: of a module, which it
 * writes by name alone, so that the constant ones stay as they are; NULL none. */
void pointer_tables_written(const struct touched *touched, const struct memory *variables);

/* The same of work that brings bytes in any way. */
void pointer_tables_filled_by(const struct touched *touched);

/* Work whose writes are not known may have put pointers into any memory. */
void pointer_tables_unknown_work(void);

/* ---- for scan_host_memory.c ---- */

struct pointer_table;

/* Whether [begin, end) is all of the memory. */
int pointer_tables_is_all(const struct memory *memory, uint64_t begin, uint64_t end);

/* Whether it makes no difference what comes to a part of the memory (all: to all of it), since its pointers stay
 * incomplete. */
int pointer_tables_is_lost(struct memory *memory, int all);

/* Whether the memory has a table. */
int pointer_tables_has(struct memory *memory);

/* Removes what lies in [begin, end) from the memory's table, and lets `add` add what lies there now, from entry `fresh` on.
 * make: the memory gets a table if it has none. Takes the tables' lock around all of it. 0: there is no table. */
int pointer_tables_replace(struct memory *memory, uint64_t begin, uint64_t end, int make,
                           void (*add)(struct pointer_table *table, uint32_t fresh, const void *data), const void *data);

/* In a forked child: the lock is free. */
void pointer_tables_after_fork(void);

#endif

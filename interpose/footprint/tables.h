/* SPDX-License-Identifier: Apache-2.0
 *
 * Pointers that lie in memory: which memories the words point at that small host copies brought into another one.
 */
#ifndef PTDS_TABLES_H
#define PTDS_TABLES_H

#include <stddef.h>

#include "interpose/footprint/pointers.h"
#include "interpose/footprint/touch.h"

/* A copy is looked through up to so many bytes. */
enum { TABLES_COPY_MOST = 64 << 10 };

struct table;

/* The bytes [begin, end) of the memory are these now, or nobody knows what, or as those of another one; flat: all of them,
 * one after the other. Addresses are the memories' own. */
void tables_filled(struct thread *thread, struct memory *memory, uint64_t begin, const void *bytes, size_t size);
void tables_filled_unseen(struct memory *memory);
void tables_cleared(struct memory *memory, uint64_t begin, uint64_t end);
void tables_copied(struct memory *to, uint64_t to_begin, struct memory *from, uint64_t from_begin, uint64_t size, int flat);
/* The same where what was there stays: pinned memory, whose bytes may change before the copy comes to them. */
void tables_added(struct memory *to, uint64_t to_begin, struct memory *from, uint64_t from_begin, uint64_t size);

/* The same where the bytes will come some time, perhaps never. */
void tables_captured(struct memory *to, uint64_t to_begin, struct memory *from, uint64_t from_begin, uint64_t size,
                     int flat);

/* Adds all that the touched memories point at, and what that points at. 0: there is no table among them. */
int tables_expand_some(struct touched *touched);
extern uint32_t tables_some; /* there is a table, or a kernel that may make use of one */
static inline int tables_expand(struct touched *touched)
{
    return __builtin_expect(__atomic_load_n(&tables_some, __ATOMIC_ACQUIRE) != 0, 0) ? tables_expand_some(touched)
                                                                                     : touched->opaque;
}

/* Whether tables_expand would find anything to do. */
int tables_among_some(const struct touched *touched);
static inline int tables_among(const struct touched *touched)
{
    return __builtin_expect(__atomic_load_n(&tables_some, __ATOMIC_ACQUIRE) != 0, 0) && tables_among_some(touched);
}

/* A kernel that has not been launched yet; classes: it gets pointers to what may hold pointers. From the first of them on
 * launches look for tables. */
void tables_kernel(int classes);
void tables_begin(void);

/* Nothing has been written to it: it holds no pointers. */
void tables_made(struct memory *memory);

/* Work that nobody sees through may have put pointers into any memory. */
void tables_unknown_work(void);

/* Whether it is known which pointers lie in the memory. A kernel asks that may put its own there; heap: or such as nobody
 * else has. */
int tables_known(struct memory *memory, int heap);

/* The same of a module's variables, where its kernels leave pointers for each other without one to the variables. */
int tables_known_variables(struct memory *memory);

/* Of a kernel whose parameters have no types: what pointers the memory has is known, or looked for now. later: it is the
 * content of a later time that counts. */
int tables_look(struct thread *thread, struct touched *touched, struct memory *memory, int later);

/* For tables_look alone. All pointers that calls brought were seen; the host stores there without a call. */
int tables_seen(struct memory *memory);
int tables_is_hosts(const struct memory *memory);

/* A kernel touches these: in tables that it writes, pointers to all of them may lie from here on. */
void tables_written(const struct touched *touched);

/* The memory is gone, and its table with it. */
void tables_give_back(struct table *table);

void tables_after_fork(void);

#endif

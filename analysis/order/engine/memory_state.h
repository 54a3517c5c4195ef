/* SPDX-License-Identifier: Apache-2.0
 *
 * What the verdict engine remembers of an allocation: which strand touched which bytes. For engine.h.
 *
 * Open-ended accesses. How far a kernel reaches from a pointer cannot be seen, so its access reaches from there on
 * (EXTENT_FROM). The access cache (access_cache.h) notes such accesses and writes them back to the memory's list later.
 *
 * Stints. While one strand alone uses a memory, its accesses belong to one stint, a number that no other has. What has been
 * found in a stint stays true as long as the stint goes on.
 */
#ifndef PTDS_ANALYSIS_ORDER_ENGINE_MEMORY_STATE_H
#define PTDS_ANALYSIS_ORDER_ENGINE_MEMORY_STATE_H

#include "analysis/base/table.h"
#include "analysis/order/engine/edge.h"

/* Classes of memory. HOST: the host, or another process, can touch it without a call. GLOBAL: module variables, in traces
 * that do not tell which kernel may use which. TIME: no memory; an operation takes time, and a time between events counts
 * it. SHARED: the same bytes are another memory, too, so an access is opaque. */
enum { TOUCHES_DEVICE = 1, TOUCHES_HOST = 2, TOUCHES_GLOBAL = 4, TOUCHES_TIME = 8, CLASSES = 4, TOUCHES_SHARED = 16 };
#define TOUCHES_ALL (TOUCHES_DEVICE | TOUCHES_HOST)
/* Above the classes, so that one look at a memory has both: a bit for each group that watches it (verdict_memory.h). */
enum { TOUCHES_BITS_OF_CLASSES = 8 };
#define TOUCHES_WATCHED (UINT32_MAX << TOUCHES_BITS_OF_CLASSES)

enum extent { EXTENT_FROM, EXTENT_EXACT, EXTENT_HOLES }; /* from lo on; all of lo..hi; some of lo..hi */

struct touch {
    uint64_t lo, hi; /* lo <= byte < hi */
    enum access access;
    enum extent extent;
};

/* One access in a memory's list. Positions are those in the list, plus one; 0 none. */
struct remembered {
    struct touch touch;
    uint64_t op;
    uint32_t strand;         /* NO_STRAND: forgotten */
    uint16_t chained;        /* the next of its bucket, or the next free place */
    uint16_t earlier, later; /* by op */
    uint16_t home;           /* its bucket */
    struct edge_end end;
};

/* What a strand does with a memory, and which of the others' accesses its own have been examined against. Arrays of two:
 * [0] of reads, [1] of any access. */
struct strand_use {
    uint64_t born;         /* of the strand; 0: the place is free */
    uint64_t newest[2];    /* its last access: of any kind; that is no read. Up to date when its stint has ended */
    uint64_t upto[2];      /* its open-ended accesses have been examined against all accesses up to here */
    uint64_t open_upto[2]; /* its other accesses have been examined against open-ended accesses up to here */
    uint64_t open;         /* a bit for each strand, modulo 64, with an access that an order learnt later may still hold */
    uint64_t stint;        /* its last; 0: what the cache has of that stint is out of date */
    uint64_t clear;        /* all others' accesses up to here come before the strand's by explicit order */
    uint32_t strand;
};

/* Buckets of remembered accesses: 0 has those that are not open-ended, the others are by strand and first byte. USES_MOST:
 * strands of a memory; of two strands at one place the last is known. TOLD: memory.told. */
enum { BUCKETS = 64, USES_LEAST = 2, USES_MOST = 64, TOLD = 15 };

/* Cache entries that are to be written back to a memory, in the order in which they began to wait. */
enum { WAITING_FEW = 4, WAITING_MOST = 128 };
struct waiting {
    union {
        uint16_t few[WAITING_FEW];
        uint16_t *many; /* room > WAITING_FEW */
    };
    uint16_t count, room;
};

struct memory {
    uint64_t stint;   /* of `strand`; 0: the place is free */
    uint64_t last;    /* the newest access */
    uint64_t changed; /* the newest access of `strand` that is no read */
    uint32_t strand;  /* of the newest access */
    uint32_t classes; /* TOUCHES_ */
    uint64_t base, end;
    TABLE_OF(struct remembered) list;
    uint64_t clear; /* in this stint all others' accesses come before by explicit order */
    uint64_t other; /* the newest access of another strand */
    struct waiting waiting;
    uint16_t live, free, oldest, newest; /* of the list: how many are in use; a free place; by op */
    uint16_t bucket[BUCKETS];
    struct strand_use *uses; /* by strand, modulo `uses_room` */
    uint64_t used;           /* a bit for each place of `uses` that is not free */
    uint32_t uses_room;
    uint8_t told;     /* TOLD: the last examination changed a verdict or a count; falls by one with each that did not */
    bool crowded;     /* more strands use it, or did, than `uses` has room for */
    uint64_t cleaned; /* when accesses were dropped that every later call comes after */
    uint64_t tried;   /* in this stint: when it was last found not to be clear; 0 never */
    uint32_t uid, context;
    uint32_t kind;   /* enum ptds_memory_kind */
    uint32_t of;     /* the memory that it is a part of and that has its accesses (variables, a reservation); 0: itself */
    uint32_t opened; /* another process's memory: how often it was opened beyond the first time */
};

/* How two accesses stand to each other, from good to bad: no conflict, or explicit order (which stays); implicit order that
 * the strand knows of; implicit order that the host alone knows of so far; no order. */
enum outcome { OUTCOME_APART, OUTCOME_HELD, OUTCOME_HELD_BY_HOST, OUTCOME_RACE };

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * The decision of the guard: which waits does an operation need so that it comes after all that legacy order promises it
 * and that touches the same memory? Knows no driver and no lock: one caller at a time (guard.c has a lock; tests need
 * none).
 *
 * A lane is a stream whose work runs in order. Operations are numbered through the whole process by moments, 1 the first.
 * Two things are kept of each lane: what legacy order promises that its next operation comes after, and what that really
 * comes after on the GPU. An operation that conflicts with an earlier, promised one waits for it unless it really comes
 * after it already. Except under strict, no wait ever covers more than was promised: work that legacy lets run side by side
 * may wait for each other.
 */
#ifndef PTDS_ORDER_H
#define PTDS_ORDER_H

#include <stdint.h>

#include "interpose/state/promise.h"
#include "interpose/state/touched.h"

enum { ORDER_LANES = PROMISE_LANES, ORDER_DOMAINS = 32, ORDER_MARKS = 8, ORDER_NEWEST = -1 };
enum { LANE_RIGHTS = 64, RIGHTS_ROW = 4 };

/* The three kinds of streams, as legacy order sees them. The legacy stream itself, and each stream that stands for it, is
 * LANE_DEFAULT; a thread's 0x2 is LANE_BLOCKING. */
enum lane_kind { LANE_DEFAULT, LANE_BLOCKING, LANE_NON_BLOCKING };

/* Something that was recorded on a lane. Zero: nothing was. */
struct recorded {
    uint16_t lane;
    uint16_t early;  /* 1: done when the operation begins (a launch records it): it stands for what came before that */
    uint32_t ticket; /* the guard's, on the lane: of the turn in which the driver hears of it */
    moment at;
    struct promise promise;
    struct lane_limits ordered; /* what really comes before it besides the lane's own work; may lack some */
};

/* An event that the shim records on a lane so that what it stands for can be waited for when newer work has followed. */
struct mark {
    moment at;     /* 0: free */
    moment next;   /* the lane's first operation after it; 0 none yet. So it covers all before that */
    uint32_t pins; /* waits on the way to it: not recorded anew meanwhile */
    struct lane_limits ordered;
};

/* The lane may touch the memory once more without being registered (repeat_rights.h). */
struct repeat_right {
    uintptr_t key;  /* the memory's address; the lowest bit: by writing */
    uint64_t epoch; /* the order's plus one, while it holds */
};

struct lane {
    uint64_t ready; /* the order's epoch plus one: the newest operation was registered in it, and no mark is due */
    uint64_t used;  /* repeat rights by which operations came since anybody registered one: bits */
    uint8_t kind;
    uint8_t open;  /* 0: free */
    uint8_t waits; /* the host's waits were put on it after its newest operation: only a mark stands for that alone */
    uint8_t gone;  /* its stream is destroyed: nothing more will come */
    uint8_t
        eager; /* nobody but its owner can record an event on it (0x2, the legacy stream): marked after every operation */
    uint16_t domain;
    moment first;                   /* oldest operation that is not known to be done */
    moment last;                    /* newest operation */
    moment opaque_first, opaque;    /* oldest that is not known to be done, and newest, that touch everything; 0 none */
    moment host_first, host;        /* the same of those that touch memory which the host can touch */
    moment completed;               /* all operations up to here are known to be done */
    moment default_then;            /* the domain's last_default when the newest operation came */
    struct lane_limits joined_then; /* its joined_at_last then */
    uint32_t joined_version;        /* of joined_then */
    moment recorded;                /* newest event of the program's on it */
    struct promise promise;
    uint8_t newest; /* of the marks */
    struct repeat_right rights[LANE_RIGHTS];
    struct mark marks[ORDER_MARKS];
    moment ordered[ORDER_LANES];
};

/* A context: one legacy stream. */
struct order_domain {
    moment last_default;  /* newest operation of a default lane */
    moment last_blocking; /* newest operation of a blocking lane */
    moment last_sync;     /* the host began to wait for the default stream when this was the newest operation, plus one */
    moment known_defaults, known_blocking; /* operations before these are what the host has waited for, in legacy's terms */
    moment last_event;                     /* newest event recorded on a default or blocking lane */
    uint16_t event_lane;                   /* there */
    uint8_t changed;           /* a blocking lane was promised something since the default lanes last took it over */
    uint8_t fresh;             /* joined has more than joined_at_last */
    struct lane_limits joined; /* what the default lanes were promised of non-blocking lanes and of other contexts' */
    uint32_t joined_version;   /* counts changes of joined_at_last */
    struct lane_limits joined_at_last; /* the same at last_default */
};

/* What every operation changes comes first, side by side. */
struct order {
    moment now;
    uint16_t needs;                  /* of the operation being added: how many lanes are in `needing` */
    uint16_t high;                   /* lanes in use are below */
    uint16_t opaque_lanes;           /* that had an operation which touches everything, not known to be done */
    uint16_t domains_used;           /* contexts that ever had a lane: numbers below */
    uint8_t strict;                  /* 1: conflicts that nothing orders are ordered, too, as the operations came */
    uint16_t free_running;           /* 1: there were non-blocking streams, who may be promised less (repeat_rights.h) */
    uint32_t too_wide;               /* waits that covered more than was promised, for want of a mark */
    moment crowded;                  /* memory ran out at this moment: all before conflicts with all */
    struct lane_limits known;        /* what the host has waited for in single lanes, in legacy's terms */
    struct lane *lanes[ORDER_LANES]; /* made when first used */
    moment need[ORDER_LANES];        /* what the operation being added has to come after, by lane; 0 nothing */
    uint16_t needing[ORDER_LANES];   /* the lanes that are not 0 there */
    uint64_t unpromised[ORDER_LANES / 64]; /* those of them of which more is needed than is promised: bits */
    struct order_domain domains[ORDER_DOMAINS];
    uint64_t epoch __attribute__((aligned(64)));                    /* of repeat rights: grows when a promise changes */
    uint64_t active[ORDER_LANES / 64] __attribute__((aligned(64))); /* lanes whose repeat rights were used: bits */
};

/* Which earlier work an operation follows though it shares no memory with it. */
enum order_join {
    JOIN_NOTHING,
    JOIN_HOST,    /* what the host may conclude from it: all promised work on memory that the host can touch */
    JOIN_ALL,     /* all promised work */
    JOIN_CONTEXTS /* all work of all contexts: copies between devices */
};

struct order_op {
    uint16_t lane;
    uint8_t join;  /* enum order_join; a touched->opaque operation joins all */
    uint8_t work;  /* 1: an operation on the lane (an event record and a wait are such, too); 0: the host only waits */
    uint8_t next;  /* with work 0: the host waits for what the lane's next operation comes after, not its newest one */
    uint8_t waits; /* promises_host_waits follows */
    const struct touched *touched; /* NULL: nothing */
    const uint16_t *fully;         /* all work of these lanes, too: the thread's other ones */
    uint16_t fully_count;
};

/* The operation's lane waits first for the mark of this number, or for all that the other lane has now. It does so also
 * where work is 0: the host then waits for the lane. On an eager lane nobody else can record: ORDER_NEWEST of one (it
 * happens where no default-stream work had been before) is an event on the legacy stream, which stands for all blocking
 * lanes. */
struct order_wait {
    uint16_t lane;
    int16_t mark;        /* ORDER_NEWEST: record an event there now */
    uint32_t unpromised; /* 1: legacy and the program promise less: two uses of one memory that nothing else orders */
    moment until;        /* what it covers of that lane */
};

struct order_plan {
    moment at;          /* the operation's; 0 where op.work is 0 */
    int16_t mark_first; /* record this mark on the lane before anything else; -1 none */
    int16_t mark_after; /* record this mark on the lane after the operation; -1 none */
    uint16_t count;
    struct order_wait waits[ORDER_LANES];
};

/* All functions here are called by one caller at a time: the guard calls them under its lock. */

/* Registers the operation (after repeat_rights_catch_up) and says what it has to wait for. The waits are to be made, in
 * this order, before it; they count as made from here on. */
void order_add(struct order *o, const struct order_op *op, struct order_plan *plan);

/* After order_add of an operation: it touches these, too (memory that the call has made). */
void order_touch(struct order *o, unsigned lane, const struct touched *touched);

/* The memory is gone; forgets who touched it. */
void order_memory_gone(struct order *o, struct memory *memory);

/* Up to which moment the operations of `other` are promised to the next operation of `lane`. UINT64_MAX: all. */
moment order_promised(const struct order *o, unsigned lane, unsigned other);

/* Up to which moment the other lane's operations are done as far as hosts were told by legacy's waits. */
moment order_known_until(const struct order *o, unsigned other);

/* Notes that the operation being added, or the host, has to wait for the other lane's work up to `until`. order_add or
 * deferred_waits_plan turns the notes into waits; both in one step under the lock. */
void order_need(struct order *o, unsigned other, moment until);

/* What to wait for so that the other lane's work up to `until` is done, and nothing that was not promised. */
struct order_wait order_wait_until(struct order *o, unsigned other, moment until, moment promised);

/* For a forked child, and for tests: as in the beginning. */
void order_reset(struct order *o);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * The state of the verdict engine: what its files share. Only they include this. README.md explains the words strand,
 * group, arrival, milestone and cover by an example.
 *
 * Numbers. Calls are numbered from 1 in the order of their entry; an operation has the number of the call that submitted
 * it. So "up to operation n" of a strand is one number, whatever the strand did.
 *
 * Strand 0 is the host: every later call of any thread comes after what the host knows.
 */
#ifndef PTDS_ANALYSIS_ORDER_ENGINE_ENGINE_H
#define PTDS_ANALYSIS_ORDER_ENGINE_ENGINE_H

#include "analysis/base/id_map.h"
#include "analysis/order/engine/conflict.h"
#include "analysis/order/engine/memory_state.h"
#include "analysis/order/engine/strand.h"

#include "analysis/base/vclock.h"
#include "analysis/base/sorted.h"
#include "analysis/base/table.h"
#include "analysis/model/model.h"

/* Limits. Where one is reached, edges may be needed (REASON_LIMIT); no edge is called "not needed" because of it. */
enum {
    STRANDS_MOST = 1024,     /* alive at once */
    ACCESSES_MOST = 128,     /* remembered of one allocation */
    MEMORIES_MOST = 1 << 18, /* allocations alive at once */
    EVENTS_MOST = 1 << 16,
    MILESTONES_MOST = 4096, /* of a strand and a class of memory */
    OPEN_MOST = 1 << 16,    /* open edges */
    SWEEP_LEAST = 2048,     /* open edges before the first sweep */
    NEAR_BITS = 12,         /* memories found lately */
    ALIKE = 128,            /* classes of calls */
    CACHE_BITS = 12,        /* access_cache.h */
    ENDS = 1 << 14,         /* the last calls, by number */
    FEW = 8,                /* accesses that are examined without asking first (memory_use.h) */
    TOUCHES_BITS = 6,
    TOUCHES_MOST = 1 << TOUCHES_BITS /* accesses of one operation */
};

/* An implicit edge that is not settled yet. */
struct open_edge {
    struct edge edge;
    uint32_t refs;           /* arrivals and fan-ins over the edge, and the call at hand; at 0 the edge is settled */
    bool limited;            /* an operation that came over the edge was forgotten for lack of room */
    bool lost;               /* the edge may be needed for an operation of which the record is missing */
    bool raced;              /* the call that made the edge conflicts with an operation that nothing orders */
    bool shown;              /* edge.pair is final */
    bool unsure;             /* one stream is of unknown kind: the edge may not be there */
    enum edge_loss given_up; /* whether the run's policy took the order away */
    uint64_t made;           /* the call */
};

/* What a host wait covers: what the host knows from the wait's return on. */
struct cover {
    uint64_t began;                        /* the call that waits */
    uint64_t ticks;                        /* when it returns */
    struct edge_end end;                   /* the call, as an end of edges */
    struct vclock expl;                    /* by strand: covered by explicit order */
    struct arrival *full;                  /* by strand: covered by any order; op 0: not covered */
    size_t room;                           /* of `full` */
    TABLE_OF(struct covered_group) groups; /* several of a group rise; an earlier one says how its operations arrived */
    uint32_t context;                      /* the wait is for all work of this context; NO_STRAND: it is not */
};
struct covered_group {
    uint32_t group;
    struct arrival arrival;
};

/* An event's recording: what its strand knew. */
struct group_upto {
    uint32_t group;
    uint64_t upto;
};
struct strand_event {
    struct vclock expl, full;
    TABLE_OF(struct group_upto) groups;
    uint64_t op; /* the record, an operation of `strand` */
    uint32_t strand, generation;
    bool used;
};

/* Which parameters of a kernel lead to memory, by its code or its mangled name. */
struct signature {
    struct parameter *parameters; /* rising, then one at SIGNATURE_END; NULL: not known */
    uint64_t variables;           /* an address that stands for the variables of the kernel's module; 0: none */
    enum access variables_access;
    bool wide_first; /* the first parameter alone is large enough for a pointer */
    bool by_code;    /* a parameter that is not named leads to no memory */
    bool opaque;     /* the kernel may touch any memory */
    bool complete;   /* `variables` and KERNEL_FACTS name all module variables that it touches */
    bool plain;      /* ... and there are none */
};
struct parameter {
    uint16_t at; /* offset / 8 */
    uint16_t access;
};
#define SIGNATURE_END UINT16_MAX

/* What the run's policy did with an order (order_loss.h): clocks of the call at hand. */
struct order_behind {
    struct vclock behind; /* what call `number` comes after */
    uint64_t number;
};
struct order_loss {
    struct model *model;
    const struct call_view *view;    /* the call at hand */
    struct order_behind real, asked; /* in the run; in the run without implicit order */
    uint32_t replay;                 /* the model's, of `asked` */
    bool takes;                      /* the policy takes orders away */
    bool overtakes;                  /* there are copies from pinned memory, which implicit order does not keep back */
};

struct verdicts {
    struct wait_follower follower; /* first */
    struct model *model;
    const struct trace *trace;
    struct edge_sink *sink;
    struct conflict_sink *conflicts; /* NULL: nobody asked for each conflict */
    bool tells_races;                /* ... it is told those that nothing orders, too: policy strict ordered them */
    struct verdict_totals totals;

    /* The call at hand. */
    uint64_t now;   /* its number, plus `shift` */
    uint64_t shift; /* for tests */
    struct edge_end *end;
    TABLE_OF(uint32_t) fresh;                  /* edges that it made */
    struct edge_pair race;                     /* a conflict that nothing orders, if `raced` or `may_race` */
    struct edge_end given_up;                  /* what it came after and under the policy does not, if `gives_up` */
    struct edge_pair overtaken;                /* it is a copy, the first operation writes its source, if `overtakes` */
    bool raced, may_race, gives_up, overtakes; /* raced: `race` is definite */
    uint32_t watched_used;                     /* groups of watched memories that the launch may use */
    struct verdicts_found found;

    /* Calls. */
    struct edge_end *ends; /* of calls from `ends_from` on, by number modulo ENDS */
    uint64_t ends_from;
    struct alike {
        uint32_t number; /* the model's, 0: none */
        uint32_t strand;
        struct edge_end end; /* without time, kernel and stack */
    } alike[ALIKE];          /* what calls of a class (model/model.h) share */

    /* Strands, and what they know of each other. */
    TABLE_OF(struct strand) strands;
    struct id_map strand_by_key;
    TABLE_OF(struct context) contexts;    /* by the model's positions */
    TABLE_OF(struct strand_event) events; /* by the model's places */
    TABLE_OF(struct cover) covers;        /* of waits in flight; the model tells when one has returned */
    TABLE_OF(uint32_t) opaque_strands;    /* rising; opaque_strands.h */
    uint32_t serials;                     /* of strands so far */
    uint64_t learnt;                      /* when the host last learnt by explicit order */
    uint32_t forgetful;                   /* strands that have entries in `forgotten` */

    /* Edges. */
    TABLE_OF(struct open_edge) edges;
    TABLE_OF(uint32_t) free_edges;
    TABLE_OF(struct fan_in) fan_ins; /* by the edge's place */
    uint64_t open, sweep_at, sweep_least;
    uint64_t forgotten; /* how operations up to here arrived is forgotten (sweep.c gave up) */
    bool unsure_edges;  /* there is, or was, an edge of a stream of unknown kind */

    /* Memory. */
    TABLE_OF(struct memory) memories; /* 0: what lies in no known allocation */
    TABLE_OF(uint32_t) free_memories;
    struct sorted by_base;
    struct id_map memory_by_uid;
    uint32_t near[1 << NEAR_BITS];                  /* memories found lately, by a hash of the address */
    struct strand_use no_use;                       /* where there is no room for one */
    uint64_t stints;                                /* so far, at all memories */
    uint32_t few;                                   /* FEW, or what a test wants */
    struct cache_entry *cache;                      /* 1 << CACHE_BITS entries (access_cache.h) */
    uint64_t cache_waiting[(1 << CACHE_BITS) / 64]; /* a bit for each entry that waits to be written back, or did */
    void *cache_room;                               /* the allocation that `cache` lies in */
    TABLE_OF(struct signature) signatures;
    struct id_map signature_by_uid;
    TABLE_OF(uint32_t) watched; /* memories (verdict_memory.h) */
    uint64_t watched_bases;     /* a bit for the hash of each one's base */
    size_t defined;             /* of the trace's memories whose allocation is not in it: how many are there by now */
    uint64_t defined_next;      /* ticks: when the next one is */
    bool offsets_seen;          /* launches of this trace name the parameters of their words */
    bool globals_seen;          /* the trace does not tell which kernels use module variables, and there are some */
    unsigned times;             /* TOUCHES_TIME: the program asks for times between events; 0: it does not */
    struct id_map untimed;      /* events without a time, by uid */

    /* What is not known. */
    uint64_t lost_at;      /* the call at which records were last missing */
    uint64_t lost_until;   /* ticks: threads of which no record is left may have made calls until then */
    bool all_lost;         /* it cannot be said where records are missing */
    bool limited;          /* a limit was reached, or memory lacked */
    bool unsure;           /* an address in no known memory may be in a freed one of which no record is left */
    uint64_t unseen_order; /* the last call that made an explicit order which the trace does not show */
    uint64_t unsure_wait;  /* the last call that may have waited, or not */
    struct vclock told;    /* operations that a host function may have reported done, by explicit order */
    struct vclock told_by_any_order;
    struct vclock value_waits; /* by strand: its last wait for a value, which comes after any operation, maybe */

    /* The run's policy. */
    bool moved;              /* it sent legacy work to other streams, and promised no order */
    struct order_loss *loss; /* NULL: it keeps every order */
};

static inline uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * A strand of the verdict engine, and how it came to know of the others. For engine.h.
 *
 * A strand is a stream as the program named it. The legacy stream is one strand for each thread that uses it, and two where
 * the run's policy moved some of the thread's legacy work to another stream and left some. (So the strands are the streams
 * of ORDER_EXPLICIT, model/implicit_order.h; what implicit order adds between them is ORDER_LEGACY.)
 *
 * Clocks. A strand has two: `expl`, what its last operation comes after by explicit order, and `full`, what it comes after
 * by explicit and implicit order. The host's knowledge is not copied into them: knowledge.h takes the larger of both.
 *
 * Groups. The strands of a context that are of the legacy stream are a group; so are those of its blocking streams.
 * Implicit order puts an operation behind all strands of a group at once. So that part of `full` stands in `groups`, one
 * number a group, and `full` itself has what events, waits and other contexts brought. knowledge.h asks both.
 *
 * Arrivals. A conflict that `full` alone keeps in order needs an edge. So a strand remembers over which edge, and from
 * which strand, each entry of `full` and `groups` came; find_edges.c follows arrivals back. sweep.c forgets those that no
 * later conflict can ask for, and an edge to which no arrival refers any more is settled.
 */
#ifndef PTDS_ANALYSIS_ORDER_ENGINE_STRAND_H
#define PTDS_ANALYSIS_ORDER_ENGINE_STRAND_H

#include "analysis/order/engine/edge.h"
#include "analysis/order/engine/memory_state.h"

#include "analysis/base/vclock.h"
#include "analysis/base/table.h"
#include "analysis/model/implicit_order.h"

#define STRAND_KEPT 0x80000000u /* added to a thread: the strand of its legacy work that the policy left in place */
#define HOST_STRAND 0u
#define NO_STRAND UINT32_MAX
#define NO_EDGE UINT32_MAX
#define NO_GROUP UINT32_MAX

/* At call `at`, knowledge of some strand's operations up to `op` arrived. It came from strand `from`, whose last operation
 * then was `via` (NO_STRAND: of a group, from each of its strands), over an edge or (NO_EDGE) by explicit order. */
struct arrival {
    uint64_t op, via, at;
    uint32_t from, edge;
};

/* Rising in op and at. Most lists of a trace with many strands have one entry, which stands in the list itself. */
struct arrival_list {
    union {
        struct arrival one;   /* room 1 */
        struct arrival *many; /* more */
    };
    uint32_t count, room;
};

/* What a strand knows of a group: all operations up to `upto`, since call `grown`; until then, all up to `before`. */
struct group_knowledge {
    uint32_t group;
    uint64_t upto, grown, before;
    struct arrival_list arrivals; /* without fan-ins */
};

/* An open fan-in, at its edge's place: by call `at` the legacy strand `to` learnt of the operations after < op <= upto of
 * the blocking strand `from`. Fan-ins of the same two strands are a chain by time; links are a place plus one, 0 none. */
struct fan_in {
    uint64_t after, upto, at;
    uint32_t from, to; /* to: HOST_STRAND: there is none at this place */
    uint32_t newer, older;
};

/* At call `at`, operation `op` of a strand was forgotten for lack of room. The edges that had brought `op`, or a later
 * operation, by then are limited. */
struct forgotten_op {
    uint64_t at, op;
};

/* An operation that touches memory of some class. Operations in a row that no other strand learnt of in between have one
 * milestone, the last of them: what comes after the last comes after all. */
struct milestone {
    uint64_t op;
    uint64_t before;     /* the newest other operation that it stands for; 0: none */
    struct edge_end end; /* valid once the operation has left the verdicts' `ends` */
    bool last_known;     /* for sweep.c */
};
struct milestones {
    struct milestone *items; /* rising */
    size_t count, room;
};

/* Operations whose knowledge arrived over the same edges: after < op <= upto. */
struct way {
    uint64_t after, upto;
    bool own; /* at the strand itself; else at the host, which holds until the strand learns of them, too */
};

/* The edges of these ways have been found for orders behind some strand: finding them again changes nothing. */
struct settled_ways {
    struct way doubted, proven; /* the last one each */
    uint64_t older;             /* the call at which all ways were last doubted */
};

struct strand {
    /* What it is. */
    uint64_t key;
    uint32_t stream, context, serial; /* stream: uid; serial: never reused */
    uint64_t born, ended;             /* the call that opened it; ticks at which its stream or thread ends */
    enum order_role role;
    uint8_t after;         /* roles after whose work its operations come by legacy order (implicit_order.h) */
    bool open, sure;       /* sure: the kind of its stream is known */
    uint32_t group;        /* NO_GROUP: implicit order does not concern it */
    uint32_t rank;         /* in its context's list of its role */
    uint32_t newer, older; /* in that list by last operation; NO_STRAND: none */

    /* What it did. */
    uint64_t last;           /* its last operation */
    uint64_t before;         /* its last operation before it last joined others by implicit order */
    struct milestone newest; /* the newest call on it: `last`, or the call at hand */
    struct milestones access[CLASSES], opaque[CLASSES];
    uint64_t told_host; /* its last operation that may have written memory which the host can read */
    uint64_t snapped;   /* the call at which another strand, an event or the host last learnt of its operations */
    bool is_opaque;     /* it is among `opaque_strands` */

    /* What it knows. */
    struct vclock expl, full;
    struct vclock grown;                     /* by strand: the call at which `full` last grew */
    uint64_t grown_at, foreign_at;           /* ... of all; of those that have no implicit order with it */
    struct arrival_list *arrivals;           /* by strand: how `full` grew */
    size_t arrivals_room, arrivals_count;    /* count: of entries in all lists */
    TABLE_OF(struct group_knowledge) groups; /* rising */
    uint32_t *fan_ins;                       /* by strand: the newest fan-in, its place plus one; 0 none */
    size_t fan_ins_room, fan_ins_count;
    uint64_t joined; /* of a blocking stream: the last legacy operation that it has joined */

    /* What has been looked into. */
    struct settled_ways *settled_ways; /* by strand */
    size_t settled_room;
    uint64_t met_at; /* when conflicts with the others' milestones were last looked for, and of which classes */
    uint8_t met, met_opaque;

    /* What was forgotten. */
    uint64_t lost_milestone; /* the newest milestone that was forgotten before every later call came after it */
    uint64_t dropped;        /* accesses up to here may have been forgotten for lack of room */
    TABLE_OF(struct forgotten_op) forgotten; /* not yet noted at the edges (forgotten.h); rising in both */
};

/* Groups are numbered by context: context * GROUPS_A_CONTEXT + one of these. */
enum { GROUP_LEGACY, GROUP_BLOCKING, GROUPS_A_CONTEXT };

/* Strands of one role: `items` by rank, and a chain by last operation from `newest` on (NO_STRAND: empty). */
struct strand_list {
    uint32_t *items;
    size_t count, room;
    uint32_t newest;
};

struct context {
    struct strand_list legacy, blocking;
    TABLE_OF(uint32_t) all;             /* strands */
    uint64_t blocking_at;               /* the last operation of any blocking strand */
    uint64_t learnt[GROUPS_A_CONTEXT];  /* the call at which a strand last learnt of all of a group */
    uint64_t dropped[GROUPS_A_CONTEXT]; /* the largest of its strands' */
    bool host_used;                     /* a strand of it touched memory of the host */
    uint32_t queue;                     /* the strand of the last legacy operation, NO_STRAND none */
    uint64_t clean; /* a wait for the whole context that began at this call has returned: nothing older is pending */
};

#endif

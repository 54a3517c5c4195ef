/* SPDX-License-Identifier: Apache-2.0
 *
 * A lane of the verdict engine, and how it came to know of the others. Only for the engine's files, by way of engine.h,
 * which says what a lane is.
 *
 * Clocks. A lane keeps two: what its last operation comes after by explicit order (`expl`), and by explicit and implicit
 * order (`full`). What the host knows is not copied into them, so whoever asks takes the larger of the lane's and the
 * host's.
 *
 * Groups. `full` holds what a lane learnt of single lanes: by events and waits, and of other contexts. What implicit order
 * tells of all of a group at once stands in `groups`, and is no part of `full`: knowledge.h asks both.
 *
 * Ways. A conflict that only `full` holds apart is to be blamed on the edges that hold it. So a lane remembers of each
 * entry of `full` over which edge it came, and from which lane (struct known); blame.c follows that back. An entry is
 * forgotten when no operation is left that a later one could conflict with over it; an edge that no entry names any more is
 * settled.
 */
#ifndef PTDS_ANALYSIS_ORDER_LANE_H
#define PTDS_ANALYSIS_ORDER_LANE_H

#include "analysis/base/hints.h"
#include "analysis/order/memories.h"
#include "analysis/order/verdict.h"

#include "analysis/base/vclock.h"
#include "analysis/base/table.h"

#define LANE_KEPT 0x80000000u /* beside the thread: a lane's legacy work that the policy left where it was */
#define HOST_LANE 0u
#define NO_LANE UINT32_MAX
#define NO_EDGE UINT32_MAX
#define NO_GROUP UINT32_MAX

/* One entry of a clock, and how it came there: up to operation `op` of some lane, known since call `at`. It was taken over
 * from lane `from` (NO_LANE: each lane of a group from itself), whose last operation then was `via`: over an edge or
 * (NO_EDGE) by explicit order. */
struct known {
    uint64_t op, via, at;
    uint32_t from, edge;
};

/* Rising in op and at. With many lanes most hold one, which stands where it is looked for. */
struct known_list {
    union {
        struct known one;   /* room 1 */
        struct known *many; /* more */
    };
    uint32_t count, room;
};
static INLINE struct known *known_items(struct known_list *list)
{
    return list->room > 1 ? list->many : &list->one;
}

/* What a lane knows of a group (groups.c): all that its lanes did up to operation `upto`, since call `grown`; up to
 * `before` until then. */
struct of_group {
    uint32_t group;
    uint64_t upto, grown, before;
    struct known_list brought; /* how it came, but for fan-ins */
};

/* An open fan-in (fans.c), at its edge's place: the legacy lane `to` learnt by call `at` of what the blocking lane `from`
 * did, after < op <= upto. Of the same two lanes: the newer and the older one's place + 1, 0 none. */
struct fan {
    uint64_t after, upto, at;
    uint32_t from, to; /* to: HOST_LANE: there is none at this place */
    uint32_t newer, older;
};

/* At call `at`, an operation of the lane was forgotten for lack of room: edges are limited that had brought it by then, or
 * a later one. */
struct forgotten {
    uint64_t at, op;
};

/* An operation that touches memory. Of those in a row that no other lane learnt of in between, only the last is a mark. */
struct mark {
    uint64_t op, before; /* before: the newest that this mark stands for besides, or that lost its own; 0: none */
    struct edge_end end; /* set when it is about to go from the verdicts' `ends` */
    bool last_known;     /* for sweep.c */
};
struct marks {
    struct mark *items;
    size_t count, room;
};

/* Operations whose knowledge arrived by the same edges: after < op <= upto. */
struct way {
    uint64_t after, upto;
    bool own; /* at the lane itself; else at the host, and only until the lane learns of them, too */
};

/* What has been blamed for orders behind a lane's operations: asking again changes nothing. */
struct blamed {
    struct way doubted, proven; /* the last */
    uint64_t older;             /* the call at which all ways were last doubted */
};

struct lane {
    uint64_t last, born; /* call numbers */
    uint64_t before;     /* its last operation before it last joined others' */
    uint32_t group;      /* NO_GROUP: no implicit order concerns it */
    struct vclock expl, full;
    struct vclock grown;                /* by lane: the call at which `full` last grew */
    struct known_list *brought;         /* by lane: how `full` grew */
    size_t brought_room, brought_count; /* count: entries, in all */
    TABLE_OF(struct of_group) groups;   /* rising */
    uint32_t *fans;                     /* by lane: the newest fan-in, its edge's place + 1; 0 none */
    size_t fans_room, fans_count;
    struct blamed *blamed; /* by lane */
    size_t blamed_room;
    struct marks access[CLASSES], opaque[CLASSES];
    struct mark newest;                   /* the newest call on it: `last`, or the one at hand */
    uint64_t grown_at;                    /* when `full` last grew */
    uint64_t snapped;                     /* when another lane, an event or the host last learnt of its operations */
    uint64_t foreign_at;                  /* when `full` last grew about lanes that have no implicit order with this one */
    uint64_t told_host;                   /* its last operation that may have written memory which the host can read */
    uint64_t unmarked;                    /* the newest mark that was forgotten before everybody came after it */
    uint64_t dropped;                     /* an access of this lane, up to here, was forgotten for lack of room */
    TABLE_OF(struct forgotten) forgotten; /* what no list about this lane says yet; both rise (blame_forgotten) */
    uint64_t ended;                       /* ticks */
    uint64_t met_at; /* when conflicts with the others' marks were last looked for, and for which classes */
    uint8_t met, met_opaque;
    bool is_opaque; /* among `opaque_lanes` */
    uint64_t key;
    uint32_t stream, context, serial;
    enum order_role role;
    uint8_t after;         /* model/under.h: after which roles' work its operations come by legacy order */
    bool open, sure;       /* sure: its kind is known */
    uint32_t rank;         /* in its context's list of its role */
    uint32_t newer, older; /* of that list, by the last operation; NO_LANE: none */
    uint64_t joined;       /* of a blocking stream: the last legacy operation that it has joined */
};

/* Of a context's lanes: those of the legacy stream, and the blocking ones. */
enum { GROUP_LEGACY, GROUP_BLOCKING, GROUPS_A_CONTEXT };

/* Lanes of one role, in the order in which they were opened, but for those in the places of closed ones; and by their last
 * operation. */
struct lane_list {
    uint32_t *items;
    size_t count, room;
    uint32_t newest; /* NO_LANE: none */
};

struct context {
    struct lane_list legacy, blocking;
    TABLE_OF(uint32_t) all;             /* lanes */
    uint64_t blocking_at;               /* the last operation of any blocking lane */
    uint64_t learnt[GROUPS_A_CONTEXT];  /* when anybody last learnt of all of them by implicit order */
    uint64_t dropped[GROUPS_A_CONTEXT]; /* the largest of the lanes' */
    bool host_used;                     /* some lane of it touched memory of the host */
    uint32_t queue;                     /* the lane of the last legacy operation, NO_LANE none */
    uint64_t clean; /* a wait for all of it that began here has returned: nothing of what is not in the trace is pending */
};

#endif

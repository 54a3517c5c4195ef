/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the verdict engine share; nobody else includes it.
 *
 * Lanes. A lane is a stream as the program named it, but the legacy stream is one lane for each thread that uses it, and
 * two where the policy moved some of the thread's work to another stream and left some. (That is ORDER_EXPLICIT of
 * model/under.h; what legacy order adds between lanes is ORDER_LEGACY.) Lane 0 is the host: every later call comes after
 * what is known there. Calls are numbered, rising, and an operation has its call's number; so "up to operation n of lane A"
 * is one number.
 *
 * Groups. All lanes of a context that are of the legacy stream, and all that are of its blocking streams (GROUP_LEGACY,
 * GROUP_BLOCKING; numbered by context). Implicit order tells of all of a group at once.
 *
 * Interest. A lane's operations are remembered where a later call may conflict with them: by memory (memories.h) where the
 * memory is known, else as marks of the lane. Of operations in a row that no other lane learnt of in between, the last is
 * enough: who comes after it comes after all of them.
 */
#ifndef PTDS_ANALYSIS_ORDER_ENGINE_H
#define PTDS_ANALYSIS_ORDER_ENGINE_H

#include "analysis/base/hints.h"
#include "analysis/base/id_map.h"
#include "analysis/order/lane.h"
#include "analysis/order/memories.h"
#include "analysis/order/verdict.h"

#include "analysis/base/vclock.h"
#include "analysis/base/sorted.h"
#include "analysis/base/table.h"

/* Limits; reached, edges may be needed (REASON_LIMIT), never "not needed". */
enum {
    LANES_MOST = 1024,       /* streams, and threads on the legacy stream, alive at once */
    ACCESSES_MOST = 128,     /* remembered of one allocation */
    MEMORIES_MOST = 1 << 18, /* allocations alive at once */
    EVENTS_MOST = 1 << 16,
    MARKS_MOST = 4096,   /* a lane's */
    OPEN_MOST = 1 << 16, /* edges */
    SWEEP_LEAST = 2048,
    NEAR_BITS = 12, /* of memories lately found */
    ALIKE = 128,    /* classes of calls */
    PLACE_BITS = 12,
    ENDS = 1 << 14, /* of calls, kept in a row */
    FEW = 8,        /* accesses that are looked at at once */
    TOUCHES_BITS = 6,
    TOUCHES_MOST = 1 << TOUCHES_BITS /* of one operation */
};

struct open_edge {
    struct edge edge;
    uint32_t refs; /* `known`s that came over it; 0: nothing can depend on it any more */
    bool limited, lost, raced;
    bool shown;              /* its pair is the one to show */
    bool unsure;             /* of a stream of unknown kind: it may not be there */
    enum edge_loss given_up; /* whether the policy took the order away */
    uint64_t made;
};

/* What a host wait will have made known when it returns. */
struct cover {
    uint64_t ticks; /* ... which is then */
    struct edge_end end;
    struct vclock expl;
    struct known *full; /* by lane; op 0: nothing */
    size_t room;
    TABLE_OF(struct covered_group) groups; /* of the same group rising: what came first tells how it came */
    uint64_t began;                        /* the call */
    uint32_t context;                      /* all of this one; NO_LANE: not all of any */
};
struct covered_group {
    uint32_t group;
    struct known known;
};

struct group_upto {
    uint32_t group;
    uint64_t upto;
};
struct event {
    struct vclock expl, full;
    TABLE_OF(struct group_upto) groups; /* what its lane knew of them */
    uint64_t op;
    uint32_t lane, generation;
    bool used;
};

/* A kernel's parameters, from its code or its signature. */
struct signature {
    struct parameter *parameters; /* those that can be named, in order, then SIGNATURE_END; NULL: not known */
    uint64_t variables;           /* an address that stands for its module's variables; 0: none */
    enum access variables_access;
    bool wide_first; /* of all, only the first can hold a pointer */
    bool by_code;    /* words in other places of the parameters touch nothing */
    bool opaque;
    bool complete; /* the trace names all that it touches, or says that it does not */
    bool plain;    /* ... and there are no variables */
};
struct parameter {
    uint16_t at; /* offset / 8 */
    uint16_t access;
};
#define SIGNATURE_END UINT16_MAX

/* What really holds under this run's policy (kept.c). */
struct kept_order {
    struct vclock behind; /* what the call of this number comes after */
    uint64_t number;
};
struct kept {
    struct model *model;
    const struct call_view *view;  /* the call at hand */
    struct kept_order real, asked; /* as run; ... without implicit order */
    uint32_t replay;               /* of the latter */
    bool takes;                    /* the policy took orders away */
    bool overtakes;                /* there are copies that implicit order does not keep back */
};

struct place; /* places.h */

struct verdicts {
    struct wait_follower follower; /* first */
    struct model *model;
    const struct trace *trace;
    struct edge_sink *sink;
    struct verdict_totals totals;
    TABLE_OF(struct lane) lanes;
    TABLE_OF(struct context) contexts; /* by the model's positions */
    TABLE_OF(struct open_edge) edges;
    TABLE_OF(uint32_t) free_edges;
    TABLE_OF(struct fan) fans;     /* by their edges' places */
    TABLE_OF(uint32_t) fresh;      /* edges made by the call at hand */
    TABLE_OF(struct event) events; /* by the model's places */
    TABLE_OF(struct cover) covers; /* of the waits in flight: when they return is the model's to know */
    TABLE_OF(struct memory) memories;
    TABLE_OF(uint32_t) free_memories;
    struct user no_user;   /* where there is no room for one */
    struct sorted by_base; /* memories */
    TABLE_OF(struct signature) signatures;
    struct id_map lane_by_key, memory_by_uid, signature_by_uid;
    uint32_t near[1 << NEAR_BITS];                   /* memories lately found, by a hash of the address */
    struct place *places;                            /* 1 << PLACE_BITS */
    uint64_t places_waiting[(1 << PLACE_BITS) / 64]; /* a bit for each that waits, or did */
    void *place_room;
    uint32_t few;
    struct edge_end
        *ends; /* of calls from `ends_from` on, by number modulo ENDS: written once a call, not once an access */
    uint64_t ends_from;
    uint64_t now;   /* the call at hand: its number, and */
    uint64_t shift; /* for tests, so much more */
    uint64_t open, sweep_at, sweep_least;
    uint64_t turns;                  /* at memories */
    TABLE_OF(uint32_t) watched;      /* memories, for somebody (verdicts_watch) */
    uint64_t watched_bases;          /* a bit for each of their bases */
    uint32_t watched_used;           /* by the launch at hand: groups */
    uint32_t serials;                /* of lanes */
    uint64_t unseen_order;           /* an explicit order that cannot be seen was made here: no certainty across it */
    uint64_t unsure_wait;            /* ... a wait that may or may not have been one: no race is claimed across it */
    struct vclock told;              /* what host functions may have told the program was done, by explicit order, */
    struct vclock told_by_any_order; /* ... by any: no race is claimed of it, either */
    struct vclock value_waits;       /* the lanes' last waits for values: what comes after one may come after any work */
    uint64_t lost_at;                /* records were missing here */
    uint64_t lost_until;             /* ticks: threads of which no record is left may have made calls */
    TABLE_OF(uint32_t) opaque_lanes; /* that have opaque operations which not everybody comes after anyway; in order */
    uint64_t learnt;                 /* when the host last learnt something by explicit order */
    uint32_t forgetful;              /* lanes of which something was forgotten that no list says yet */
    uint64_t forgotten;              /* how earlier operations' orders arrived is forgotten */
    bool all_lost, limited, offsets_seen, globals_seen;
    bool unsure_edges;     /* there are, or were, such */
    bool moved;            /* the policy took legacy work elsewhere */
    size_t defined;        /* memories whose calls are not in the trace: how many are there by now */
    uint64_t defined_next; /* ticks: when another one is */
    unsigned times;        /* TOUCHES_TIME: the program asks for times between events; 0: it does not */
    struct id_map untimed; /* events without a time, by uid */
    bool unsure;          /* an address in no known memory may be in one that was freed and that no record shows any more */
    struct edge_end *end; /* the call at hand */
    struct alike {
        uint32_t number; /* as the model counts them; 0 none */
        uint32_t lane;
        struct edge_end end;         /* but for time, kernel and stack */
    } alike[ALIKE];                  /* what is the same for all calls of a class (model/model.h) */
    struct kept *kept;               /* NULL: the policy keeps all that anybody needs */
    struct edge_end given_up;        /* of the call at hand: what it no longer comes after */
    struct edge_pair overtaken;      /* the call at hand is a copy whose source this pair's first writes */
    struct conflict_sink *conflicts; /* NULL: nobody wants to know each of them */
    struct edge_pair race;
    struct verdicts_found found;
    bool raced, may_race, gives_up, overtakes; /* the call at hand: `race` is definite, is set at all; and the others */
};

static inline uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* lanes.c */
static inline struct lane *lanes_at(const struct verdicts *v, uint32_t lane)
{
    return &v->lanes.items[lane];
}
/* The lane that the call is about; `make`: opened if it is new. NO_LANE: none, or beyond what is followed. */
uint32_t lanes_of_call(struct verdicts *v, const struct call *call, bool make);
uint32_t lanes_context(struct verdicts *v, uint32_t uid);
/* The lane's operation is the newest of its list. */
void lanes_be_newest(struct verdicts *v, struct lane_list *list, uint32_t at);
/* Those of the list that did something after operation `since`, in the list's order, and perhaps some more. */
enum { RECENT_MOST = 64 };
struct recent {
    const uint32_t *items;
    size_t count;
    uint32_t few[RECENT_MOST];
};
void lanes_recent(const struct verdicts *v, const struct lane_list *list, uint64_t since, struct recent *out);
void lanes_free(struct verdicts *v);
void lanes_keep_ends(struct verdicts *v); /* before the calls' `ends` begin anew */
const struct edge_end *lanes_end(const struct verdicts *v, const struct mark *mark);

/* The last mark up to this operation; NULL: none. */
const struct mark *marks_last(const struct marks *marks, uint64_t known);

/* An access of the lane, up to this operation, is remembered no longer. */
static inline void lanes_drop(struct verdicts *v, struct lane *lane, uint64_t op)
{
    lane->dropped = larger(lane->dropped, op);
    if (lane->group == NO_GROUP)
        return;
    uint64_t *all = &v->contexts.items[lane->context].dropped[lane->group % GROUPS_A_CONTEXT];
    *all = larger(*all, op);
}

/* joins.c */
void joins_implicit(struct verdicts *v, uint32_t lane);
void events_record(struct verdicts *v, const struct ptds_rec_CALL *call, uint32_t lane);
const struct event *events_find(const struct verdicts *v, uint32_t uid, uint32_t generation);
/* Whether a recording that is not found may be there all the same: another process's, or one that the trace lost. */
bool events_are_unseen(const struct verdicts *v, uint32_t uid, uint32_t generation);
void events_wait(struct verdicts *v, const struct event *event, uint32_t lane);
void events_forget(struct verdicts *v, uint32_t uid);
void events_free(struct verdicts *v);

/* waits.c */
bool waits_cover(struct verdicts *v, const struct call_view *view, uint32_t lane, struct cover *cover);
void waits_start(struct verdicts *v, struct cover *cover);
void waits_follow(struct verdicts *v); /* from now on the model tells which of them has returned */
void waits_free(struct verdicts *v);

/* edges.c */
uint32_t edges_new(struct verdicts *v, const struct context *context, enum edge_kind kind, const struct edge_end *from);
/* The edge orders this operation and the call at hand, or with `cover` its return: does it still? */
void edges_bring(struct verdicts *v, uint32_t edge, const struct mark *from, const struct cover *cover);
void edges_settle(struct verdicts *v, uint32_t edge);
/* The edge is one of this lane's, of whose stream the kind may be unknown. */
static INLINE void edges_of_lane(struct verdicts *v, uint32_t edge, const struct lane *lane)
{
    if (lane->sure || edge == NO_EDGE)
        return;
    v->edges.items[edge].unsure = true;
    v->unsure_edges = true;
}
static INLINE void edges_keep(struct verdicts *v, uint32_t edge)
{
    if (edge != NO_EDGE)
        v->edges.items[edge].refs++;
}
static INLINE void edges_drop(struct verdicts *v, uint32_t edge)
{
    if (edge != NO_EDGE && --v->edges.items[edge].refs == 0)
        edges_settle(v, edge);
}
void edges_end_call(struct verdicts *v, bool raced);
void edges_settle_all(struct verdicts *v);
void edges_free(struct verdicts *v);

/* signatures.c */
const struct signature *signatures_look_up(struct verdicts *v, uint32_t kernel);
static inline const struct signature *signatures_of(struct verdicts *v, uint32_t kernel)
{
    uint32_t at;
    return id_map_get(&v->signature_by_uid, kernel, &at) ? &v->signatures.items[at] : signatures_look_up(v, kernel);
}
void signatures_free(struct verdicts *v);

/* kept.c */
bool kept_begin(struct verdicts *v, struct model *model); /* false without memory */
/* Whether nothing orders this behind operation `op`, which legacy put before it; LOSS_POSSIBLE: nobody knows. */
enum kept_at {
    KEPT_AT_CALL,   /* the call at hand, and what it submits */
    KEPT_AT_RETURN, /* its return, if it completes anything */
    KEPT_BY_NOW     /* what the host may do now that a wait has returned, that one and those before it */
};
enum edge_loss kept_not(const struct verdicts *v, const struct edge_end *first, uint64_t op, enum kept_at at);
static inline enum edge_loss kept_is_given_up(const struct verdicts *v, const struct edge_end *first, uint64_t op,
                                              enum kept_at at)
{
    return v->kept != NULL && v->kept->takes ? kept_not(v, first, op, at) : LOSS_NONE;
}
/* Whether nothing but implicit order puts the call at hand behind operation `op`: not even the same stream. Only where
 * kept->overtakes. */
enum edge_loss kept_by_nothing_asked(const struct verdicts *v, const struct edge_end *first, uint64_t op);
void kept_end(struct verdicts *v);

/* sweep.c: forgets what nothing can depend on any more */
void sweep(struct verdicts *v);

#endif

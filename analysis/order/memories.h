/* SPDX-License-Identifier: Apache-2.0
 *
 * What the verdict engine remembers of memory: who touched which bytes, and how two accesses stand to each other. Only for
 * the engine's files, by way of engine.h.
 */
#ifndef PTDS_ANALYSIS_ORDER_MEMORIES_H
#define PTDS_ANALYSIS_ORDER_MEMORIES_H

#include "analysis/base/table.h"
#include "analysis/order/verdict.h"

struct verdicts;
struct blame;
struct blame_meeting;
struct call_view;
struct cover;
struct marks;

/* Kinds of memory. HOST: the host, or another process, can touch it without a call. GLOBAL: modules' variables, in traces
 * that do not tell whose a kernel may use. TIME: all work takes some, and an event that has one counts it. SHARED: its
 * bytes are another memory, too, so whoever touches it is opaque. */
enum { TOUCHES_DEVICE = 1, TOUCHES_HOST = 2, TOUCHES_GLOBAL = 4, TOUCHES_TIME = 8, CLASSES = 4, TOUCHES_SHARED = 16 };
#define TOUCHES_ALL (TOUCHES_DEVICE | TOUCHES_HOST)
/* Behind them, so that one look at a memory has both: a bit for each group that somebody watches it for (verdicts_watch).
 */
enum { TOUCHES_BITS_OF_CLASSES = 8 };
#define TOUCHES_WATCHED (UINT32_MAX << TOUCHES_BITS_OF_CLASSES)

enum extent { EXTENT_FROM, EXTENT_EXACT, EXTENT_HOLES }; /* from lo on; all of lo..hi; some of lo..hi */

struct touch {
    uint64_t lo, hi;
    enum access access;
    enum extent extent;
};

/* Positions are those in the memory's list, plus one; 0 none. */
struct remembered {
    struct touch touch;
    uint64_t op;
    uint32_t lane;           /* NO_LANE: forgotten */
    uint16_t chained;        /* the next of its bucket, or the next free place */
    uint16_t earlier, later; /* by op */
    uint16_t home;           /* its bucket */
    struct edge_end end;
};

/* A lane that uses a memory. What has been examined by its open-ended accesses: all accesses up to here. */
struct user {
    uint64_t born;      /* of the lane; 0: nobody's */
    uint64_t newest[2]; /* what it did last: anything, more than reading. Of the lane that uses the memory now see there */
    uint64_t upto[2];   /* by an access that reads, by any */
    uint64_t open_upto[2]; /* ... open-ended ones, by accesses that are not */
    uint64_t open;         /* a bit for each lane, modulo 64, of which one was met that another order may come to hold */
    uint64_t turn;         /* its last turn; 0: what its places say of that is out of date */
    uint64_t clear;        /* up to here all others' accesses come before the lane's by explicit order */
    uint32_t lane;
};

/* Buckets of remembered accesses: 0 those that are not open-ended, the others by lane and first byte. USERS_MOST: lanes
 * of a memory; of two in one place only the last is known. */
enum { BUCKETS = 64, USERS_LEAST = 2, USERS_MOST = 64, TOLD = 15 };

/* The places (places.h) that are to be written back, in the order in which they began to wait. */
enum { WAITING_FEW = 4, WAITING_MOST = 128 };
struct waiting {
    union {
        uint16_t few[WAITING_FEW];
        uint16_t *many; /* room > WAITING_FEW */
    };
    uint16_t count, room;
};
static inline uint16_t *waiting_items(struct waiting *waiting)
{
    return waiting->room > WAITING_FEW ? waiting->many : waiting->few;
}

struct memory {
    uint64_t turn;    /* a lane's, at this memory: another number for each; 0: not in use */
    uint64_t last;    /* the newest */
    uint64_t changed; /* the newest of `lane` that does more than read */
    uint32_t lane;    /* of the newest */
    uint32_t classes; /* TOUCHES_ */
    uint64_t base, end;
    TABLE_OF(struct remembered) list; /* places */
    uint64_t clear;                   /* the turn in which nobody's earlier accesses are of interest any more */
    uint64_t other;                   /* the newest of any other lane */
    struct waiting waiting;
    uint16_t live, free, oldest, newest; /* how many places are in use; a free one; by op */
    uint16_t bucket[BUCKETS];
    struct user *users; /* by lane, modulo `users_room` */
    uint64_t used;      /* a bit for each of them */
    uint32_t users_room;
    uint8_t told;     /* TOLD: the last look at it changed something; 0: none of the last ones did */
    bool crowded;     /* there are, or were, more than there is room for */
    uint64_t cleaned; /* when those went that everybody comes after */
    uint64_t tried;   /* in this turn: when it was last found not to be clear */
    uint32_t uid, context;
    uint32_t kind;   /* enum ptds_memory_kind */
    uint32_t of;     /* what it is a part of, whose accesses all are: a module's variables, a reservation; 0: itself */
    uint32_t opened; /* ... beside the first time: another process's memory */
};

/* memories.c */
/* Who keeps the accesses to the address. Arrays' and unnamed memories' addresses are made up. */
#define ARRAYS ((uint64_t)1 << 62)
#define UNNAMED ((uint64_t)1 << 61)
struct memory *memories_at(struct verdicts *v, uint64_t address);
struct memory *memories_part(struct verdicts *v, uint64_t address); /* ... and the allocation itself */
struct memory *memories_whole(struct verdicts *v, struct memory *part);
/* For a kernel's pointer: it may point to the end of memory, or to a little before it. */
struct memory *memories_near(struct verdicts *v, uint64_t address);
uint64_t memories_next(const struct verdicts *v, uint64_t address); /* where the next one begins */
/* An address of the memory with this uid, whether its allocation is in the trace or not. */
uint64_t memories_named(struct verdicts *v, uint32_t uid);
struct memory *memories_elsewhere(struct verdicts *v);
struct memory *memories_of(struct verdicts *v, uint32_t uid, uint64_t address);
struct memory *memories_add(struct verdicts *v, const struct call *call);
/* Those up to then whose calls are not in the trace any more. When the next one is due. */
uint64_t memories_defined(struct verdicts *v, uint64_t ticks);
void memories_remove(struct verdicts *v, struct memory *memory);
void memories_free(struct verdicts *v);

/* Whether it is of this class alone. */
static inline bool memories_are_only(const struct memory *memory, uint32_t class)
{
    return (memory->classes & ~TOUCHES_WATCHED) == class;
}

/* touches.c */
void touches_of_call(struct verdicts *v, const struct call *call, uint32_t lane);
void touches_of_launch(struct verdicts *v, const struct call *call, uint32_t lane);
void touches_of_free(struct verdicts *v, const struct call_view *view, const struct cover *cover);

/* What holds two accesses apart: nothing needs to, or explicit order does (so it stays); implicit order that the lane knows
 * of, or only the host so far; nothing. */
enum outcome { OUTCOME_APART, OUTCOME_HELD, OUTCOME_HELD_BY_HOST, OUTCOME_RACE };

/* remembered.c: what is remembered of a memory */
static inline struct remembered *accesses_at(struct memory *memory, uint32_t position)
{
    return &memory->list.items[position - 1];
}
/* An access of the lane that uses the memory now, the newest. The position, 0 without memory. */
uint16_t accesses_remember(struct verdicts *v, uint32_t lane, struct memory *memory, const struct touch *touch, uint64_t op,
                           const struct edge_end *end);
/* The positions of a lane's accesses from this address on, by kind; of others they stay as they are. */
void accesses_find(struct memory *memory, uint32_t lane, uint64_t address, uint16_t at[ACCESS_UNKNOWN]);
void accesses_forget(struct memory *memory, struct remembered *old);
/* As forgetting and remembering it. */
void accesses_again(struct memory *memory, struct remembered *access, uint16_t position, uint64_t op,
                    const struct edge_end *end);
/* Those go that everybody comes after anyway. */
void accesses_clean(struct verdicts *v, struct memory *memory);

/* accesses.c: what a new access may conflict with */
void accesses_touch(struct verdicts *v, const struct blame *by, struct memory *memory, const struct touch *touch);
/* An access from its first byte on. Returns the worst; APART or HELD: what others did so far stays without interest,
 * whatever the lane learns, for the way on which it learnt of something first stays the same. */
enum outcome accesses_open(struct verdicts *v, const struct blame *by, struct memory *memory, struct user *user,
                           const struct touch *touch);

/* users.c: what a lane has done to a memory, and examined of it */
/* Whether it is worth to ask (users_in_question) before any access is looked at: few are looked at in less time than it
 * takes to ask, but not where the last ones told nothing. */
static inline bool users_are_asked(const struct memory *memory, unsigned few)
{
    return memory->told == 0 || memory->waiting.count >= few;
}
struct user *users_more(struct verdicts *v, struct memory *memory, uint32_t lane);
static inline struct user *users_of(struct verdicts *v, struct memory *memory, uint32_t lane, uint64_t born)
{
    uint32_t at = lane & (memory->users_room - 1);
    if (memory->users != NULL && memory->users[at].born == born)
        return &memory->users[at];
    return users_more(v, memory, lane);
}
/* Another lane is about to use the memory: what the last one did is noted of it. What is kept of lanes may move. */
void users_leave(struct verdicts *v, struct memory *memory);
/* The lane has found that nothing the others did since its last turn tells any of its accesses anything: that turn goes on,
 * and so what its places say. */
void users_go_on(const struct verdicts *v, struct memory *memory, const struct user *user);
/* Whether that is found by asking alone: another lane uses the memory, and nothing that has been done to it since the
 * lane's last turn tells any access of the lane anything. Then the turn goes on, and the lane uses the memory now. Returns
 * what is kept of it there; NULL: not so. */
struct user *users_take_up(struct verdicts *v, uint32_t lane, struct memory *memory);
/* No turn goes on. */
void users_begin_anew(struct verdicts *v, struct memory *memory);
/* The lane uses the memory now. */
void users_newest(struct verdicts *v, struct memory *memory, uint32_t lane, enum access access);
/* Of which other lanes (a bit for each, modulo 64) an open-ended access after operation `since` may tell an access of
 * `by` anything. None: nobody need look. After users_leave. */
struct question {
    uint64_t lanes;
    uint64_t since; /* nor do theirs up to here */
    bool doubted;   /* explicit order does not hold all */
    bool held;      /* the lane has learnt of all of them: what was blamed once need not be looked at again */
};
struct question users_in_question(const struct verdicts *v, const struct blame *by, const struct memory *memory,
                                  enum access access, uint64_t since);
/* Whether all others' accesses come before the lane's by explicit order, or did before operation `since`. After
 * users_leave. */
bool users_are_behind(const struct verdicts *v, uint32_t lane, const struct memory *memory, uint64_t since);
/* A read loses to anything, a write wins over anything: what a later access of the same place makes superfluous. */
static inline unsigned accesses_strength(enum access access)
{
    return access == ACCESS_WRITE ? 3 : access == ACCESS_UNKNOWN ? 2 : 1;
}

/* places.c: the first of what is noted of a memory after operation `since` and not written back, by some other lanes (a bit
 * for each, modulo 64), only if `any` by accesses that read. False: none. */
struct place;
/* One of them. */
struct noted {
    struct place *place;
    uint32_t order; /* places_order */
    enum access access;
};
bool places_first(const struct verdicts *v, struct memory *memory, uint64_t lanes, bool any, uint64_t since,
                  struct remembered *out);
/* All that is noted of it after operation `since` by other lanes than this one, in order; WAITING_MOST * ACCESS_UNKNOWN at
 * most. */
unsigned places_newer(struct verdicts *v, struct memory *memory, uint32_t lane, uint64_t since, struct noted *out);
struct remembered places_as_remembered(const struct verdicts *v, const struct memory *memory, const struct noted *noted);
/* Whether what is remembered there gives way to what is noted of the same place. */
bool places_supersede(struct verdicts *v, const struct remembered *old, uint32_t position);
/* What is noted of a memory is remembered from then on; or forgotten with it */
void places_write_back(struct verdicts *v, struct memory *memory);
void places_write_all_back(struct verdicts *v);
void places_drop(struct verdicts *v, struct memory *memory);
bool places_begin(struct verdicts *v); /* false without memory */
void places_free(struct verdicts *v);

/* conflicts.c */
enum outcome conflicts_examine(struct verdicts *v, const struct blame *by, const struct memory *memory,
                               const struct remembered *first, const struct touch *second);
void conflicts_describe(const struct verdicts *v, const struct blame_meeting *meeting, struct edge_pair *pair);
/* For conflicts_opaque (region_marks.h): the operation meets the others; it is marked as opaque by these classes, not none.
 */
void conflicts_meet(struct verdicts *v, uint32_t lane, unsigned touches, unsigned opaque);
void conflicts_be_opaque(struct verdicts *v, uint32_t lane, unsigned opaque);
/* The host has learnt of the lane, by this wait, which has returned. */
void conflicts_host(struct verdicts *v, uint32_t about, const struct cover *cover);
/* The lane's operation is an event whose time may be asked for. */
void conflicts_timed(struct verdicts *v, uint32_t lane);
/* Lanes all of whose opaque operations everybody comes after anyway are opaque no longer. */
void conflicts_drop_done(struct verdicts *v);
/* The lane, which is opaque, is about to be closed. */
void conflicts_close(struct verdicts *v, uint32_t lane);
void conflicts_new_mark(struct verdicts *v, uint32_t lane, struct marks *marks);

#endif

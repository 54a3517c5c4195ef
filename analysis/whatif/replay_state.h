/* SPDX-License-Identifier: Apache-2.0
 *
 * A replay under way. Only for replay.c, which replays, and promised.c, which says what a policy's promises make it wait
 * for.
 */
#ifndef PTDS_ANALYSIS_WHATIF_REPLAY_STATE_H
#define PTDS_ANALYSIS_WHATIF_REPLAY_STATE_H

#include "analysis/base/id_map.h"
#include "analysis/whatif/engines.h"
#include "analysis/whatif/device_queues.h"
#include "analysis/whatif/promised.h"
#include "analysis/whatif/replay.h"
#include "analysis/whatif/turns.h"

struct context {
    struct moment end[ORDER_ROLES];    /* of all work on streams of each role */
    struct moment named[ORDER_ROLES];  /* the same, by the stream that the program named */
    struct moment opaque[ORDER_ROLES]; /* as named, of work that may touch all memory */
    struct moment shown[ORDER_ROLES];  /* as named, of work on memory that the host can touch */
    /* What blocking streams had got when the legacy stream last got anything: it is between that and what they get later.
     */
    struct moment named_before, opaque_before;
    uint32_t joins; /* a number for that */
    struct engines engines;
    struct queues queues;
};

/* A stream of the policy. */
struct lane {
    struct moment end;  /* until when there is work on it */
    struct moment done; /* ... as far as a host has waited for it */
    uint32_t queue;     /* its hardware queue, plus one; 0: it had no work yet */
};

struct thread {
    struct moment now, called; /* when its latest call returned, and began */
    uint64_t left, entered;    /* the same, as recorded */
    uint64_t copied;           /* when it began, or its latest copy that it waited for returned */
    bool began;
};

struct memory {
    struct moment written[ORDER_ROLES], read[ORDER_ROLES];
    uint32_t writer[ORDER_ROLES], reader[ORDER_ROLES]; /* the lanes of these, plus one */
    struct moment written_before, read_before;         /* by blocking streams, before the legacy stream's `joins` */
    uint32_t joins;
    uint32_t user;  /* the thread that used it last, plus one */
    uint32_t hands; /* so often another one used it than before */
};

/* What was handed on once, as memory that one thread fills before another one begins, has a new owner; what comes back does
 * not. Threads whose work meets many times share a lane under guarded, and wait for each other in the driver as before. */
enum { BACK = 2, MANY_HANDS = 12 };

enum { TURNS = 16 }; /* of more contexts some share one */

struct run {
    const struct recorded *recorded;
    const struct latencies *latencies;
    const struct assumptions *assumptions;
    unsigned policy;
    TABLE_OF(struct lane) lanes;
    TABLE_OF(struct context) contexts;
    TABLE_OF(struct thread) threads;
    TABLE_OF(struct memory) memories;
    TABLE_OF(struct moment) events;
    struct turns turns[TURNS]; /* by context */
    struct id_map lane_by_key, memory_by_uid, event_by_key;
    uint32_t newest;          /* the step whose call returned last so far, plus one */
    struct moment first;      /* when the first operation was put on a device */
    struct moment waited_for; /* when work is done of which nothing is known but a wait that was for it */
    bool began;
    /* What was submitted last writes memory that threads hand to each other, in an order that the policy keeps; ... again
     * and again. */
    bool queued, gathered;
    uint32_t joins; /* numbers given */
    bool failed;
};

/* The item at a position, made if need be; an item of no use without memory. */
#define ITEM(run, list, at) \
    ({ \
        static __typeof__(*(list)->items) none_; \
        const size_t at_ = (at); /* once: what finds it may find another place the next time */ \
        while ((list)->count <= at_ && TABLE_ADD(list)) \
            *TABLE_LAST(list) = (__typeof__(none_)){0}; \
        (run)->failed |= (list)->count <= at_; \
        (list)->count > at_ ? &(list)->items[at_] : &none_; \
    })

/* The same by a key. */
static inline uint32_t place_of(struct run *run, struct id_map *map, uint64_t key, size_t count)
{
    uint32_t place;
    if (id_map_get(map, key, &place))
        return place;
    run->failed |= !id_map_put(map, key, (uint32_t)count);
    return (uint32_t)count;
}

static inline struct context *context_of(struct run *run, const struct step *step)
{
    return ITEM(run, &run->contexts, step->context);
}

static inline void raise(struct moment *moment, struct moment to)
{
    if (to.at > moment->at)
        *moment = to;
}

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * A recorded run once more, under a policy: each thread does what it did, each operation takes as long as it took, and what
 * comes after what is implicit_order_under's.
 *
 * What the trace does not tell is decided once against a gain and once for it (struct assumptions); the truth lies between.
 */
#ifndef PTDS_ANALYSIS_WHATIF_REPLAY_H
#define PTDS_ANALYSIS_WHATIF_REPLAY_H

#include "analysis/whatif/recorded.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What time is spent on. */
enum part { PART_HOST, PART_LAUNCH, PART_KERNELS, PART_COPIES, PART_FULL, PART_QUEUES, PART_DRIVER, PARTS };

/* A moment, and what the time until then went into, along the chain of what had to come before it. */
struct moment {
    uint64_t at;
    uint64_t part[PARTS];
};

static inline struct moment moment_max(struct moment a, const struct moment *b)
{
    return b->at > a.at ? *b : a;
}

static inline struct moment moment_after(struct moment moment, uint64_t ns, enum part part)
{
    moment.at += ns;
    moment.part[part] += ns;
    return moment;
}

/* Not before the moments of these roles (ORDER_OF). */
static inline struct moment moment_of_roles(struct moment moment, unsigned roles, const struct moment *by_role)
{
    for (unsigned role = 0; role < ORDER_ROLES; role++)
        if (roles & ORDER_OF(role))
            moment = moment_max(moment, &by_role[role]);
    return moment;
}

/* Measured in the recording itself. ns. */
struct latencies {
    uint64_t launch; /* from a call to its work's begin on an idle device */
    uint64_t next;   /* from the end of a stream's operation to the begin of the next, which was there already */
    uint64_t wake;   /* from the end of the work that a thread waits for to its return */
};

struct assumptions {
    uint64_t gpu_threads;    /* that run at a time */
    unsigned queues;         /* hardware queues that streams share; 0: each has its own */
    bool follows;            /* a thread that went on just after another one's call did so because of it */
    bool host_promises;      /* what a policy promises to a host's wait costs it time */
    bool wide;               /* what it promises between streams is kept by waits for all that is on the other stream */
    bool spreads;            /* a thread's default-stream work has as many lanes as it likes (PTDS_LANES) */
    unsigned locked_percent; /* so much of a call on a stream of its own is in the driver alone */
    bool passes_over;        /* synchronous copies on per-thread streams let others go first */
    unsigned queued_percent; /* of what other threads' calls held a call up, so much remains where its work has to come
                                after theirs all the same */
    uint64_t hand_ns;        /* what such an order costs the launch itself: the shim's event and its wait */
    unsigned joined_percent; /* ... and on another one, where the legacy stream joined it with others */
};

/* Replays the run under a policy (enum order_policy). *out: from the first operation on a device to the end of the
 * last call, and what that time went into; zero where no time passes between the two. False without memory. */
bool replay_run(const struct recorded *recorded, unsigned policy, const struct latencies *latencies,
                const struct assumptions *assumptions, struct moment *out);

#ifdef __cplusplus
}
#endif
#endif

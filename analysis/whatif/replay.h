/* SPDX-License-Identifier: Apache-2.0
 *
 * A recorded run once more, under a policy: each thread does what it did, each operation takes as long as it took, and what
 * comes after what is order_under's.
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
enum part { PART_HOST, PART_LAUNCH, PART_KERNELS, PART_COPIES, PART_FULL, PARTS };

/* A moment, and what the time until then went into, along the chain of what had to come before it. */
struct moment {
    uint64_t at;
    uint64_t part[PARTS];
};

/* Measured in the recording itself. ns. */
struct latencies {
    uint64_t launch; /* from a call to its work's begin on an idle device */
    uint64_t next;   /* from the end of a stream's operation to the begin of the next, which was there already */
    uint64_t wake;   /* from the end of the work that a thread waits for to its return */
};

struct assumptions {
    uint64_t gpu_threads;    /* that run at a time */
    bool follows;            /* a thread that went on just after another one's call did so because of it */
    bool host_promises;      /* what a policy promises to a host's wait costs it time */
    bool spreads;            /* a thread's default-stream work has as many lanes as it likes (PTDS_LANES) */
    unsigned held_percent;   /* of what other threads' calls held a call up, so much remains on a stream of its own */
    unsigned queued_percent; /* ... where its work has to come after theirs all the same */
    uint64_t hand_ns;        /* what such an order costs the launch itself: the shim's event and its wait */
    unsigned joined_percent; /* ... and on another one, where the legacy stream joined it with others */
};

/* From the first operation on a device to the end of the last call, and what that went into. .at 0: no memory. */
struct moment replay_run(const struct recorded *recorded, unsigned policy, const struct latencies *latencies,
                         const struct assumptions *assumptions);

#ifdef __cplusplus
}
#endif
#endif

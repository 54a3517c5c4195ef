/* SPDX-License-Identifier: Apache-2.0
 *
 * What a policy would gain: the recorded run replayed under each, against itself replayed as it was.
 */
#ifndef PTDS_ANALYSIS_WHATIF_WHATIF_H
#define PTDS_ANALYSIS_WHATIF_WHATIF_H

#include "analysis/whatif/replay.h"

#ifdef __cplusplus
extern "C" {
#endif

enum whatif_doubt {
    WHATIF_SURE,
    WHATIF_REMAPPED, /* the run was remapped: what it would do without is not in the trace */
    WHATIF_NO_TIME,  /* no host times, or no calls */
    WHATIF_GAPS,     /* records are missing */
    WHATIF_TOO_LONG, /* more calls than are kept */
    WHATIF_MISSES,   /* replayed as it was, it does not take as long as it took */
    WHATIF_NO_MEMORY,
    WHATIF_UNSAID,   /* the trace does not tell the run's policy */
    WHATIF_NO_LENGTH /* nothing takes time after the first work on a device: there is nothing to gain */
};

enum { WHATIF_POLICIES = 3 };
extern const unsigned whatif_policies[WHATIF_POLICIES]; /* enum order_policy */
extern const char *const whatif_names[WHATIF_POLICIES];
extern const char *const whatif_doubts[]; /* NULL: none */
extern const char *const whatif_parts[PARTS];

/* The run would take `least` to `most` ns; `spent`: what a run of `most` spends its time on, in parts of spent.at. */
struct prediction {
    uint64_t least, most;
    struct moment spent;
};

struct whatif {
    enum whatif_doubt doubt;
    uint64_t recorded, replayed; /* ns from the first operation on a device; the run, and its replay as it was */
    double error;                /* by how much that misses, as a share */
    uint64_t gpu, gpu_timed;     /* operations on a device; of them, those whose time there was recorded */
    struct prediction policies[WHATIF_POLICIES];
    uint64_t spread;           /* at best, ns: under guarded, if each thread's work had as many lanes as it likes */
    enum default_cost no_gain; /* why there is surely nothing to gain, whatever is predicted; DEFAULT_UP_TO: there may be */
    uint64_t apart;            /* at best, ns: under any policy, and with calls that name the legacy stream moved, too */
    uint64_t needed, maybe_needed; /* implicit orders of the run; a policy that promises none may take them away */
};

/* Times on the GPU are known of nearly all operations: else what is predicted is a guess. */
static inline bool whatif_is_timed(uint64_t gpu, uint64_t gpu_timed)
{
    return gpu_timed != 0 && gpu_timed >= gpu - gpu / 10;
}

/* More than this, and nothing is predicted. */
#define WHATIF_MOST_ERROR 0.1
/* Runs of one program under one policy differ: most by 1 % to 10 % (README.md). Nothing is predicted better than that. */
#define WHATIF_RUNS_DIFFER 1.05
/* Less than this nobody notices: 2 % beyond that. */
#define WHATIF_NOTICED (WHATIF_RUNS_DIFFER + 0.02)

/* Whether it is the order of a thread's own default-stream work that limits guarded, so that PTDS_LANES may help. A guess
 * without times on the GPU. */
bool whatif_lanes_limit(const struct whatif *whatif);

/* Predicts; after the pass of the report. Changes times in `recorded` that the trace does not have. */
struct whatif whatif_of(const struct report *report, struct recorded *recorded);
/* Sets report->replay: what another place for default-stream work gains, if this is no guess. */
void whatif_tell(const struct whatif *whatif, struct report *report);
/* As whatif_of, for a trace that has been read without a watch: reads it once more. */
struct whatif whatif_of_source(const struct trace_source *source);

#ifdef __cplusplus
}
#endif
#endif

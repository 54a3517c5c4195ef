/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptds probe`: a program run bare, under observe and under policies, some rounds each in turn; then the comparison, and an
 * answer for each policy. The verb fills in the request and calls these in order.
 */
#ifndef PTDS_ANALYSIS_PROBE_PROBE_H
#define PTDS_ANALYSIS_PROBE_PROBE_H

#include "analysis/base/line.h"
#include "analysis/base/sink.h"
#include "analysis/probe/answer/policy_answer.h"
#include "analysis/probe/runs/outputs.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    VARIANT_BARE,
    VARIANT_NONE, /* as bare, but the shim notes when CUDA work began and ended */
    VARIANT_OBSERVE,
    VARIANT_FIRST_POLICY,
    VARIANTS_MOST = 10,
    PROBE_LAST_WORDS = 3,
    PROBE_ERROR_SIZE = OUTPUTS_ERROR_SIZE
};

struct run {
    unsigned round; /* 0 warms up, is recorded, and does not count for times; of a shaken variant the seed */
    struct ending ending;
    bool leaves; /* processes in the background: what it did is not known whole */
    uint64_t ns;
    uint64_t cuda_ns; /* of that, from the first launch or copy to the last call's return; 0: not known */
};

/* One way to run the program. */
struct variant {
    const char *name;
    const char *policy;
    unsigned lanes;      /* PTDS_LANES; 0: as the caller has it */
    bool moves_explicit; /* PTDS_EXPLICIT_LEGACY=remap; false: as the caller has it */
    bool shaken;         /* each run with another PTDS_SHAKE */
    bool asked;          /* its answer decides the exit status */
    bool given_up;       /* it hung, and is not run again */
    TABLE_OF(struct run) runs;
    struct facts facts;
    struct record record;
    struct line said; /* the first line of the shim's own on its stderr; empty: none */
    struct evidence evidence;
    struct answer answer;
};

/* Whether guarded is run with more lanes, too. */
enum lanes { LANES_NOT, LANES_WHERE_THEY_LIMIT, LANES_IN_ANY_CASE };

struct probe_watch {
    void (*look)(struct probe_watch *watch, const char *variant, unsigned round, unsigned done, unsigned all, uint64_t ns);
};

struct probe {
    /* The request. */
    char **program;
    const char *library;
    const char *auditor; /* --audit; NULL: as the caller has it */
    const char *command; /* --compare; NULL: the probe compares by itself */
    enum lanes lanes;
    unsigned seeds;      /* --shake: runs of `shaken`, with seeds from 1 */
    unsigned rounds;     /* that count; twice as many where times are close */
    uint64_t timeout_ns; /* 0: ten times what bare takes, and ten seconds; bare has no limit then */
    struct folder folder;
    struct path input;
    struct outputs outputs;
    struct probe_watch *watch; /* may be NULL */
    /* The result. */
    struct variant variants[VARIANTS_MOST]; /* bare, none, observe, then the policies */
    size_t count;
    struct variant shaken[VARIANTS_MOST]; /* by the same index: none and the policies, with work delayed */
    struct comparable comparable;
    struct learnt *learnt; /* of each thing, from the bare runs */
    bool interrupted, out_of_memory;
    bool extended;                            /* there were more rounds than asked for */
    unsigned done;                            /* rounds that count and are whole */
    unsigned controls;                        /* bare runs more, because output or endings differed */
    struct line last_words[PROBE_LAST_WORDS]; /* of a bare run that failed: the end of its stderr */
};

#ifdef __cplusplus
}
#endif
#endif

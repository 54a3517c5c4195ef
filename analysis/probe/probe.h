/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptds probe`: a program run bare, under observe and under policies, some rounds each in turn; then the comparison, and an
 * answer for each policy. The verb fills in the request and calls these in order.
 */
#ifndef PTDS_ANALYSIS_PROBE_PROBE_H
#define PTDS_ANALYSIS_PROBE_PROBE_H

#include "analysis/probe/answer.h"
#include "analysis/probe/outputs.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    VARIANT_BARE,
    VARIANT_NONE, /* as bare, but the shim notes when CUDA work began and ended */
    VARIANT_OBSERVE,
    VARIANT_FIRST_POLICY,
    VARIANTS_MOST = 8,
    PROBE_LAST_WORDS = 3,
    PROBE_ERROR_SIZE = OUTPUTS_ERROR_SIZE
};

struct run {
    unsigned round; /* 0 warms up, is recorded, and does not count for times */
    struct ending ending;
    bool leaves; /* processes in the background: what it did is not known whole */
    uint64_t ns;
    uint64_t cuda_ns; /* of that, from the first launch or copy to the last call's return; 0: not known */
};

/* One way to run the program. */
struct variant {
    const char *name;
    const char *policy;
    unsigned lanes; /* PTDS_LANES; 0: as the caller has it */
    bool asked;     /* its answer decides the exit status */
    bool given_up;  /* it hung, and is not run again */
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
    unsigned rounds;     /* that count; twice as many where times are close */
    uint64_t timeout_ns; /* 0: ten times what bare takes, and ten seconds; bare has no limit then */
    struct folder folder;
    struct path input;
    struct outputs outputs;
    struct probe_watch *watch; /* may be NULL */
    /* The result. */
    struct variant variants[VARIANTS_MOST]; /* bare, none, observe, then the policies */
    size_t count;
    struct comparable comparable;
    struct learnt *learnt; /* of each thing, from the bare runs */
    bool interrupted, out_of_memory;
    bool extended;                            /* there were more rounds than asked for */
    unsigned done;                            /* rounds that count and are whole */
    unsigned controls;                        /* bare runs more, because output or endings differed */
    struct line last_words[PROBE_LAST_WORDS]; /* of a bare run that failed: the end of its stderr */
};

/* Bare, none and observe are there from the start; guarded is to be the first policy. False: there is no room, or it is
 * there already (then it is asked for). */
void probe_begin(struct probe *probe);
bool probe_add(struct probe *probe, const char *policy, bool asked);
/* After the warm-up: guarded with several numbers of lanes, where the request and the record of observe ask for that. How
 * many variants are new. */
size_t probe_add_lanes(struct probe *probe);
/* All rounds, compared; where output or endings differ, bare runs more, to learn whether that varies by itself. False with
 * a message (PROBE_ERROR_SIZE): something else than the program failed. */
bool probe_run(struct probe *probe, char *error);
/* Reads the records, and fills in evidence and answers. */
void probe_conclude(struct probe *probe);
void probe_end(struct probe *probe);

/* The variant whose answer comes first and is the exit status: of those asked for, the first of the worst. */
const struct variant *probe_first(const struct probe *probe);
/* The one to use: guarded where it is right, with more lanes where these make it faster, else the fastest that is; NULL:
 * none. */
const struct variant *probe_best(const struct probe *probe);

/* For the parts of the probe. */
size_t probe_things(const struct probe *probe);
const char *probe_thing_name(const struct probe *probe, size_t thing);
/* Whether --compare is asked about it: about the files that were named, or standard output. */
bool probe_by_command(const struct probe *probe, size_t thing);
void probe_compare(struct probe *probe);       /* fills in facts and what is comparable, anew */
void probe_forget(struct probe *probe);        /* undoes it */
bool probe_differs(const struct probe *probe); /* a policy's output or ending does */

/* Output. columns: of the terminal; `stands`: the folder stays, and is named. */
void probe_screen(const struct probe *probe, bool stands, struct text_sink *sink);
/* 0, or -1 without memory. */
int probe_json(const struct probe *probe, bool stands, struct text_sink *sink);
/* The line to copy, of any length. */
void probe_command(const struct probe *probe, const struct variant *variant, struct text_sink *sink);

#ifdef __cplusplus
}
#endif
#endif

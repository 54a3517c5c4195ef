/* SPDX-License-Identifier: Apache-2.0
 *
 * A finding: a rule's id, what it saw as keys and values, what it cost, and where. One for each rule and call site (and
 * detail, a number of the rule's own); the calls add up in it. No prose here: that is the reports' business.
 */
#ifndef PTDS_ANALYSIS_FINDING_H
#define PTDS_ANALYSIS_FINDING_H

#include "analysis/edge.h"
#include "analysis/model.h"
#include "analysis/table.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rule;

/* Sets of ids that a finding is about. */
enum finding_set {
    FINDING_THREADS,           /* thread uids */
    FINDING_STREAMS,           /* stream uids: of the calls themselves */
    FINDING_WAITS_FOR,         /* stream uids: that had work pending */
    FINDING_KERNELS,           /* kernel uids: of the calls themselves */
    FINDING_WAITS_FOR_KERNELS, /* kernel uids: the last work on the pending streams */
    FINDING_CONTEXTS,          /* context uids */
    FINDING_SETS
};

extern const char *const finding_set_names[FINDING_SETS]; /* keys of the reports */

enum { FINDING_IDS = 8, FINDING_NUMBERS = 6, FINDING_LIMIT = 4096 };

struct finding_ids {
    uint32_t id[FINDING_IDS];
    uint32_t count; /* of id[] */
    bool more;      /* there were others */
};

struct finding_number {
    const char *key; /* static */
    uint64_t value;
};

struct finding {
    const struct rule *rule;
    uint32_t stack; /* STACK id, 0 not recorded */
    uint32_t api;
    bool has_api, twin;
    uint32_t detail;             /* the rule's own */
    uint32_t serial;             /* in order of the first call, from 1; 0: no call stands for it */
    uint32_t sequence;           /* counted from 1, see sequence.h; 0: stands alone */
    uint64_t count;              /* calls */
    uint64_t first, last;        /* ticks of entry */
    uint64_t host_ns;            /* lost, by the calls whose loss is known */
    uint64_t known, unknown;     /* calls whose loss is known, unknown. GPU time is never known so far */
    uint64_t verdicts[VERDICTS]; /* of the implicit edges at this call site; all 0: none is known */
    struct finding_ids sets[FINDING_SETS];
    struct finding_number numbers[FINDING_NUMBERS];
    char *text; /* what the finding is about where that is no id (an object, a function); owned, or NULL */
};

struct findings {
    TABLE_OF(struct finding *) list;
    struct id_map by_key;
    uint64_t refused; /* beyond FINDING_LIMIT, or without memory */
    /* For report.c: a muted list takes no call in (the rule still sees it); the finding that the last call went to. */
    bool muted;
    struct finding *flagged;
};

/* The finding of this rule for the call's site, made if new; counts the call, its thread, stream and kernel. NULL: refused.
 * detail: below 128. */
struct finding *finding_at(struct findings *findings, const struct rule *rule, const struct call_view *view,
                           uint32_t detail);

/* A finding that no single call stands for; `text` is copied and may be NULL. count is 0. */
struct finding *finding_about(struct findings *findings, const struct rule *rule, uint32_t detail, const char *text);

/* All of these accept NULL for the finding. */
void finding_add(struct finding *finding, enum finding_set set, uint32_t id);
void finding_add_pending(struct finding *finding, const struct model *model, const struct pending *pending);
void finding_count(struct finding *finding, const char *key, uint64_t more);
void finding_most(struct finding *finding, const char *key, uint64_t value);
void finding_cost(struct finding *finding, uint64_t host_ns);
void finding_cost_unknown(struct finding *finding);
/* The call's own loss if it is timed, else unknown. */
void finding_cost_of(struct finding *finding, const struct call_view *view);

void findings_drop(struct findings *findings); /* all of them */
void findings_free(struct findings *findings);

#ifdef __cplusplus
}
#endif
#endif

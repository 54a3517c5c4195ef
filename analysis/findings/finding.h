/* SPDX-License-Identifier: Apache-2.0
 *
 * A finding: a rule's id, what it saw as keys and values, what it cost, and where. One for each rule and call site (and
 * detail, a number of the rule's own); the calls add up in it. No prose here: that is the reports' business.
 */
#ifndef PTDS_ANALYSIS_FINDINGS_FINDING_H
#define PTDS_ANALYSIS_FINDINGS_FINDING_H

#include "analysis/base/id_map.h"
#include "analysis/findings/aftermath/aftermath.h"
#include "analysis/findings/removed_by_policy.h"
#include "analysis/order/engine/edge.h"
#include "analysis/model/model.h"
#include "analysis/trace/selection.h"
#include "analysis/base/table.h"

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
    FINDING_HELD,              /* thread uids: that the calls held up */
    FINDING_SETS
};

/* error: results may be wrong, or the process may stop for good. warning: time lost, or order that may be missed. note:
 * worth knowing; may be meant. */
enum severity { SEVERITY_NOTE, SEVERITY_WARNING, SEVERITY_ERROR, SEVERITIES };

/* What a finding says of the run's results: nothing, that they may be wrong, that they are (as far as orders go). */
enum doubt { DOUBT_NONE, DOUBT_MAY, DOUBT_WRONG, DOUBTS };

/* Whether reports tell a finding by itself, or in one line with others, and why (report/rank.h). */
enum fold {
    FOLD_SHOWN,
    FOLD_FLOOR,   /* it would save too little */
    FOLD_NO_COST, /* a note whose cost nobody knows */
    FOLD_ONCE,    /* set-up of a part of the program: it happened once */
    FOLD_NO_GAIN, /* about the default stream, which costs too little */
    FOLD_NEEDED,  /* about the default stream's order, which results need */
    FOLD_SAME,    /* another place of the one cause that the default stream is */
    FOLD_LIBRARY, /* inside a library, where the reader cannot change it */
    FOLD_TIMED,   /* as FOLD_NEEDED, where some of it only a time that the program takes may need */
    FOLDS
};

extern const char *const severity_names[SEVERITIES];
extern const char
    *const doubt_names[DOUBTS + 3]; /* "right", "may-be-wrong", "wrong"; of a run "unknown", "stuck", "maybe-stuck" */
extern const char *const fold_names[FOLDS];               /* of JSON; NULL: shown */
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
    uint32_t detail; /* the rule's own */
    bool stuck;      /* its call had not returned when the trace ended; an error: for longer than a wait takes */
    enum severity severity;
    enum doubt doubt;
    enum fold fold;
    uint32_t serial;                    /* in order of the first call, from 1; 0: no call stands for it */
    uint32_t sequence;                  /* counted from 1, see sequence.h; 0: stands alone */
    uint64_t count;                     /* calls */
    uint64_t first, last;               /* ticks of entry */
    uint64_t host_ns;                   /* lost, by the calls whose loss is known */
    uint64_t weight_ns;                 /* what it is ranked by, where nobody knows that (report/rank.h) */
    uint64_t known, unknown;            /* calls whose loss is known, unknown. GPU time is never known so far */
    uint64_t verdicts[VERDICTS];        /* of the implicit edges at this call site; all 0: none is known */
    uint64_t timed;                     /* of these, those that a time between two events may need, and nothing else */
    uint64_t given_up, may_be_given_up; /* of these, those that this run's policy took away: needed, perhaps needed */
    struct removed_set removed_by;      /* what its calls answered */
    struct finding_ids sets[FINDING_SETS];
    struct finding_number numbers[FINDING_NUMBERS];
    struct edge_pair pair; /* if has_pair: two operations that show it */
    bool has_pair;
    char *text; /* what the finding is about where that is no id (an object, a function); owned, or NULL */
};

struct findings {
    TABLE_OF(struct finding *) list;
    struct id_map by_key;
    uint64_t lately_key;    /* of the finding that was found last, */
    struct finding *lately; /* NULL none */
    uint64_t refused;       /* beyond FINDING_LIMIT, or without memory */
    /* For report/pass/pass_over_calls.c: only calls of this part of the trace count, whenever a rule speaks of them (the
     * rule sees all); NULL: all do. And what was flagged last: which finding, and the call that went to it. */
    const struct selected *selected;
    struct finding *flagged;
    const struct call *flagged_call;
};

/* The finding of this rule for the call's site, made if new; counts the call, its thread, stream and kernel. NULL: refused.
 * detail: below 128. */
struct finding *finding_at(struct findings *findings, const struct rule *rule, const struct call_view *view,
                           uint32_t detail);

/* The same where all calls of one cause are one finding, whatever their sites: the first one's is named. cause: a number
 * of the rule's own. */
struct finding *finding_of_cause(struct findings *findings, const struct rule *rule, const struct call_view *view,
                                 uint32_t detail, uint32_t cause);

/* Says that the call belongs to this finding (may be NULL), though it is not counted in it. */
static inline void finding_flag(struct findings *findings, struct finding *finding, const struct call_view *view)
{
    findings->flagged = finding;
    findings->flagged_call = view->call;
}

/* The order in which reports tell findings: errors first, then by host time lost; a finding of unknown cost before one
 * that is known to cost nothing; then by number of calls. */
struct finding_weight {
    enum severity severity;
    uint64_t host_ns, unknown, count;
};
/* Below 0: `one` is told first; above 0: `two` is; 0: equal. */
int finding_weigh(struct finding_weight one, struct finding_weight two);

/* A finding that no single call stands for; `text` is copied and may be NULL. count is 0. */
struct finding *finding_about(struct findings *findings, const struct rule *rule, uint32_t detail, const char *text);

/* All of these accept NULL for the finding. */
void finding_severity(struct finding *finding, enum severity severity);
static inline void finding_doubt(struct finding *finding, enum doubt doubt)
{
    if (finding != NULL && doubt > finding->doubt)
        finding->doubt = doubt;
}
/* For a finding about an order that the policy took away, once verdicts are known: its severity and doubt follow from
 * how much a result needs the order. */
void finding_given_up(struct finding *finding);
/* For a finding about an order that may be gone: an error only where a pair of operations proves that it is gone and
 * was needed. */
void finding_may_lose_order(struct finding *finding);
/* Adds an id that is not the first of the set; beyond FINDING_IDS only notes that there are more. */
void finding_add_new(struct finding_ids *ids, uint32_t id);
static inline void finding_add(struct finding *finding, enum finding_set set, uint32_t id)
{
    if (finding == NULL || finding->sets[set].more || (finding->sets[set].count != 0 && finding->sets[set].id[0] == id))
        return;
    finding_add_new(&finding->sets[set], id);
}
/* Keeps the first pair of operations that shows the finding; copies it. */
static inline void finding_pair(struct finding *finding, const struct edge_pair *pair)
{
    if (finding != NULL && !finding->has_pair) {
        finding->pair = *pair;
        finding->has_pair = true;
    }
}
/* Adds the streams that had work pending, and the last kernels on them. */
void finding_add_pending(struct finding *finding, const struct model *model, const struct pending *pending);
/* Adds the streams of the wait with this need; NEED_OPEN: all its streams. */
void finding_add_judged(struct finding *finding, const struct judged *judged, enum need need);
/* Adds `more` to the number under the key; the key is static text. */
void finding_count(struct finding *finding, const char *key, uint64_t more);
/* Raises the number under the key to `value`. */
void finding_most(struct finding *finding, const char *key, uint64_t value);
/* Adds a loss of one call, in ns. */
void finding_cost(struct finding *finding, uint64_t host_ns);
void finding_cost_calls(struct finding *finding, uint64_t host_ns, uint64_t calls); /* of several calls */
static inline void finding_cost_unknown(struct finding *finding)
{
    if (finding != NULL)
        finding->unknown++;
}
/* Adds the loss of the call where the call is timed, else an unknown loss. */
void finding_cost_of(struct finding *finding, const struct call_view *view);

/* Moves all findings of `from`, which is empty afterwards, to the end of `to`. After the last call only. */
void finding_move_all(struct findings *to, struct findings *from);
void finding_drop_all(struct findings *findings); /* the findings, not the lists */
/* For finding_keep_only: whether some call of the finding costs something, or may. */
bool finding_has_cost(const struct finding *finding);
/* Drops the findings for which `keep` is false. After the last call only. */
void finding_keep_only(struct findings *findings, bool (*keep)(const struct finding *finding));
/* Drops all findings and frees the lists. */
void finding_free_all(struct findings *findings);

#ifdef __cplusplus
}
#endif
#endif

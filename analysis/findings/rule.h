/* SPDX-License-Identifier: Apache-2.0
 *
 * A hazard rule. To add one, drop a file into analysis/rules/ that defines a `static const struct rule` and names it to
 * PTDS_RULE; nothing else needs to know. Its two traces, in the language of tests/support/trace_builder.h, are its test:
 * the rule must flag `bad`, and every rule must be silent on its own `good` and on every other rule's.
 *
 * A rule sees each call before the model has taken it in: the model shows what was pending when the call was made.
 */
#ifndef PTDS_ANALYSIS_FINDINGS_RULE_H
#define PTDS_ANALYSIS_FINDINGS_RULE_H

#include "analysis/findings/finding.h"
#include "analysis/findings/gain.h"
#include "analysis/findings/aftermath/saving.h"
#include "analysis/findings/startup.h"
#include "analysis/order/engine/edge.h"
#include "analysis/model/model.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rule_run {
    const struct rule *rule;
    struct model *model; /* read only: a rule changes nothing in it */
    const struct trace *trace;
    const struct aftermath *aftermath;         /* read only */
    struct savings *savings;                   /* costs that are known only later */
    const struct startup *startup;             /* whether the program has begun */
    struct gain *gain;                         /* what waits behind implicit order */
    const struct removed_policies *removed_by; /* whose orders are asked about */
    struct findings findings;
    void *state; /* rule->state bytes, zeroed */
    bool awake;  /* set by the rule: true asks for every call of its `ops`, whatever the case */
};

/* For `ops`: the calls that a rule wants to see, by enum ptds_op. */
#define RULE_OP(op) (UINT64_C(1) << (op))
/* All that puts something on a stream: work, and event records and waits. */
#define RULE_SUBMITS (RULE_OP(PTDS_OP_OPAQUE + 1) - RULE_OP(PTDS_OP_LAUNCH))
#define RULE_ALL UINT64_C(0)

/* For `cases`: which of the calls in `ops` may matter to a rule; a call needs one of the bits. Most calls have none,
 * and must cost nothing. */
enum rule_case {
    CASE_DEFAULT = 1 << 0,    /* the call named the default stream: the legacy one, or the per-thread one by a twin */
    CASE_JOINS = 1 << 1,      /* by implicit order the call comes after work that its stream did not come after before */
    CASE_HANDED = 1 << 2,     /* work for a stream whose last work was another thread's */
    CASE_PER_THREAD = 1 << 3, /* the call named a per-thread default stream */
    CASE_REMAPPED = 1 << 4,   /* the policy moved the call to another stream than the program named */
    CASE_FIRST = 1 << 5,      /* work for a stream that had none pending */
    CASE_NO_WORK = 1 << 6,    /* anything but work: waits, queries, event operations, ... */
    CASE_HOST_FUNCTION = 1 << 7,
    CASE_CAPTURE = 1 << 8,    /* the call failed, or a capture was open, begins or ends */
    CASE_CONFLICT = 1 << 9,   /* nothing orders the call and an earlier one that uses the same memory */
    CASE_EDGE = 1 << 10,      /* the shim made a stream wait before it */
    CASE_GIVEN_UP = 1 << 11,  /* the policy of this run took away an implicit order that the call had */
    CASE_OVERTAKEN = 1 << 12, /* a copy whose source is still to be written */
    CASE_POOL = 1 << 13,      /* it allocates or frees stream-ordered memory */
    CASES = 14
};

/* The length of `sentences` and `remedies` of a rule. Each has one entry a detail, NULL where the text of the rule
 * itself holds for that detail. */
#define PER_DETAIL(details) (sizeof(details) / sizeof *(details))

struct rule {
    const char *id;             /* words, never renumbered */
    const char *class_;         /* the hazard class of README.md: "H1" to "H17" are about time, "R1" to "R8" about order */
    const char *title;          /* a headline */
    const char *sentence;       /* what the hazard is */
    const char *advice;         /* what to do about it */
    const char *const *details; /* what the rule's details mean, by number; NULL if it has none */
    const char *const *sentences; /* what a detail is, where that is not `sentence` (NULL: it is); PER_DETAIL */
    const char *const *remedies;  /* what to do about a detail, where that is not `advice`; likewise */
    const char *bad, *good;
    enum removed_by removed_by; /* by which policies what it finds would go (removed_by_policy.h) */
    enum severity severity;     /* of its findings, unless the rule says otherwise for one */
    bool order_given_up;        /* what it finds is an order that is gone: an error where results depend on it */
    bool may_lose_order;        /* its doubts are about such an order, too: wrong where a pair of operations proves it */
    bool conflict;  /* what it finds are conflicts that nothing orders: without a doubt of results, possible ones */
    bool by_host;   /* what it finds is right or wrong by what the host does between calls, which no trace shows */
    bool at_call;   /* only a change at the call can cure it: not where a library makes the call */
    bool set_up;    /* what it finds is set-up: told by itself where it repeats, or takes much of the run */
    bool stayed;    /* what it finds is work that the policy left: all that the default stream still does is its */
    bool rest;      /* it is asked about calls whose time no other rule is charged with, after all others */
    bool banner;    /* what it finds changes the whole run: reports say it before anything else */
    uint64_t ops;   /* RULE_OP of each; RULE_ALL for every call */
    unsigned cases; /* enum rule_case; 0: all calls in `ops` */
    bool (*applies)(const struct trace *trace); /* no: it has nothing to say of such a trace, and is not asked; NULL: yes */
    size_t state;
    void (*on_call)(struct rule_run *run, const struct call_view *view);  /* may be NULL */
    void (*on_held)(struct rule_run *run, const struct call_view *view);  /* a call with held_by; may be NULL */
    void (*on_judged)(struct rule_run *run, const struct judged *judged); /* a wait, some time after it; may be NULL */
    void (*on_edge)(struct rule_run *run, const struct edge *edge);       /* an implicit order, judged; may be NULL */
    void (*end)(struct rule_run *run);                                    /* after the last call; may be NULL */
};

/* Whether the report is about the call: a rule sees all calls, also those outside of the selection. */
static inline bool rule_asks_of(const struct rule_run *run, const struct call_view *view)
{
    return run->findings.selected == NULL || selection_has(run->findings.selected, view->call);
}

/* Whether the call blocked behind the work of other streams alone, by implicit order: rule legacy-barrier is charged
 * with such a call. */
static inline bool behind_others_only(const struct model *model, const struct call_view *view)
{
    return view->blocked && view->submits && !model_is_pending(model, view->target) && model_joins(model, view->target);
}

/* What to do about the finding, and what the hazard is; for its detail where the rule has texts for details. */
static inline const char *finding_advice(const struct finding *finding)
{
    const struct rule *rule = finding->rule;
    const char *remedy = rule->remedies != NULL ? rule->remedies[finding->detail] : NULL;
    return remedy != NULL ? remedy : rule->advice;
}

static inline const char *finding_sentence(const struct finding *finding)
{
    const struct rule *rule = finding->rule;
    const char *sentence = rule->sentences != NULL ? rule->sentences[finding->detail] : NULL;
    return sentence != NULL ? sentence : rule->sentence;
}

/* Whether two findings have the same sentence and advice. */
static inline bool finding_says_alike(const struct finding *one, const struct finding *other)
{
    return one->rule == other->rule && finding_sentence(one) == finding_sentence(other) &&
           finding_advice(one) == finding_advice(other);
}

/* The section's bounds become __start_ptds_rules and __stop_ptds_rules. */
#define PTDS_RULE(rule) \
    static const struct rule *const ptds_rule_entry __attribute__((used, section("ptds_rules"))) = &(rule)

#ifdef __cplusplus
}
#endif
#endif

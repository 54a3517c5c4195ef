/* SPDX-License-Identifier: Apache-2.0
 *
 * By which policies what a rule finds would go. A rule declares on what that depends (struct rule, `goes`); where it
 * depends on the call, order_under (model/under.h) decides, call by call. Three answers: where calls of one finding differ,
 * or a call waits for work that stays and for work that goes, it is "maybe".
 *
 * A wait that stays may still get shorter, where the default stream has put what it waits for behind other work.
 */
#ifndef PTDS_ANALYSIS_FINDINGS_REMOVED_BY_POLICY_H
#define PTDS_ANALYSIS_FINDINGS_REMOVED_BY_POLICY_H

#include "analysis/model/model.h"
#include "analysis/order/edge.h"

#ifdef __cplusplus
extern "C" {
#endif

struct finding;

/* What a rule says of its findings. */
enum removed_by {
    REMOVED_UNSAID,       /* nothing: no rule may */
    REMOVED_NEVER,        /* no policy changes it */
    REMOVED_STAYS,        /* likewise, but it is a wait, and what it waits for may be done earlier */
    REMOVED_WITH_WAIT,    /* it is what the host waits for: as far as that is on streams which the policy keeps apart */
    REMOVED_WITH_PART,    /* likewise, but the call itself is found, too, and stays */
    REMOVED_WITH_BARRIER, /* it is the implicit order of the legacy stream with other streams */
    REMOVED_WITH_TURN,    /* it is the turn that threads take on one stream */
    REMOVED_WITH_MOVE,    /* it is that the call stays on the legacy stream */
    REMOVED_WITH_PROMISE, /* it is an order that is gone: the policies that promise it keep it */
    REMOVED_AS_ONE_BUILD, /* it is that some default streams are per thread and some are not: per-thread makes them all so
                           */
    REMOVED_WITH_LEGACY,  /* maybe where it is about the legacy stream, else not */
    REMOVED_WITH_REMAP,   /* maybe where the run's own policy moved work, else not */
    REMOVED_WITH_OTHERS,  /* it depends on what other calls do: maybe */
    REMOVED_WITH_DATA,    /* it is an order that the run's policy keeps because data ask for it */
    REMOVED_BYS
};

/* Under which policies that is asked. The last one: the run's own policy, or guarded, with PTDS_EXPLICIT_LEGACY=remap. */
enum removed_policy {
    REMOVED_UNDER_GUARDED,
    REMOVED_UNDER_PER_THREAD,
    REMOVED_UNDER_STREAM,
    REMOVED_UNDER_REMAP,
    REMOVED_POLICIES
};

enum goes { REMOVED_NOT, REMOVED_MAYBE, REMOVED_SURELY, REMOVED_ANSWERS };

/* By enum removed_policy. Of one call enum goes; of a finding the answers of its calls, a bit for each. */
struct removed_set {
    unsigned char under[REMOVED_POLICIES];
};

extern const char *const removed_policy_names[REMOVED_POLICIES]; /* "guarded", ... */
extern const char *const removed_policy_keys[REMOVED_POLICIES];  /* of JSON: "guarded", "per_thread", ... */
extern const char *const removed_keys[REMOVED_ANSWERS];          /* "no", "maybe", "yes" */

/* Calls that differ to these policies: it submits or not, names a stream of a role, explicitly or not, and stays or not. */
enum { REMOVED_CALLS = 2 * ORDER_ROLES * 4 };

/* What the policies that are asked about make of such calls, for a run of these settings. */
struct removed_policies {
    unsigned of[REMOVED_POLICIES]; /* enum order_policy */
    struct ordered under[REMOVED_POLICIES][REMOVED_CALLS];
    struct removed_set turns[REMOVED_CALLS][4]; /* REMOVED_WITH_TURN, where work is pending on the stream that 1: not every
                                             policy moves, 2: none does */
};
struct removed_policies removed_by_policy_prepare(const struct definitions *defs);

/* The answers for a call that is flagged, between model_enter and model_leave. */
struct removed_set removed_by_policy_of_call(enum removed_by by, const struct removed_policies *policies,
                                             struct model *model, const struct call_view *view);

/* Adds a call's answers to the finding's. finding may be NULL. */
void removed_by_policy_note(struct finding *finding, const struct removed_set *call);

/* Whether what it is about is a wait, which may get shorter where it stays. */
bool removed_by_policy_is_wait(enum removed_by by);

/* What is asked about: a finding, or other calls that have something in common. */
struct removed_question {
    enum removed_by by;
    struct removed_set calls;      /* their answers, a bit for each */
    uint64_t verdicts[VERDICTS];   /* of the orders at these calls; all 0: none is known */
    const struct finding *finding; /* may be NULL */
};
struct removed_question removed_by_policy_question(const struct finding *finding);
/* Adds a call's answers. */
void removed_by_policy_add(struct removed_set *calls, const struct removed_set *call);

/* Whether that is gone under a policy. Where the policy promises order, as far as no result needs it; per-thread drops
 * needed orders like any other. REMOVED_NOT of the run's own policy. */
enum goes removed_by_policy(const struct definitions *defs, const struct removed_question *about,
                            enum removed_policy policy);

#ifdef __cplusplus
}
#endif
#endif

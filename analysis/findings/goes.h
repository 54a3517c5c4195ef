/* SPDX-License-Identifier: Apache-2.0
 *
 * By which policies what a rule finds would go. A rule declares on what that depends (struct rule, `goes`); where it
 * depends on the call, implicit_order_under (model/implicit_order.h) decides, call by call. Three answers: where calls of
 * one finding differ, or a call waits for work that stays and for work that goes, it is "maybe".
 *
 * A wait that stays may still get shorter, where the default stream has put what it waits for behind other work.
 */
#ifndef PTDS_ANALYSIS_FINDINGS_GOES_H
#define PTDS_ANALYSIS_FINDINGS_GOES_H

#include "analysis/model/model.h"
#include "analysis/order/engine/edge.h"

#ifdef __cplusplus
extern "C" {
#endif

struct finding;

/* What a rule says of its findings. */
enum goes_by {
    GOES_UNSAID,       /* nothing: no rule may */
    GOES_NEVER,        /* no policy changes it */
    GOES_STAYS,        /* likewise, but it is a wait, and what it waits for may be done earlier */
    GOES_WITH_WAIT,    /* it is what the host waits for: as far as that is on streams which the policy keeps apart */
    GOES_WITH_PART,    /* likewise, but the call itself is found, too, and stays */
    GOES_WITH_BARRIER, /* it is the implicit order of the legacy stream with other streams */
    GOES_WITH_TURN,    /* it is the turn that threads take on one stream */
    GOES_WITH_MOVE,    /* it is that the call stays on the legacy stream */
    GOES_WITH_PROMISE, /* it is an order that is gone: the policies that promise it keep it */
    GOES_AS_ONE_BUILD, /* it is that some default streams are per thread and some are not: per-thread makes them all so */
    GOES_WITH_LEGACY,  /* maybe where it is about the legacy stream, else not */
    GOES_WITH_REMAP,   /* maybe where the run's own policy moved work, else not */
    GOES_WITH_OTHERS,  /* it depends on what other calls do: maybe */
    GOES_WITH_DATA,    /* it is an order that the run's policy keeps because data ask for it */
    GOES_BYS
};

/* Under which policies that is asked. The last one: the run's own policy, or guarded, with PTDS_EXPLICIT_LEGACY=remap. */
enum goes_policy { GOES_GUARDED, GOES_PER_THREAD, GOES_STREAM, GOES_REMAP, GOES_POLICIES };

enum goes { GOES_NOT, GOES_MAYBE, GOES, GOES_ANSWERS };

/* By enum goes_policy. Of one call enum goes; of a finding the answers of its calls, a bit for each. */
struct goes_set {
    unsigned char under[GOES_POLICIES];
};

extern const char *const goes_policy_names[GOES_POLICIES]; /* "guarded", ... */
extern const char *const goes_policy_keys[GOES_POLICIES];  /* of JSON: "guarded", "per_thread", ... */
extern const char *const goes_keys[GOES_ANSWERS];          /* "no", "maybe", "yes" */

/* Calls that differ to these policies: it submits or not, names a stream of a role, explicitly or not, and stays or not. */
enum { GOES_CALLS = 2 * ORDER_ROLES * 4 };

/* What the policies that are asked about make of such calls, for a run of these settings. */
struct goes_policies {
    unsigned of[GOES_POLICIES]; /* enum order_policy */
    struct ordered under[GOES_POLICIES][GOES_CALLS];
    struct goes_set turns[GOES_CALLS][4]; /* GOES_WITH_TURN, where work is pending on the stream that 1: not every policy
                                             moves, 2: none does */
};
struct goes_policies goes_policies_of(const struct definitions *defs);

/* The answers for a call that is flagged, between model_enter and model_leave. */
struct goes_set goes_of_call(enum goes_by by, const struct goes_policies *policies, struct model *model,
                             const struct call_view *view);

/* Adds a call's answers to the finding's. finding may be NULL. */
void finding_goes_as(struct finding *finding, const struct goes_set *call);

/* Whether what it is about is a wait, which may get shorter where it stays. */
bool goes_is_wait(enum goes_by by);

/* What is asked about: a finding, or other calls that have something in common. */
struct goes_about {
    enum goes_by by;
    struct goes_set calls;         /* their answers, a bit for each */
    uint64_t verdicts[VERDICTS];   /* of the orders at these calls; all 0: none is known */
    const struct finding *finding; /* may be NULL */
};
struct goes_about goes_about_finding(const struct finding *finding);
/* Adds a call's answers. */
void goes_add(struct goes_set *calls, const struct goes_set *call);

/* Whether that is gone under a policy. Where the policy promises order, as far as no result needs it; per-thread drops
 * needed orders like any other. GOES_NOT of the run's own policy. */
enum goes goes_under(const struct definitions *defs, const struct goes_about *about, enum goes_policy policy);

#ifdef __cplusplus
}
#endif
#endif

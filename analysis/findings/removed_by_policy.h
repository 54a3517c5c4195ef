/* SPDX-License-Identifier: Apache-2.0
 *
 * Under which policies the hazard of a finding would be gone. A rule declares on what that depends (struct rule,
 * `removed_by`); where it depends on the call, implicit_order_under (model/under.h) decides, call by call. There are three
 * answers. "Maybe" is the answer where calls of one finding differ, or where a call waits both for work that a policy
 * moves and for work that it does not.
 *
 * A wait that no policy removes may still get shorter, where the default stream has put the work that it waits for
 * behind other work.
 */
#ifndef PTDS_ANALYSIS_FINDINGS_REMOVED_BY_POLICY_H
#define PTDS_ANALYSIS_FINDINGS_REMOVED_BY_POLICY_H

#include "analysis/model/model.h"
#include "analysis/order/engine/edge.h"

#ifdef __cplusplus
extern "C" {
#endif

struct finding;

/* What the answer depends on, as a rule declares it. */
enum removed_by {
    REMOVED_UNSAID,       /* not declared; no rule may leave it so */
    REMOVED_NEVER,        /* no policy changes it */
    REMOVED_STAYS,        /* no policy removes it, but it is a wait, and the work that it waits for may end earlier */
    REMOVED_WITH_WAIT,    /* removed as far as the policy keeps the streams apart that the host waits for */
    REMOVED_WITH_PART,    /* as REMOVED_WITH_WAIT, but the call itself is part of the hazard, and stays */
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

/* The policies that are asked about. The last one: the policy of the run, or guarded, with PTDS_EXPLICIT_LEGACY=remap. */
enum removed_policy {
    REMOVED_UNDER_GUARDED,
    REMOVED_UNDER_PER_THREAD,
    REMOVED_UNDER_STREAM,
    REMOVED_UNDER_REMAP,
    REMOVED_POLICIES
};

enum removed { REMOVED_NOT, REMOVED_MAYBE, REMOVED_SURELY, REMOVED_ANSWERS };

/* By enum removed_policy: of one call its answer (enum removed); of a finding a bit for each answer that its calls
 * gave. */
struct removed_set {
    unsigned char under[REMOVED_POLICIES];
};

extern const char *const removed_policy_names[REMOVED_POLICIES]; /* "guarded", ... */
extern const char *const removed_policy_keys[REMOVED_POLICIES];  /* of JSON: "guarded", "per_thread", ... */
extern const char *const removed_keys[REMOVED_ANSWERS];          /* "no", "maybe", "yes" */

/* The number of kinds of calls that policies treat differently: submits or not, the role of the stream, named
 * explicitly or not, kept or not. */
enum { REMOVED_CALLS = 2 * ORDER_ROLES * 4 };

/* What the policies make of each kind of call, worked out once for the settings of a run. */
struct removed_policies {
    unsigned of[REMOVED_POLICIES]; /* enum order_policy */
    struct ordered under[REMOVED_POLICIES][REMOVED_CALLS];
    struct removed_set turns[REMOVED_CALLS][4]; /* REMOVED_WITH_TURN, where work is pending on the stream that 1: not every
                                             policy moves, 2: none does */
};
struct removed_policies removed_by_policy_prepare(const struct definitions *defs);

/* The answers for a call that a rule flagged; between model_enter and model_leave. */
struct removed_set removed_by_policy_of_call(enum removed_by by, const struct removed_policies *policies,
                                             struct model *model, const struct call_view *view);

/* Adds the answers of a call to those of the finding, which may be NULL. */
void removed_by_policy_note(struct finding *finding, const struct removed_set *call);

/* Whether the hazard is a wait, which may get shorter where no policy removes it. */
bool removed_by_policy_is_wait(enum removed_by by);

/* What the question is about: a finding, or other calls that have something in common. */
struct removed_question {
    enum removed_by by;
    struct removed_set calls;      /* their answers, a bit for each */
    uint64_t verdicts[VERDICTS];   /* of the orders at these calls; all 0: none is known */
    const struct finding *finding; /* may be NULL */
};
struct removed_question removed_by_policy_question(const struct finding *finding);
/* Adds the answers of a call. */
void removed_by_policy_add(struct removed_set *calls, const struct removed_set *call);

/* Whether the hazard is gone under the policy. A policy that promises order removes it as far as no result needs the
 * order; per-thread drops needed orders like any other. REMOVED_NOT for the policy of the run itself. */
enum removed removed_by_policy(const struct definitions *defs, const struct removed_question *about,
                               enum removed_policy policy);

#ifdef __cplusplus
}
#endif
#endif

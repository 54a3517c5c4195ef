/* SPDX-License-Identifier: Apache-2.0
 *
 * Decides what removed_by_policy.h says. Called by report/pass/pass_over_calls.c for calls that a rule flagged and by the
 * aftermath of waits; asked by the views. Must never say that something goes, or stays, where the trace leaves that open.
 */
#include "analysis/findings/removed_by_policy.h"

#include "analysis/findings/rule.h"
#include "analysis/model/model_orders.h"

const char *const removed_policy_names[REMOVED_POLICIES] = {"guarded", "per-thread", "stream",
                                                            "PTDS_EXPLICIT_LEGACY=remap"};
const char *const removed_policy_keys[REMOVED_POLICIES] = {"guarded", "per_thread", "stream", "explicit_legacy_remap"};
const char *const removed_keys[REMOVED_ANSWERS] = {"no", "maybe", "yes"};

static unsigned run_policy(const struct definitions *defs)
{
    return implicit_order_policy(defs) & ~(unsigned)ORDER_REMAPS_EXPLICIT;
}

static bool moves_work(unsigned policy)
{
    return policy >= ORDER_GUARDED && policy < ORDER_POLICIES;
}

/* The orders of a policy that is asked about. */
static unsigned policy_of(const struct definitions *defs, enum removed_policy policy)
{
    unsigned run = run_policy(defs);
    switch (policy) {
    case REMOVED_UNDER_GUARDED: return ORDER_GUARDED;
    case REMOVED_UNDER_PER_THREAD: return ORDER_PER_THREAD;
    case REMOVED_UNDER_STREAM: return run == ORDER_STREAM_NON_BLOCKING ? ORDER_STREAM_NON_BLOCKING : ORDER_STREAM;
    default: return (moves_work(run) ? run : (unsigned)ORDER_GUARDED) | ORDER_REMAPS_EXPLICIT;
    }
}

struct asked {
    unsigned policy;
    struct model *model;
    const struct call_view *view;
    const struct ordered *ordered; /* the call, by the policy */
    struct pending legacy;         /* of barrier_goes: the work before it on legacy streams, whatever the policy */
};

static enum removed both(enum removed one, enum removed other)
{
    return one == other ? one : REMOVED_MAYBE;
}

static bool is_apart(enum order_place place)
{
    return place == ORDER_AT_OWN || place == ORDER_AT_PER_THREAD;
}

/* Whether what is pending on a legacy stream leaves it: not what no policy moves, or only one that moves explicit uses. */
static enum removed legacy_work_leaves(const struct asked *asked, uint32_t slot)
{
    const struct model_stream *stream = &asked->model->streams.items[slot];
    uint64_t last = asked->policy & ORDER_REMAPS_EXPLICIT ? stream->last_kept : stream->last_stays;
    return last > vclock_get(&asked->model->done, slot) ? REMOVED_MAYBE : REMOVED_SURELY;
}

/* Whether the policy removes the wait for the work that is pending on the stream of the call: work of its own thread,
 * of other threads, or of both. */
static enum removed own_removed(const struct asked *asked)
{
    const struct call_view *view = asked->view;
    const struct model_stream *stream = &asked->model->streams.items[view->target];
    bool mine = stream->last_thread == view->call->thread;
    if (stream->kind != PTDS_STREAM_LEGACY && view->asked == view->target)
        return REMOVED_NOT; /* the call names that stream */
    if (!is_apart(asked->ordered->place))
        return REMOVED_NOT;
    if (stream->handed_from > vclock_get(&asked->model->done, view->target))
        return REMOVED_MAYBE;
    return mine ? REMOVED_NOT : legacy_work_leaves(asked, view->target);
}

/* Whether the policy removes the wait for the work that is pending on another stream. */
static enum removed other_removed(const struct asked *asked, uint32_t slot)
{
    const struct call_view *view = asked->view;
    const struct model_stream *stream = &asked->model->streams.items[slot];
    enum order_role role = implicit_order_role(stream->kind);
    if (view->asked != view->target || role == ORDER_ROLE_NONE ||
        order_before(&asked->model->real, slot, stream->last_work, view->target))
        return REMOVED_MAYBE; /* by an event or a wait, of the program's or of the shim's */
    if (asked->ordered->after & ORDER_OF(role))
        return role == ORDER_ROLE_LEGACY ? legacy_work_leaves(asked, slot) : REMOVED_NOT;
    return REMOVED_SURELY;
}

static enum removed wait_goes(const struct asked *asked)
{
    const struct call_view *view = asked->view;
    const struct pending *waits = &view->waits;
    if (view->scope == WAIT_CONTEXT || waits->count == 0)
        return REMOVED_NOT;
    if (view->scope == WAIT_EVENT || view->by_shim || waits->count > PENDING_KEPT || view->target == MODEL_NO_SLOT)
        return REMOVED_MAYBE;
    enum removed all = waits->slot[0] == view->target ? own_removed(asked) : other_removed(asked, waits->slot[0]);
    for (uint32_t i = 1; i < waits->count; i++)
        all = both(all, waits->slot[i] == view->target ? own_removed(asked) : other_removed(asked, waits->slot[i]));
    return all;
}

/* Work on the legacy stream goes to a stream that does not wait for others; or what other streams' work waits for does. */
static enum removed barrier_removed(const struct asked *asked)
{
    const struct call_view *view = asked->view;
    enum removed all = REMOVED_SURELY;
    if (view->target == MODEL_NO_SLOT)
        return REMOVED_MAYBE;
    if (view->target_kind == PTDS_STREAM_LEGACY)
        return asked->ordered->after & ORDER_OF(ORDER_ROLE_BLOCKING) ? REMOVED_NOT : REMOVED_SURELY;
    for (uint32_t i = 0; i < asked->legacy.count && i < PENDING_KEPT; i++)
        all = both(all, legacy_work_leaves(asked, asked->legacy.slot[i]));
    return all;
}

static enum removed call_goes(enum removed_by by, const struct asked *asked)
{
    enum removed wait;
    switch (by) {
    case REMOVED_WITH_WAIT: return wait_goes(asked);
    case REMOVED_WITH_PART: wait = wait_goes(asked); return wait == REMOVED_SURELY ? REMOVED_MAYBE : wait;
    case REMOVED_WITH_BARRIER: return barrier_removed(asked);
    case REMOVED_WITH_MOVE: return asked->ordered->role == ORDER_ROLE_LEGACY ? REMOVED_NOT : REMOVED_SURELY;
    default: return REMOVED_MAYBE; /* said of the finding as a whole */
    }
}

/* The call comes after the work that is pending on its own stream, of which not every policy moves some, or none does. */
static enum removed turn_removed(unsigned policy, enum order_place place, bool some_stays, bool some_kept)
{
    if (!is_apart(place))
        return REMOVED_NOT;
    return (policy & ORDER_REMAPS_EXPLICIT ? some_kept : some_stays) ? REMOVED_MAYBE : REMOVED_SURELY;
}

struct removed_policies removed_by_policy_prepare(const struct definitions *defs)
{
    struct removed_policies policies;
    for (unsigned i = 0; i < REMOVED_POLICIES; i++) {
        unsigned policy = policies.of[i] = policy_of(defs, (enum removed_policy)i);
        for (unsigned at = 0; at < REMOVED_CALLS; at++) {
            struct order_call call = {.act = at & 4 ? ORDER_WAITS : ORDER_SUBMITS,
                                      .named = (enum order_role)(at >> 3),
                                      .explicitly = at & 1,
                                      .stays = (at & 2) != 0};
            policies.under[i][at] = implicit_order_under(policy, &call);
            for (unsigned some = 0; some < 4; some++)
                policies.turns[at][some].under[i] =
                    (unsigned char)turn_removed(policy, policies.under[i][at].place, some & 1, some & 2);
        }
    }
    return policies;
}

/* Where it was sent to does not matter: nobody asks about the run as it was. */
static inline unsigned number_of(const struct order_call *call)
{
    return (unsigned)call->named << 3 | (call->act == ORDER_WAITS ? 4 : 0) | (call->stays ? 2 : 0) |
           (call->explicitly ? 1 : 0);
}

/* Half of all calls of threads that share the legacy stream are asked about, so this is worked out once. */
static struct removed_set turns_of(const struct removed_policies *policies, unsigned at, const struct model *model,
                                   uint32_t slot)
{
    const struct model_stream *stream = &model->streams.items[slot];
    uint64_t done = vclock_get(&model->done, slot);
    return policies->turns[at][(stream->last_stays > done ? 1 : 0) + (stream->last_kept > done ? 2 : 0)];
}

struct removed_set removed_by_policy_of_call(enum removed_by by, const struct removed_policies *policies,
                                             struct model *model, const struct call_view *view)
{
    struct removed_set set;
    struct order_call call = model_orders_call_of(view);
    unsigned at = number_of(&call);
    if (by == REMOVED_WITH_TURN && view->target != MODEL_NO_SLOT)
        return turns_of(policies, at, model, view->target);
    struct asked asked = {.model = model, .view = view};
    if (by == REMOVED_WITH_BARRIER && view->target != MODEL_NO_SLOT && view->target_kind != PTDS_STREAM_LEGACY)
        model_pending(model, view->context, ORDER_OF(ORDER_ROLE_LEGACY), view->target, &asked.legacy);
    for (unsigned i = 0; i < REMOVED_POLICIES; i++) {
        asked.policy = policies->of[i];
        asked.ordered = &policies->under[i][at];
        set.under[i] = (unsigned char)call_goes(by, &asked);
    }
    return set;
}

void removed_by_policy_add(struct removed_set *calls, const struct removed_set *call)
{
    for (unsigned i = 0; i < REMOVED_POLICIES; i++)
        calls->under[i] = (unsigned char)(calls->under[i] | 1u << call->under[i]);
}

void removed_by_policy_note(struct finding *finding, const struct removed_set *call)
{
    if (finding != NULL)
        removed_by_policy_add(&finding->removed_by, call);
}

bool removed_by_policy_is_wait(enum removed_by by)
{
    return by == REMOVED_STAYS || by == REMOVED_WITH_WAIT || by == REMOVED_WITH_PART;
}

/* The one answer of all calls, or "maybe". No call was asked: the finding is about no call, or about calls that waited
 * for nothing. */
static enum removed of_calls(const struct removed_question *about, enum removed_policy policy)
{
    unsigned seen = about->calls.under[policy];
    if (seen == 0)
        return about->by == REMOVED_WITH_MOVE || about->by == REMOVED_WITH_PART ? REMOVED_NOT : REMOVED_MAYBE;
    return seen == 1u << REMOVED_SURELY ? REMOVED_SURELY : seen == 1u << REMOVED_NOT ? REMOVED_NOT : REMOVED_MAYBE;
}

static bool is_about_legacy(const struct definitions *defs, const struct finding *finding)
{
    const struct finding_ids *streams = &finding->sets[FINDING_STREAMS];
    for (uint32_t i = 0; i < streams->count; i++) {
        const struct stream_def *stream = definitions_stream(defs, streams->id[i]);
        if (stream == NULL || stream->kind == PTDS_STREAM_LEGACY)
            return true;
    }
    return streams->more;
}

/* The answer by the declaration of the rule alone. */
static enum removed by_declaration(const struct definitions *defs, const struct removed_question *about,
                                   enum removed_policy policy)
{
    switch (about->by) {
    case REMOVED_NEVER:
    case REMOVED_STAYS: return REMOVED_NOT;
    case REMOVED_WITH_PROMISE:
        return policy != REMOVED_UNDER_REMAP && implicit_order_promises(policy_of(defs, policy)) ? REMOVED_SURELY
                                                                                                 : REMOVED_NOT;
    case REMOVED_WITH_DATA: return implicit_order_promises(policy_of(defs, policy)) ? REMOVED_NOT : REMOVED_SURELY;
    case REMOVED_AS_ONE_BUILD: return policy == REMOVED_UNDER_PER_THREAD ? REMOVED_SURELY : REMOVED_NOT;
    case REMOVED_WITH_LEGACY:
        return about->finding == NULL || is_about_legacy(defs, about->finding) ? REMOVED_MAYBE : REMOVED_NOT;
    case REMOVED_WITH_REMAP: return moves_work(run_policy(defs)) ? REMOVED_MAYBE : REMOVED_NOT;
    case REMOVED_UNSAID:
    case REMOVED_WITH_OTHERS: return REMOVED_MAYBE;
    default: return of_calls(about, policy);
    }
}

/* A policy that promises order keeps as much of it as data ask for. */
static enum removed as_promised(const uint64_t *verdicts)
{
    if (verdicts[VERDICT_NEEDED] == 0 && verdicts[VERDICT_MAYBE_NEEDED] == 0)
        return verdicts[VERDICT_NOT_NEEDED] != 0 ? REMOVED_SURELY : REMOVED_MAYBE;
    return verdicts[VERDICT_MAYBE_NEEDED] == 0 && verdicts[VERDICT_NOT_NEEDED] == 0 ? REMOVED_NOT : REMOVED_MAYBE;
}

static bool is_of_order(enum removed_by by)
{
    return by == REMOVED_WITH_WAIT || by == REMOVED_WITH_PART || by == REMOVED_WITH_BARRIER || by == REMOVED_WITH_TURN;
}

struct removed_question removed_by_policy_question(const struct finding *finding)
{
    struct removed_question about = {.by = finding->rule->removed_by, .calls = finding->removed_by, .finding = finding};
    for (unsigned i = 0; i < VERDICTS; i++)
        about.verdicts[i] = finding->verdicts[i];
    return about;
}

enum removed removed_by_policy(const struct definitions *defs, const struct removed_question *about,
                               enum removed_policy policy)
{
    unsigned asked = policy_of(defs, policy);
    if (asked == implicit_order_policy(defs))
        return REMOVED_NOT; /* the hazard is in the run of this very policy */
    enum removed answer = by_declaration(defs, about, policy);
    return answer == REMOVED_SURELY && is_of_order(about->by) && implicit_order_promises(asked)
               ? as_promised(about->verdicts)
               : answer;
}

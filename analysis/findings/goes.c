/* SPDX-License-Identifier: Apache-2.0
 *
 * Decides what goes.h says. Called by report/pass.c for calls that a rule flagged and by the aftermath of waits; asked by
 * the views. Must never say that something goes, or stays, where the trace leaves that open.
 */
#include "analysis/findings/goes.h"

#include "analysis/findings/rule.h"
#include "analysis/model/model_orders.h"

const char *const goes_policy_names[GOES_POLICIES] = {"guarded", "per-thread", "stream", "PTDS_EXPLICIT_LEGACY=remap"};
const char *const goes_policy_keys[GOES_POLICIES] = {"guarded", "per_thread", "stream", "explicit_legacy_remap"};
const char *const goes_keys[GOES_ANSWERS] = {"no", "maybe", "yes"};

static unsigned run_policy(const struct definitions *defs)
{
    return implicit_order_policy(defs) & ~(unsigned)ORDER_REMAPS_EXPLICIT;
}

static bool moves_work(unsigned policy)
{
    return policy >= ORDER_GUARDED && policy < ORDER_POLICIES;
}

/* The orders of a policy that is asked about. */
static unsigned policy_of(const struct definitions *defs, enum goes_policy policy)
{
    unsigned run = run_policy(defs);
    switch (policy) {
    case GOES_GUARDED: return ORDER_GUARDED;
    case GOES_PER_THREAD: return ORDER_PER_THREAD;
    case GOES_STREAM: return run == ORDER_STREAM_NON_BLOCKING ? ORDER_STREAM_NON_BLOCKING : ORDER_STREAM;
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

static enum goes both(enum goes one, enum goes other)
{
    return one == other ? one : GOES_MAYBE;
}

static bool is_apart(enum order_place place)
{
    return place == ORDER_AT_OWN || place == ORDER_AT_PER_THREAD;
}

/* Whether what is pending on a legacy stream leaves it: not what no policy moves, or only one that moves explicit uses. */
static enum goes legacy_work_leaves(const struct asked *asked, uint32_t slot)
{
    const struct model_stream *stream = &asked->model->streams.items[slot];
    uint64_t last = asked->policy & ORDER_REMAPS_EXPLICIT ? stream->last_kept : stream->last_stays;
    return last > vclock_get(&asked->model->done, slot) ? GOES_MAYBE : GOES;
}

/* The call waits for what is pending on its own stream: its thread's work, others' work, or some of each. */
static enum goes own_goes(const struct asked *asked)
{
    const struct call_view *view = asked->view;
    const struct model_stream *stream = &asked->model->streams.items[view->target];
    bool mine = stream->last_thread == view->call->thread;
    if (stream->kind != PTDS_STREAM_LEGACY && view->asked == view->target)
        return GOES_NOT; /* it names that stream */
    if (!is_apart(asked->ordered->place))
        return GOES_NOT;
    if (stream->handed_from > vclock_get(&asked->model->done, view->target))
        return GOES_MAYBE;
    return mine ? GOES_NOT : legacy_work_leaves(asked, view->target);
}

/* The call waits for what is pending on another stream. */
static enum goes other_goes(const struct asked *asked, uint32_t slot)
{
    const struct call_view *view = asked->view;
    const struct model_stream *stream = &asked->model->streams.items[slot];
    enum order_role role = implicit_order_role(stream->kind);
    if (view->asked != view->target || role == ORDER_ROLE_NONE ||
        order_before(&asked->model->real, slot, stream->last_work, view->target))
        return GOES_MAYBE; /* by an event or a wait, of the program's or of the shim's */
    if (asked->ordered->after & ORDER_OF(role))
        return role == ORDER_ROLE_LEGACY ? legacy_work_leaves(asked, slot) : GOES_NOT;
    return GOES;
}

static enum goes wait_goes(const struct asked *asked)
{
    const struct call_view *view = asked->view;
    const struct pending *waits = &view->waits;
    if (view->scope == WAIT_CONTEXT || waits->count == 0)
        return GOES_NOT;
    if (view->scope == WAIT_EVENT || view->by_shim || waits->count > PENDING_KEPT || view->target == MODEL_NO_SLOT)
        return GOES_MAYBE;
    enum goes all = waits->slot[0] == view->target ? own_goes(asked) : other_goes(asked, waits->slot[0]);
    for (uint32_t i = 1; i < waits->count; i++)
        all = both(all, waits->slot[i] == view->target ? own_goes(asked) : other_goes(asked, waits->slot[i]));
    return all;
}

/* Work on the legacy stream goes to a stream that does not wait for others; or what other streams' work waits for does. */
static enum goes barrier_goes(const struct asked *asked)
{
    const struct call_view *view = asked->view;
    enum goes all = GOES;
    if (view->target == MODEL_NO_SLOT)
        return GOES_MAYBE;
    if (view->target_kind == PTDS_STREAM_LEGACY)
        return asked->ordered->after & ORDER_OF(ORDER_ROLE_BLOCKING) ? GOES_NOT : GOES;
    for (uint32_t i = 0; i < asked->legacy.count && i < PENDING_KEPT; i++)
        all = both(all, legacy_work_leaves(asked, asked->legacy.slot[i]));
    return all;
}

static enum goes call_goes(enum goes_by by, const struct asked *asked)
{
    enum goes wait;
    switch (by) {
    case GOES_WITH_WAIT: return wait_goes(asked);
    case GOES_WITH_PART: wait = wait_goes(asked); return wait == GOES ? GOES_MAYBE : wait;
    case GOES_WITH_BARRIER: return barrier_goes(asked);
    case GOES_WITH_MOVE: return asked->ordered->role == ORDER_ROLE_LEGACY ? GOES_NOT : GOES;
    default: return GOES_MAYBE; /* said of the finding as a whole */
    }
}

/* The call comes after the work that is pending on its own stream, of which not every policy moves some, or none does. */
static enum goes turn_goes(unsigned policy, enum order_place place, bool some_stays, bool some_kept)
{
    if (!is_apart(place))
        return GOES_NOT;
    return (policy & ORDER_REMAPS_EXPLICIT ? some_kept : some_stays) ? GOES_MAYBE : GOES;
}

struct goes_policies goes_policies_of(const struct definitions *defs)
{
    struct goes_policies policies;
    for (unsigned i = 0; i < GOES_POLICIES; i++) {
        unsigned policy = policies.of[i] = policy_of(defs, (enum goes_policy)i);
        for (unsigned at = 0; at < GOES_CALLS; at++) {
            struct order_call call = {.act = at & 4 ? ORDER_WAITS : ORDER_SUBMITS,
                                      .named = (enum order_role)(at >> 3),
                                      .explicitly = at & 1,
                                      .stays = (at & 2) != 0};
            policies.under[i][at] = implicit_order_under(policy, &call);
            for (unsigned some = 0; some < 4; some++)
                policies.turns[at][some].under[i] =
                    (unsigned char)turn_goes(policy, policies.under[i][at].place, some & 1, some & 2);
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
static struct goes_set turns_of(const struct goes_policies *policies, unsigned at, const struct model *model, uint32_t slot)
{
    const struct model_stream *stream = &model->streams.items[slot];
    uint64_t done = vclock_get(&model->done, slot);
    return policies->turns[at][(stream->last_stays > done ? 1 : 0) + (stream->last_kept > done ? 2 : 0)];
}

struct goes_set goes_of_call(enum goes_by by, const struct goes_policies *policies, struct model *model,
                             const struct call_view *view)
{
    struct goes_set set;
    struct order_call call = model_orders_call_of(view);
    unsigned at = number_of(&call);
    if (by == GOES_WITH_TURN && view->target != MODEL_NO_SLOT)
        return turns_of(policies, at, model, view->target);
    struct asked asked = {.model = model, .view = view};
    if (by == GOES_WITH_BARRIER && view->target != MODEL_NO_SLOT && view->target_kind != PTDS_STREAM_LEGACY)
        model_pending(model, view->context, ORDER_OF(ORDER_ROLE_LEGACY), view->target, &asked.legacy);
    for (unsigned i = 0; i < GOES_POLICIES; i++) {
        asked.policy = policies->of[i];
        asked.ordered = &policies->under[i][at];
        set.under[i] = (unsigned char)call_goes(by, &asked);
    }
    return set;
}

void goes_add(struct goes_set *calls, const struct goes_set *call)
{
    for (unsigned i = 0; i < GOES_POLICIES; i++)
        calls->under[i] = (unsigned char)(calls->under[i] | 1u << call->under[i]);
}

void finding_goes_as(struct finding *finding, const struct goes_set *call)
{
    if (finding != NULL)
        goes_add(&finding->goes, call);
}

bool goes_is_wait(enum goes_by by)
{
    return by == GOES_STAYS || by == GOES_WITH_WAIT || by == GOES_WITH_PART;
}

/* All calls of one answer, or it depends. None was asked: it is about no call that can be, or one that waited for nothing.
 */
static enum goes of_calls(const struct goes_about *about, enum goes_policy policy)
{
    unsigned seen = about->calls.under[policy];
    if (seen == 0)
        return about->by == GOES_WITH_MOVE || about->by == GOES_WITH_PART ? GOES_NOT : GOES_MAYBE;
    return seen == 1u << GOES ? GOES : seen == 1u << GOES_NOT ? GOES_NOT : GOES_MAYBE;
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

/* Without a look at what results need. */
static enum goes by_declaration(const struct definitions *defs, const struct goes_about *about, enum goes_policy policy)
{
    switch (about->by) {
    case GOES_NEVER:
    case GOES_STAYS: return GOES_NOT;
    case GOES_WITH_PROMISE:
        return policy != GOES_REMAP && implicit_order_promises(policy_of(defs, policy)) ? GOES : GOES_NOT;
    case GOES_WITH_DATA: return implicit_order_promises(policy_of(defs, policy)) ? GOES_NOT : GOES;
    case GOES_AS_ONE_BUILD: return policy == GOES_PER_THREAD ? GOES : GOES_NOT;
    case GOES_WITH_LEGACY: return about->finding == NULL || is_about_legacy(defs, about->finding) ? GOES_MAYBE : GOES_NOT;
    case GOES_WITH_REMAP: return moves_work(run_policy(defs)) ? GOES_MAYBE : GOES_NOT;
    case GOES_UNSAID:
    case GOES_WITH_OTHERS: return GOES_MAYBE;
    default: return of_calls(about, policy);
    }
}

/* A policy that promises order keeps as much of it as data ask for. */
static enum goes as_promised(const uint64_t *verdicts)
{
    if (verdicts[VERDICT_NEEDED] == 0 && verdicts[VERDICT_MAYBE_NEEDED] == 0)
        return verdicts[VERDICT_NOT_NEEDED] != 0 ? GOES : GOES_MAYBE;
    return verdicts[VERDICT_MAYBE_NEEDED] == 0 && verdicts[VERDICT_NOT_NEEDED] == 0 ? GOES_NOT : GOES_MAYBE;
}

static bool is_of_order(enum goes_by by)
{
    return by == GOES_WITH_WAIT || by == GOES_WITH_PART || by == GOES_WITH_BARRIER || by == GOES_WITH_TURN;
}

struct goes_about goes_about_finding(const struct finding *finding)
{
    struct goes_about about = {.by = finding->rule->goes, .calls = finding->goes, .finding = finding};
    for (unsigned i = 0; i < VERDICTS; i++)
        about.verdicts[i] = finding->verdicts[i];
    return about;
}

enum goes goes_under(const struct definitions *defs, const struct goes_about *about, enum goes_policy policy)
{
    unsigned asked = policy_of(defs, policy);
    if (asked == implicit_order_policy(defs))
        return GOES_NOT; /* it is there */
    enum goes answer = by_declaration(defs, about, policy);
    return answer == GOES && is_of_order(about->by) && implicit_order_promises(asked) ? as_promised(about->verdicts)
                                                                                      : answer;
}

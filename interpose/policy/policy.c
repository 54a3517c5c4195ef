/* SPDX-License-Identifier: Apache-2.0
 *
 * Chooses the policy and decides, for every call with a stream, whether the policy is asked at all. Called by the wrappers.
 * Must never put work on a stream with less order than the program asked for without the policy having promised it: every
 * doubt keeps the legacy stream, which orders with everything.
 */
#include "interpose/policy/policy.h"

#include "interpose/driver/driver.h"
#include "interpose/env/env.h"
#include "interpose/footprint/memories/memory_object.h"
#include "interpose/footprint/operations/event_uids.h"
#include "interpose/guard/carry_out/pool_streams.h"
#include "interpose/guard/carry_out/program_event.h"
#include "interpose/guard/carry_out/wait_deferred.h"
#include "interpose/guard/object_changes.h"
#include "interpose/guard/repeat_launch.h"
#include "interpose/guard/guard.h"
#include "interpose/guard/decide/queue_share.h"
#include "interpose/policy/callers.h"
#include "interpose/state/capture.h"
#include "interpose/state/contexts.h"
#include "interpose/state/hooks.h"
#include "interpose/state/streams.h"

struct routing routing = {.policy = &policy_none};

static void graph_event(CUevent event, int waits)
{
    if (!waits)
        event_uids_in_graph(event);
    if (guard_on)
        program_event_in_graph(event, waits);
}

void policy_at_init(void)
{
    if (!guard_on)
        return;
    queue_share_ask_for_more();
    queue_share_limit();
}

void policy_choose(void)
{
    static const struct policy *const chosen[] = {
#define POLICY(identifier, word, then) &policy_##identifier,
#include "interpose/env/policies.def"
    };
    const struct env *env = env_get();
    routing.remap_explicit = env->remap_explicit != 0;
    routing.filter = callers_filter_on() != 0;
    const struct policy *policy = chosen[env->policy];
    routing.quick = policy->quick && env->lanes <= 1 && !routing.filter;
    guard_on = policy->guards && !env->disable;
    guard_state.order.strict = policy->orders_all != 0;
    if (guard_on)
        queue_share_limit();
    memory_object_gone = guard_on ? object_changes_memory_gone : NULL;
    state_hooks.context_current = policy->context;
    state_hooks.context_ended = policy->guards ? object_changes_context_ended : NULL;
    state_hooks.stream_leaves = policy->stream_gone;
    state_hooks.stream_captures = policy->guards ? object_changes_capture_takes : NULL;
    state_hooks.graph_event = graph_event;
    state_hooks.event_elsewhere = policy->guards ? program_event_recorded_elsewhere : NULL;
    state_hooks.memory_leaves = guard_on ? wait_deferred_memory_leaves : NULL;
    state_hooks.memory_shown = guard_on ? wait_deferred_memory_shown : NULL;
    state_hooks.thread_ends = policy->guards ? object_changes_thread_ends : NULL;
    __atomic_store_n(&routing.policy, policy, __ATOMIC_RELEASE);
}

/* 0 if the call has to stay on the legacy stream, with the reason in its flags. */
static int may_remap(struct call *C)
{
    if (!policy_current()->remaps || !C->context)
        return 0;
    if ((C->flags & PTDS_CALL_EXPLICIT) && !routing.remap_explicit)
        return 0;
    if (C->context->kind == PTDS_CONTEXT_GREEN || (routing.filter && callers_excluded(C->caller))) {
        C->flags |= PTDS_CALL_KEPT_EXCLUDED;
        return 0;
    }
    if (capture_blocks_legacy(C->context)) {
        C->flags |= PTDS_CALL_KEPT_CAPTURE;
        return 0;
    }
    return 1;
}

static void stays(struct call *C)
{
    if (guard_on && C->context)
        guard_legacy_work(C);
}

static CUstream route_legacy(struct call *C, CUstream named, int implicit)
{
    C->flags |= PTDS_CALL_LEGACY;
    C->context = contexts_now(C->thread);
    C->target = named;
    if (C->context)
        C->stream_uid = C->target_uid = C->context->legacy_uid;
    if (may_remap(C))
        policy_current()->legacy(C, implicit);
    else
        stays(C);
    if (C->target_uid != C->stream_uid)
        C->flags |= PTDS_CALL_REMAPPED;
    return C->target;
}

static void route_per_thread(struct call *C)
{
    C->context = contexts_now(C->thread);
    C->target = CU_STREAM_PER_THREAD;
    struct thread_context *here = C->context ? thread_in(C->thread, C->context) : NULL;
    if (here)
        C->stream_uid = C->target_uid = here->per_thread_uid;
    if (capture_has_per_thread(C->thread))
        C->flags |= PTDS_CALL_CAPTURING;
    if (guard_on)
        guard_per_thread_work(C);
}

static void route_created(struct call *C, CUstream named)
{
    /* Where neither the recorder nor the policy looks at created streams, their creation was not seen either, and to ask
     * the driver about one could end a capture. */
    if (!C->enter && !policy_current()->created)
        return;
    C->stream = streams_get(C->thread, named);
    C->target = named;
    if (!C->stream)
        return;
    C->context = C->stream->context;
    C->stream_uid = C->target_uid = C->stream->uid;
    if (C->stream->capturing)
        C->flags |= PTDS_CALL_CAPTURING;
    if (policy_current()->created)
        policy_current()->created(C);
}

CUstream policy_route(struct call *C, CUstream named)
{
    if (named == NULL && routing.quick && !C->twin && repeat_launch_work(C))
        return C->target;
    if (capture_any())
        C->flags |= PTDS_CALL_CAPTURE_OPEN;
    if (named == CU_STREAM_LEGACY)
        C->flags |= PTDS_CALL_EXPLICIT;
    if (named == CU_STREAM_LEGACY || (named == NULL && !C->twin))
        return route_legacy(C, named, 0);
    if (named == CU_STREAM_PER_THREAD || named == NULL)
        route_per_thread(C);
    else
        route_created(C, named);
    return named;
}

CUstream policy_route_keep(struct call *C, CUstream named)
{
    if (named != CU_STREAM_LEGACY && (named != NULL || C->twin))
        return policy_route(C, named);
    C->flags |= PTDS_CALL_LEGACY | PTDS_CALL_KEPT_REFUSED;
    C->context = contexts_now(C->thread);
    if (C->context)
        C->stream_uid = C->target_uid = C->context->legacy_uid;
    stays(C);
    return named;
}

void policy_route_implicit(struct call *C)
{
    C->flags |= PTDS_CALL_IMPLICIT;
    if (capture_any())
        C->flags |= PTDS_CALL_CAPTURE_OPEN;
    if (C->twin)
        route_per_thread(C);
    else
        route_legacy(C, NULL, 1);
}

void policy_route_legacy(struct call *C)
{
    C->flags |= PTDS_CALL_IMPLICIT | PTDS_CALL_LEGACY | PTDS_CALL_KEPT_NO_WAY;
    C->context = contexts_now(C->thread);
    if (C->context)
        C->stream_uid = C->target_uid = C->context->legacy_uid;
    stays(C);
}

struct attribute {
    CUstreamAttrID id;
    const CUstreamAttrValue *value;
};

static void set_on_lane(CUstream lane, void *data)
{
    const struct attribute *attribute = data;
    ASK(REAL(cuStreamSetAttribute)(lane, attribute->id, attribute->value));
}

void policy_attribute_set(struct call *C, CUstreamAttrID attribute, const CUstreamAttrValue *value)
{
    struct attribute set = {attribute, value};
    if (guard_on && C->result == CUDA_SUCCESS && (C->flags & PTDS_CALL_LEGACY) && C->context)
        pool_streams_each(C->context, set_on_lane, &set);
}

static void copy_to_lane(CUstream lane, void *from)
{
    ASK(REAL(cuStreamCopyAttributes)(lane, (CUstream)from));
}

void policy_attributes_copied(struct call *C, CUstream to, CUstream from)
{
    int to_default = to == CU_STREAM_LEGACY || (to == NULL && !C->twin);
    if (from == NULL && C->twin)
        from = CU_STREAM_PER_THREAD;
    if (guard_on && C->result == CUDA_SUCCESS && to_default)
        pool_streams_each(contexts_now(C->thread), copy_to_lane, from);
}

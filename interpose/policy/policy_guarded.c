/* SPDX-License-Identifier: Apache-2.0
 *
 * Policy guarded, the default: each thread's default-stream work goes to streams of its own, and the guard keeps legacy
 * order where data asks for it. The streams are blocking ones: work that stays on the real legacy stream orders with them,
 * as it would with the default stream.
 */
#include "interpose/policy/policy_guarded.h"

#include "interpose/env/env.h"
#include "interpose/guard/carry_out/pool_streams.h"
#include "interpose/guard/guard.h"
#include "interpose/policy/policy.h"

void policy_guarded_context(struct call *C, struct context *context)
{
    if (context->handle && context->kind != PTDS_CONTEXT_GREEN)
        pool_streams_make(context, pool_streams_wanted(C->thread, context, env_get()->lanes), CU_STREAM_DEFAULT, 0, 0);
}

void policy_guarded_legacy(struct call *C, int implicit)
{
    if (!pool_streams_are_made(C->context) || !pool_streams_thread_has(C->thread, C->context))
        policy_guarded_context(C, C->context);
    guard_default_work(C, implicit, env_get()->lanes);
}

const struct policy policy_guarded = {
    .name = "guarded",
    .sentence = "gives each thread's default-stream work streams of its own and keeps legacy order where data asks for it",
    .gives_up = "nothing",
    .remaps = 1,
    .legacy = policy_guarded_legacy,
    .context = policy_guarded_context,
    .created = guard_stream_work,
    .wants_footprint = 1,
    .quick = 1,
    .guards = 1,
};

/* SPDX-License-Identifier: Apache-2.0
 *
 * Policy stream: all default-stream work of a context on one stream that the shim makes there (or that the program names
 * through ptds.h), with legacy order kept by the guard where data asks for it.
 *
 * The stream is made when the context becomes current, never inside a capture; until it exists work stays on the legacy
 * stream. It is not destroyed: it goes with its context.
 */
#include "interpose/env/env.h"
#include "interpose/guard/carry_out/pool_streams.h"
#include "interpose/guard/guard.h"
#include "interpose/policy/policy.h"
#include "interpose/policy/target.h"
#include "interpose/state/streams.h"

/* A context that has just become current may not be ready (cudart's, before its first use): the first work tries again. */
static void make(struct call *C, struct context *context)
{
    const struct env_stream *wish = &env_get()->stream;
    (void)C;
    if (context->handle && context->kind != PTDS_CONTEXT_GREEN)
        pool_streams_make(context, 1, wish->non_blocking ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT, wish->has_priority,
                         wish->priority);
}

/* A stream of the program's own, where it belongs to the current context. What goes to one that is capturing would not
 * run. */
static struct stream *chosen_by_program(struct call *C)
{
    CUstream handle = target_of(C->thread);
    struct stream *stream = handle ? streams_get(C->thread, handle) : NULL;
    return stream && !stream->gone && !stream->capturing && stream->context == C->context ? stream : NULL;
}

static void legacy(struct call *C, int implicit)
{
    struct stream *own = chosen_by_program(C);
    if (!pool_streams_are_made(C->context))
        make(C, C->context);
    if (own)
        guard_default_work_on(C, implicit, own);
    else
        guard_default_work(C, implicit, 1);
}

const struct policy policy_stream = {
    .name = "stream",
    .sentence = "puts all default-stream work of a context on one stream, see PTDS_STREAM, and keeps legacy order",
    .gives_up = "nothing",
    .remaps = 1,
    .legacy = legacy,
    .context = make,
    .stream_gone = target_forget,
    .created = guard_stream_work,
    .wants_footprint = 1,
    .guards = 1,
};

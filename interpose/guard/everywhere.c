/* SPDX-License-Identifier: Apache-2.0
 *
 * A call of which nothing is known: on which streams it puts work, what that touches, which events it records. So it takes
 * part in the order of every stream that it can name, as work that touches everything. Called by doors/forward.c before the
 * call and after it; no turn is held over the call itself, which may block the host. Must keep errno.
 *
 * It is registered twice. What the call does lies between the two, so whoever comes after the second comes after it, also
 * where another thread recorded a mark on one of the streams while the call had not reached the driver yet.
 */
#include "interpose/guard/everywhere.h"

#include "interpose/guard/carry_out/issue.h"
#include "interpose/guard/carry_out/kinds.h"
#include "interpose/guard/carry_out/pool.h"
#include "interpose/guard/carry_out/program_event.h"
#include "interpose/guard/carry_out/register.h"
#include "interpose/guard/carry_out/turn.h"
#include "interpose/guard/decide/repeat_rights.h"
#include "interpose/guard/guard.h"
#include "interpose/state/capture.h"
#include "interpose/state/contexts.h"
#include "interpose/state/streams.h"

/* 0: the host has waited for all work instead, and nothing else is to be done. */
static int take_part(struct call *C, const struct where *where)
{
    C->guarded = (struct guarded){.kind = GUARD_WORK};
    C->context = where->context;
    C->touched.count = 0;
    C->touched.host = 0;
    C->touched.opaque = OPAQUE_OTHER;
    int lane = register_begin(C, where);
    turn_end(C);
    register_none(C);
    return lane != REGISTER_NO_LANE || !guard_all_is_done(C);
}

/* Blocking streams come after the legacy stream's waits and before its marks by themselves. One that nobody has seen at
 * work is left to that: so it takes no lane, and the driver does not hear of a 0x2 that the program may never use. */
static int on_created(struct call *C, struct context *context, int by_legacy)
{
    enum { AT_A_TIME = 64 };
    struct stream *streams[AT_A_TIME];
    unsigned next = 0, count;
    while ((count = streams_of(context, &next, streams, AT_A_TIME))) {
        for (unsigned i = 0; i < count; i++) {
            const struct where where = {.on = ON_STREAM_UNNAMED, .stream = streams[i], .context = context};
            int unseen = streams[i]->kind == PTDS_STREAM_BLOCKING && !__atomic_load_n(&streams[i]->lane, __ATOMIC_RELAXED);
            if (!(unseen && by_legacy) && !take_part(C, &where))
                return 0;
        }
    }
    return 1;
}

static int on_own(struct call *C, struct context *context, int by_legacy)
{
    const struct where where = {.on = ON_OWN, .context = context, .here = thread_in(C->thread, context)};
    if (!where.here || capture_has_per_thread(C->thread) || (by_legacy && !where.here->own_lane))
        return 1;
    return take_part(C, &where);
}

static int on_legacy(struct call *C, struct context *context)
{
    const struct where where = {.on = ON_LEGACY, .context = context};
    return take_part(C, &where);
}

void everywhere_take_part(struct call *C)
{
    struct context *context = guard_on ? contexts_now(C->thread) : NULL;
    if (!context || !context->handle || context->kind == PTDS_CONTEXT_GREEN || !pool_of(context))
        return;
    lock_take(&guard_state.lock); /* who looks at an event there finds all of it as it was, or as it is from now on */
    __atomic_add_fetch(&guard_unseen_calls, 1, __ATOMIC_RELAXED);
    lock_drop(&guard_state.lock);
    /* In a blocking capture calls on the legacy stream fail, and nothing of ours may touch it. */
    const int by_legacy = !capture_blocks_legacy(context);
    if (on_created(C, context, by_legacy) && on_own(C, context, by_legacy) && by_legacy)
        on_legacy(C, context);
}

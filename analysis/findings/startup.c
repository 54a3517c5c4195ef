/* SPDX-License-Identifier: Apache-2.0
 *
 * Adds up what startup.h says. Driven by the report's pass; costs one comparison a call once the program has begun.
 */
#include "analysis/findings/startup.h"

static bool kind_of(const struct call_view *view, enum startup_kind *kind)
{
    uint64_t memory;
    switch (view->call->r.op) {
    case PTDS_OP_ALLOC:
        memory = call_word(view->call, 2);
        *kind = memory == PTDS_MEMORY_PINNED || memory == PTDS_MEMORY_REGISTERED ? STARTUP_PIN : STARTUP_ALLOC;
        return true;
    case PTDS_OP_MODULE_LOAD:
    case PTDS_OP_FUNCTION_LOAD: *kind = STARTUP_LOAD; return true;
    default: return false;
    }
}

void startup_look_now(struct startup *startup, const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    enum startup_kind kind;
    if (view->work && (call->op == PTDS_OP_LAUNCH || call->op == PTDS_OP_GRAPH_LAUNCH)) {
        startup->over = true;
        startup->over_at = call->enter;
    } else if (view->succeeded && kind_of(view, &kind)) {
        startup->calls[kind]++;
        startup->ns[kind] += view->ns;
    }
}

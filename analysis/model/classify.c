/* SPDX-License-Identifier: Apache-2.0
 *
 * What a call does to the model: is it work, what may it wait for, what is complete when it returns. Measured on a driver
 * of CUDA 13.0; where that driver was not asked, the call may wait (the clock will tell) but completes nothing. Called by
 * model_enter only; must not look at times.
 */
#include "analysis/model/classify.h"

#include <string.h>

#include "analysis/base/hints.h"
#include "analysis/model/model.h"

enum { LIMIT_STACK_SIZE = 0 };

bool classify_is_host_memory(unsigned kind)
{
    return kind == PTDS_MEMORY_PAGEABLE || kind == PTDS_MEMORY_PINNED || kind == PTDS_MEMORY_REGISTERED;
}

#define OP(op) (UINT64_C(1) << (op))
static inline bool is_work(unsigned op)
{
    static const uint64_t works = OP(PTDS_OP_LAUNCH) | OP(PTDS_OP_COPY) | OP(PTDS_OP_MEMSET) | OP(PTDS_OP_HOST_FUNCTION) |
                                  OP(PTDS_OP_GRAPH_LAUNCH) | OP(PTDS_OP_WAIT_VALUE) | OP(PTDS_OP_WRITE_VALUE) |
                                  OP(PTDS_OP_ALLOC_ASYNC) | OP(PTDS_OP_FREE_ASYNC) | OP(PTDS_OP_PREFETCH) |
                                  OP(PTDS_OP_ATTACH) | OP(PTDS_OP_OPAQUE);
    return op < 64 && (works >> op & 1);
}

static bool named(const struct call_view *view, const char *part)
{
    return view->api != NULL && view->api->text != NULL && strstr(view->api->text, part) != NULL;
}

struct sides {
    bool to_host, from_host, to_pageable, from_pageable, unsure;
};

static struct sides copy_sides(const struct call_view *view)
{
    unsigned to = view->call->r.kinds & 15, from = view->call->r.kinds >> 4;
    struct sides sides = {.to_host = classify_is_host_memory(to) || named(view, "toH"),
                          .from_host = classify_is_host_memory(from) || named(view, "MemcpyHto"),
                          .to_pageable = to == PTDS_MEMORY_PAGEABLE,
                          .from_pageable = from == PTDS_MEMORY_PAGEABLE};
    sides.unsure = to == PTDS_MEMORY_MANAGED || from == PTDS_MEMORY_MANAGED ||
                   (to == PTDS_MEMORY_UNKNOWN && from == PTDS_MEMORY_UNKNOWN);
    return sides;
}

static void set(struct call_view *view, enum wait_scope scope, bool completes)
{
    view->scope = scope;
    view->completes = completes && view->succeeded;
}

/* The forms without a stream argument return when everything before them on the stream, and they themselves, are done, if
 * host memory takes part; between device memory they do not wait. The async forms wait for pageable targets only. */
static RARE void classify_copy(struct call_view *view)
{
    struct sides sides = copy_sides(view);
    uint32_t flags = view->call->r.flags;
    if (flags & PTDS_CALL_CAPTURING)
        return;
    if (flags & PTDS_CALL_IMPLICIT) {
        if (sides.to_host || sides.from_host)
            set(view, WAIT_STREAM, true);
        else if (sides.unsure)
            set(view, WAIT_STREAM, false);
        view->staged = sides.from_pageable && !sides.to_host;
        view->own_only = view->staged && (flags & PTDS_CALL_TWIN);
    } else if (sides.to_pageable && !sides.from_host) {
        set(view, WAIT_STREAM, true);
    } else if (sides.to_pageable || sides.from_pageable || sides.unsure) {
        set(view, WAIT_STREAM, false);
    }
}

static RARE void classify_memset(struct call_view *view)
{
    if ((view->call->r.flags & PTDS_CALL_IMPLICIT) && classify_is_host_memory(view->call->r.kinds & 15))
        set(view, WAIT_STREAM, true);
}

/* Of calls that put nothing on a stream, or wait by what they are. */
static RARE void classify_wait(struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    switch (call->op) {
    case PTDS_OP_STREAM_SYNC: set(view, WAIT_STREAM, true); break;
    case PTDS_OP_STREAM_QUERY:
        view->completes = view->succeeded;
        view->scope = view->succeeded ? WAIT_STREAM : WAIT_NONE;
        break;
    case PTDS_OP_EVENT_SYNC: set(view, WAIT_EVENT, true); break;
    case PTDS_OP_EVENT_QUERY:
        view->completes = view->succeeded;
        view->scope = view->succeeded ? WAIT_EVENT : WAIT_NONE;
        break;
    case PTDS_OP_FREE:
    case PTDS_OP_FREE_HOST:
    case PTDS_OP_UNREGISTER:
    case PTDS_OP_ARRAY_DESTROY:
        if (call_word(view->call, 0) != 0)
            set(view, WAIT_CONTEXT, true);
        break;
    case PTDS_OP_CTX_LIMIT:
        if (call_word(view->call, 0) == LIMIT_STACK_SIZE)
            set(view, WAIT_CONTEXT, true);
        break;
    case PTDS_OP_CTX_SYNC:
    case PTDS_OP_CTX_DESTROY: set(view, WAIT_CONTEXT, true); break;
    case PTDS_OP_MODULE_LOAD:
    case PTDS_OP_MODULE_UNLOAD:
    case PTDS_OP_FUNCTION_LOAD: set(view, WAIT_CONTEXT, false); break; /* it may only have loaded */
    default: break;
    }
}

static RARE void classify_shim_wait(struct call_view *view)
{
    set(view, WAIT_STREAM, true);
    view->by_shim = true;
}

void classify_call(struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    view->succeeded = call->result == 0;
    bool runs = view->succeeded && !(call->flags & PTDS_CALL_CAPTURING) && view->target != MODEL_NO_SLOT;
    view->work = runs && is_work(call->op);
    view->submits = view->work || (runs && (call->op == PTDS_OP_EVENT_RECORD || call->op == PTDS_OP_EVENT_WAIT));
    view->legacy = view->submits && view->target_kind == PTDS_STREAM_LEGACY;
    if (call->op == PTDS_OP_COPY)
        classify_copy(view);
    else if (call->op == PTDS_OP_MEMSET)
        classify_memset(view);
    else if (call->op >= PTDS_OP_STREAM_SYNC)
        classify_wait(view);
    if ((call->flags & PTDS_CALL_SHIM_WAIT) && view->scope == WAIT_NONE)
        classify_shim_wait(view);
    if (view->target == MODEL_NO_SLOT && view->scope == WAIT_STREAM)
        set(view, WAIT_NONE, false);
}

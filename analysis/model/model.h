/* SPDX-License-Identifier: Apache-2.0
 *
 * What was going on when each call was made. The model is fed the calls in order and answers, for the call at hand: which
 * streams still had work that nobody is known to have waited for, what the call may have waited for and how long it lost,
 * and (order.h) who comes before whom.
 *
 * "Pending" means: submitted, and not known to be complete by any synchronisation that had returned. It is knowledge, not
 * observation: the work may have ended unnoticed. Only a call that took longer than its quick baseline is said to have
 * blocked.
 *
 * Memory goes with live streams, threads and events, not with the number of calls.
 */
#ifndef PTDS_ANALYSIS_MODEL_MODEL_H
#define PTDS_ANALYSIS_MODEL_MODEL_H

#include "analysis/base/id_map.h"
#include "analysis/model/completion.h"
#include "analysis/model/hold.h"
#include "analysis/model/order.h"
#include "analysis/trace/device_runs.h"
#include "analysis/trace/trace.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct device_run;
struct edge_pair;

#define MODEL_NO_SLOT UINT32_MAX

/* The most streams at a time: clocks take the square of it, and a damaged trace may name any number. */
enum { MODEL_MOST_STREAMS = 4096, MODEL_CLASS_BITS = 8 };

struct model_stream {
    uint64_t key;                     /* in slot_by_uid: the uid; of another policy's streams model_slots.c */
    uint32_t uid, kind;               /* enum ptds_stream_kind */
    uint32_t context;                 /* position */
    uint64_t ended;                   /* ticks, UINT64_MAX: not known to end */
    uint64_t last_work;               /* the last operation that is work, 0 none */
    uint64_t handed_from;             /* ... before those of last_thread that are its last, 0 none */
    uint64_t last_stays;              /* ... on the legacy stream that not every policy moves, 0 none */
    uint64_t last_kept;               /* ... that no policy moves, 0 none */
    uint64_t last_untimed, gpu_until; /* its last work, if that has no time on the GPU; ns: when the rest has run */
    uint32_t last_thread, last_stack, last_object; /* of that operation; object: a kernel's uid or 0 */
    bool open, busy;                               /* busy: in its context's list */
};

struct model_context {
    TABLE_OF(uint32_t) busy;           /* slots that may have work pending */
    uint32_t busy_of[ORDER_ROLES];     /* of them, by role */
    uint32_t none_before[ORDER_ROLES]; /* so many at the beginning of the list have another role */
    uint64_t looked_at;                /* the call at which all of them had */
    uint32_t uid;
    uint64_t legacy_work; /* operations that really reached its legacy stream */
};

/* No policy moves the call. */
#define PTDS_CALL_KEPT (PTDS_CALL_KEPT_CAPTURE | PTDS_CALL_KEPT_REFUSED | PTDS_CALL_KEPT_EXCLUDED | PTDS_CALL_KEPT_NO_WAY)

/* Streams, by uid. `count` may be more than the ids kept. */
enum { PENDING_KEPT = 8 };
struct pending {
    uint32_t count;
    uint32_t slot[PENDING_KEPT];
};

enum wait_scope { WAIT_NONE, WAIT_STREAM, WAIT_EVENT, WAIT_CONTEXT };

/* What a call is to the model; filled by model_enter. */
struct call_view {
    const struct call *call;
    uint64_t number;                  /* of calls, rising: that of the operation that it submits */
    const struct api_def *api;        /* NULL if the trace does not name it */
    uint32_t thread;                  /* position */
    uint32_t context;                 /* position */
    uint32_t asked, target;           /* slots, MODEL_NO_SLOT where the call names no stream */
    uint32_t asked_kind, target_kind; /* enum ptds_stream_kind */
    uint32_t alike;                   /* calls of one number differ in times, object, stack and words only; 0: any call */
    bool plain;                       /* a launch that waits for nothing and is not timed */
    bool again;                       /* ... and the last that was put on any stream was one of its class, and nobody has
                                       * waited since: so nothing is new to its stream or its thread */
    bool succeeded;
    bool work;             /* it put work on a stream that really runs (not into a capture) */
    bool submits;          /* work, or an event operation on a stream */
    bool legacy;           /* submits, and really on the legacy stream */
    enum wait_scope scope; /* what it may wait for before it returns */
    bool completes;        /* everything in that scope is complete when it returns */
    bool own_only;         /* ... but only the stream's own operations */
    bool staged;           /* a copy without a stream argument that a per-thread twin would return from before it is done */
    bool by_shim;          /* ... because the shim waits; the program's own call would not have */
    struct pending waits;  /* the streams in that scope which had work pending */
    bool timed, blocked;
    uint64_t ns;          /* duration; 0 unless timed */
    uint64_t lost_ns;     /* of it, lost to waiting: 0 unless blocked */
    uint64_t at_most_ns;  /* of a load: it may have lost so much, or have been busy itself */
    struct hold *held_by; /* another thread's call that kept this one waiting, NULL none */
    uint64_t held_ns;
    const struct device_run *ran; /* on its device; NULL: not recorded. As long as the model lives */
    const struct edge_pair
        *unordered; /* a conflict of the call that nothing orders, NULL if none (order/engine/conflict.h) */
    const struct edge_pair *overtaken; /* what writes its source, which may still be to come (order/engine/conflict.h) */
    const struct edge_end *given_up;   /* what the call came after, and under this policy does not any more; likewise */
};

/* Kept waiting, by work that it waits for or by another thread's call; and how long, as reports add up "blocked". */
static inline bool view_is_blocked(const struct call_view *view)
{
    return view->blocked || view->held_by != NULL;
}
static inline uint64_t view_blocked_ns(const struct call_view *view)
{
    return view->lost_ns + view->held_ns;
}

/* Calls are interned: what those have in common that differ in times, object, stack and words only is worked out once, and
 * whoever works out more for a class finds it again by the number (call_view.alike). */
struct model_class {
    struct class_key {
        uint64_t thread;                    /* and above it the era; 0: nobody's */
        uint64_t how, what_where, on_which; /* of the record: api to flags, op to context, stream and target */
    } key;
    uint64_t view[offsetof(struct call_view, waits) / sizeof(uint64_t) + 1]; /* as far as that */
};

/* The same calls under another policy than the one that they were recorded under. */
struct replay {
    struct order order;
    bool as_run;        /* on the streams of the run itself: then what is known to be complete is nobody's question */
    struct vclock done; /* known to be complete by now */
};

/* Is told of each call that `completes` when it has returned: one after the other, as they return, each when the model
 * knows what it and those before it cover, and not yet what the next one does. */
struct wait_follower {
    /* The call of that number has returned before call `next` is entered. */
    void (*returned)(struct wait_follower *follower, uint64_t number, uint64_t next);
    /* There is no room for the call at hand: nobody will hear of it. */
    void (*forgotten)(struct wait_follower *follower, uint64_t number);
};

/* Edges name work by ticks. When the last calls were made, by number, for traces that have any. */
enum { MODEL_ENTERED = 1 << 14 };

struct model {
    const struct trace *trace;
    struct order real; /* ORDER_AS_RUN */
    TABLE_OF(struct replay) replays;
    TABLE_OF(struct model_stream) streams; /* by slot */
    TABLE_OF(struct model_context) contexts;
    TABLE_OF(uint32_t) threads; /* uids */
    struct id_map slot_by_uid, context_by_uid, thread_by_uid;
    struct order_events events; /* of all orders: so a model stays where it began */
    struct id_map pooled;       /* stream-ordered memories, by uid, where the trace has frees of any kind */
    struct model_class classes[1 << MODEL_CLASS_BITS];
    uint32_t alikes, era;           /* a slot that changes hands ends an era, and all classes with it */
    struct vclock done;             /* by now, nobody waits for it any more: known to be complete, or as good as that */
    struct vclock landed;           /* ... and known to be complete; `done` has staged copies, too, that have returned */
    uint64_t done_at;               /* the call at which those last grew */
    struct vclock covered;          /* what is complete when a call has returned: of the one with this number */
    uint64_t covered_by;            /* 0 none */
    struct completions completions; /* of calls in flight */
    struct wait_follower *follower; /* NULL: nobody follows */
    struct device_run_list device;  /* nearly always none */
    TABLE_OF(uint64_t) quick;       /* ns by api * 2 + twin: the quick calls of the whole trace */
    TABLE_OF(uint64_t) idle;        /* ns + 1: the quickest so far with nothing pending */
    struct holds holds;             /* calls in flight that may hold others up */
    uint64_t *entered;              /* MODEL_ENTERED ticks; NULL: the trace has no edges */
    bool keeps_slots;               /* a stream that is gone keeps its slot, as long as there are others */
    bool more;                      /* there are edges */
    uint32_t going;                 /* the class of the last operation, if one of it would be `again`; 0 none */
    uint64_t op;                    /* the call at hand: calls so far */
    uint64_t works;                 /* of them, work */
    uint64_t unplaced;              /* calls on streams beyond MODEL_MOST_STREAMS; not followed */
    uint64_t untimed_waits;         /* calls that may have waited but are not timed */
};

/* The trace must outlive the model. */
void model_begin(struct model *model, const struct trace *trace);

/* The next call: first enter (fills the view; the model is as it was when the call was made), then leave. Both use the same
 * view. False without memory: the call is then unknown to the model. */
bool model_enter(struct model *model, const struct call *call, struct call_view *view);
void model_leave(struct model *model, const struct call_view *view);

/* The streams of a context with pending work now, of these roles (ORDER_OF), without slot `except`. */
void model_pending(struct model *model, uint32_t context, unsigned roles, uint32_t except, struct pending *out);

/* Whether this stream has work pending. MODEL_NO_SLOT: no. */
static inline bool model_is_pending(const struct model *model, uint32_t slot)
{
    return slot < model->streams.count && model->streams.items[slot].last_work > vclock_get(&model->done, slot);
}

/* Whether implicit order has something new for the stream's next operation to come after. */
static inline bool model_joins(const struct model *model, uint32_t slot)
{
    return order_has_new(&model->real, &model->real.streams.items[slot]);
}

void model_end(struct model *model);

/* When the call returned; of one that is not timed, when it was entered. */
static inline uint64_t model_returned_at(const struct call *call)
{
    return (call->r.flags & PTDS_CALL_TIMED) && call->r.leave >= call->r.enter ? call->r.leave : call->r.enter;
}

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Feeds the calls to the orders and keeps what is pending. Called by the report builder and by tests, one call at a time in
 * merged order. A synchronisation tells something only from the moment it returned, so its knowledge waits in a heap until
 * a call is entered later than that. Ids are the trace's and untrusted: they are mapped to slots, never used as indices.
 */
#include "analysis/model/model.h"
#include "analysis/model/model_orders.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/heap.h"
#include "analysis/base/hints.h"
#include "analysis/base/id_map.h"
#include "analysis/model/classify.h"
#include "analysis/model/cost.h"
#include "analysis/model/gpu_time.h"
#include "analysis/model/model_slots.h"
#include "analysis/model/pooled.h"

void model_begin(struct model *model, const struct trace *trace)
{
    *model = (struct model){.trace = trace, .real = {.policy = ORDER_AS_RUN, .places = &model->events}, .era = 1};
    model->more = (trace->flags & PTDS_CALL_SHIM_EDGE) != 0;
    if (model->more)
        model->entered = heap_zeroed(MODEL_ENTERED, sizeof *model->entered);
    cost_begin(model);
    device_runs_begin(&model->device, trace);
    pooled_begin(model);
}

/* `counts` is a number: nobody can guess it, least of all the processor. What stands beyond the count means nothing. */
static inline void add_pending(struct pending *pending, uint32_t slot, bool counts)
{
    if (pending->count < PENDING_KEPT)
        pending->slot[pending->count] = slot;
    pending->count += counts;
}

/* Who was pending when nobody was known to be done that is not now, still is. */
static void drop_done(struct model *model, struct model_context *in)
{
    if (in->looked_at >= model->done_at)
        return;
    for (size_t i = 0; i < in->busy.count;) {
        uint32_t slot = in->busy.items[i];
        if (model_is_pending(model, slot))
            i++;
        else
            model_slots_drop_busy(in, &model->streams.items[slot], i);
    }
    in->looked_at = model->op;
}

void model_pending(struct model *model, uint32_t context, unsigned roles, uint32_t except, struct pending *out)
{
    *out = (struct pending){0};
    if (context >= model->contexts.count)
        return;
    struct model_context *in = &model->contexts.items[context];
    drop_done(model, in);
    size_t at = in->busy.count;
    uint32_t kept = 0;
    for (unsigned role = 0; role < ORDER_ROLES; role++)
        if (ORDER_OF(role) & roles) {
            out->count += in->busy_of[role];
            at = in->none_before[role] < at ? in->none_before[role] : at;
        }
    for (uint32_t seen = 0, all = out->count; seen < all && kept < PENDING_KEPT && at < in->busy.count; at++) {
        uint32_t slot = in->busy.items[at];
        unsigned role = implicit_order_role(model->streams.items[slot].kind);
        if (!(ORDER_OF(role) & roles))
            continue;
        if (seen++ == 0 && ORDER_OF(role) == roles)
            in->none_before[role] = (uint32_t)at;
        if (slot != except)
            out->slot[kept++] = slot;
    }
    if (except < model->streams.count) {
        const struct model_stream *stream = &model->streams.items[except];
        out->count -= stream->busy && stream->context == context && (ORDER_OF(implicit_order_role(stream->kind)) & roles);
    }
}

/* Of the streams that may be busy, those which `clock` comes after. */
static void pending_behind(struct model *model, uint32_t context, const struct vclock *clock, struct pending *out)
{
    struct model_context *in = &model->contexts.items[context];
    *out = (struct pending){0};
    for (size_t i = 0; i < in->busy.count; i++) {
        uint32_t slot = in->busy.items[i];
        add_pending(out, slot, model_is_pending(model, slot) && vclock_get(clock, slot) > vclock_get(&model->done, slot));
    }
}

static ASIDE void find_waits(struct model *model, struct call_view *view)
{
    if (view->scope == WAIT_CONTEXT) {
        model_pending(model, view->context, ORDER_OF_ALL, MODEL_NO_SLOT, &view->waits);
        return;
    }
    pending_behind(model, view->context, model_orders_covered(model, view), &view->waits);
}

/* Whose call it is, and where. */
static bool place_call(struct model *model, const struct call *call, struct call_view *view)
{
    return model_slots_thread(model, call->thread, &view->thread) &&
           model_slots_context(model, call->r.context, &view->context);
}

/* Every field but the slots of `waits`, of which there are none; in two pieces that need no loop. */
static inline void begin_view(const struct model *model, struct call_view *view, const struct call *call)
{
    memset(view, 0, offsetof(struct call_view, waits));
    memset(&view->timed, 0, sizeof *view - offsetof(struct call_view, timed));
    view->waits.count = 0;
    view->call = call;
    view->number = model->op;
}

/* All of a view that calls of one class have in common. */
static bool look_at_class(struct model *model, const struct call *call, struct call_view *view)
{
    uint32_t target = call->r.target != 0 || (call->r.flags & PTDS_CALL_REMAPPED) ? call->r.target : call->r.stream;
    begin_view(model, view, call);
    if (!place_call(model, call, view))
        return false;
    view->api = definitions_api(&model->trace->defs, call->r.api);
    view->asked = model_slots_use(model, &call->r, call->r.stream);
    view->target = target == call->r.stream ? view->asked : model_slots_use(model, &call->r, target);
    if (view->asked != MODEL_NO_SLOT)
        view->asked_kind = model->streams.items[view->asked].kind;
    if (view->target != MODEL_NO_SLOT) {
        view->target_kind = model->streams.items[view->target].kind;
        view->context = model->streams.items[view->target].context;
    }
    classify_call(view);
    if (call->r.op == PTDS_OP_FREE)
        pooled_classify_free(model, view);
    view->plain = call->r.op == PTDS_OP_LAUNCH && view->work && view->asked != MODEL_NO_SLOT && view->scope == WAIT_NONE &&
                  !(call->r.flags & PTDS_CALL_TIMED);
    return true;
}

_Static_assert(offsetof(struct ptds_rec_CALL, flags) == offsetof(struct ptds_rec_CALL, api) + 4 &&
                   offsetof(struct ptds_rec_CALL, context) == offsetof(struct ptds_rec_CALL, op) + 4 &&
                   offsetof(struct ptds_rec_CALL, target) == offsetof(struct ptds_rec_CALL, stream) + 4,
               "eight bytes that are read as one");

static inline struct class_key key_of(const struct model *model, const struct call *call)
{
    struct class_key key = {.thread = call->thread | (uint64_t)model->era << 32};
    const unsigned char *record = (const unsigned char *)&call->r;
    memcpy(&key.how, record + offsetof(struct ptds_rec_CALL, api), sizeof key.how);
    memcpy(&key.what_where, record + offsetof(struct ptds_rec_CALL, op), sizeof key.what_where);
    memcpy(&key.on_which, record + offsetof(struct ptds_rec_CALL, stream), sizeof key.on_which);
    return key;
}

/* Where the class is; of two that meet there the older one is beside it. */
static inline struct model_class *class_of(struct model *model, const struct class_key *key)
{
    uint64_t mixed = (key->thread << 32 ^ key->on_which ^ key->how ^ key->what_where << 24) * UINT64_C(0x9e3779b97f4a7c15);
    return &model->classes[mixed >> (65 - MODEL_CLASS_BITS) << 1];
}

static inline void view_of_class(const struct model *model, struct call_view *view, const struct model_class *of,
                                 const struct call *call)
{
    memcpy(view, of->view, offsetof(struct call_view, waits));
    memset(&view->timed, 0, sizeof *view - offsetof(struct call_view, timed));
    view->waits.count = 0;
    view->call = call;
    view->number = model->op;
}

/* Calls that make something or end it are seldom alike, but for modules, functions and events. */
static inline bool may_be_alike(unsigned op)
{
    const uint64_t others = UINT64_C(1) << PTDS_OP_MODULE_LOAD | UINT64_C(1) << PTDS_OP_MODULE_UNLOAD |
                            UINT64_C(1) << PTDS_OP_FUNCTION_LOAD | UINT64_C(1) << PTDS_OP_EVENT_CREATE |
                            UINT64_C(1) << PTDS_OP_EVENT_DESTROY;
    return op < PTDS_OP_CTX_EVENT_RECORD || (op < 64 && (others >> op & 1));
}

/* Whether what such a call is depends on nothing but its class: not on a word, and not on a stream that cannot be followed.
 */
static bool is_of_class(const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    return may_be_alike(call->op) && (call->stream == 0 || view->asked != MODEL_NO_SLOT) &&
           (call->target == 0 || view->target != MODEL_NO_SLOT);
}

static inline bool is_class(const struct model_class *of, const struct class_key *key)
{
    return ((of->key.thread ^ key->thread) | (of->key.how ^ key->how) | (of->key.what_where ^ key->what_where) |
            (of->key.on_which ^ key->on_which)) == 0;
}

/* The first of its class, or the first for some time. */
static ASIDE bool look_at_new(struct model *model, const struct call *call, struct call_view *view)
{
    struct class_key key = key_of(model, call);
    struct model_class *made = class_of(model, &key), *beside = made + 1;
    if (may_be_alike(call->r.op) && is_class(beside, &key)) {
        view_of_class(model, view, beside, call);
        return true;
    }
    if (!look_at_class(model, call, view))
        return false;
    if (!is_of_class(view))
        return true;
    *beside = *made;
    view->alike = ++model->alikes;
    made->key = key;
    memcpy(made->view, view, offsetof(struct call_view, waits));
    return true;
}

/* What depends on the moment. */
static ASIDE void look_at_moment(struct model *model, struct call_view *view)
{
    if (view->scope != WAIT_NONE)
        find_waits(model, view);
    if (view->scope != WAIT_NONE || (view->call->r.flags & PTDS_CALL_TIMED))
        cost_of_call(model, view);
}

static inline bool look_at(struct model *model, const struct call *call, struct call_view *view)
{
    struct class_key key = key_of(model, call);
    const struct model_class *of = class_of(model, &key);
    if (is_class(of, &key))
        view_of_class(model, view, of, call);
    else if (!look_at_new(model, call, view))
        return false;
    if (view->plain)
        view->again = view->alike == model->going;
    else
        look_at_moment(model, view);
    return true;
}

bool model_enter(struct model *model, const struct call *call, struct call_view *view)
{
    model->op++;
    if (model->completions.count != 0)
        model_orders_return(model, call->r.enter);
    if (model->more)
        model_orders_enter(model, call);
    bool known = look_at(model, call, view);
    if (known && model->device.runs.count != 0)
        view->ran = device_runs_of(&model->device, call);
    if (known && model->holds.count != 0)
        hold_enter(model, view);
    return known;
}

static INLINE void note_work(struct model *model, const struct call_view *view)
{
    struct model_stream *stream = &model->streams.items[view->target];
    struct model_context *context = &model->contexts.items[stream->context];
    model->works++;
    if (stream->last_thread != view->call->thread)
        stream->handed_from = stream->last_work;
    stream->last_work = view->number;
    stream->last_thread = view->call->thread;
    stream->last_stack = view->call->r.stack;
    stream->last_object = view->call->r.op == PTDS_OP_LAUNCH ? view->call->r.object : 0;
    context->legacy_work += stream->kind == PTDS_STREAM_LEGACY;
    if ((view->call->r.flags & (PTDS_CALL_EXPLICIT | PTDS_CALL_KEPT)) != 0)
        stream->last_stays = view->number;
    if (model->device.runs.count != 0)
        gpu_time_note(model, view);
    if ((view->call->r.flags & PTDS_CALL_KEPT) != 0)
        stream->last_kept = view->number;
    if (!stream->busy)
        model_slots_be_busy(context, stream, view->target);
}

static RARE void submit_event(struct order *order, uint32_t slot, const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    if (call->op == PTDS_OP_EVENT_WAIT)
        order_wait(order, slot, call->object, call->generation);
    order_submit(order, slot, view->thread, view->number);
    if (call->op == PTDS_OP_EVENT_RECORD)
        order_record(order, call->object, call->generation, slot);
}

static inline void submit_to(struct order *order, uint32_t slot, const struct call_view *view)
{
    if (view->work)
        order_submit(order, slot, view->thread, view->number);
    else
        submit_event(order, slot, view);
}

static ASIDE void submit_replays(struct model *model, const struct call_view *view)
{
    for (uint32_t i = 0; i < model->replays.count; i++) {
        struct replay *replay = &model->replays.items[i];
        uint32_t slot = replay->as_run ? view->target : model_orders_open_slot(model, i, view);
        if (slot != MODEL_NO_SLOT)
            submit_to(&replay->order, slot, view);
    }
}

static INLINE void submit(struct model *model, const struct call_view *view)
{
    submit_to(&model->real, view->target, view);
    if (model->replays.count != 0)
        submit_replays(model, view);
    if (view->work)
        note_work(model, view);
}

static ASIDE void leave_call(struct model *model, const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    if (view->completes || view->submits)
        model->going = 0;
    if (view->completes)
        model_orders_learn(model, view);
    if (view->submits)
        submit(model, view);
    if (view->timed)
        hold_leave(model, view);
    if (call->op == PTDS_OP_EVENT_DESTROY && view->succeeded)
        model_orders_forget_event(model, call->object);
    if (call->op == PTDS_OP_EVENT_CREATE && view->succeeded)
        model_orders_note_event(model, view);
    if (view->succeeded)
        pooled_note(model, view->call);
}

/* Whether the stream's next operation comes after nothing new. */
static inline bool is_next(const struct model *model, const struct call_view *view)
{
    const struct order_stream *stream = &model->real.streams.items[view->target];
    return view->target < stream->clock.room && order_joined(&model->real, view->target, view->thread);
}

static ASIDE void submit_plain(struct model *model, const struct call_view *view)
{
    submit(model, view);
    model->going = is_next(model, view) ? view->alike : 0;
}

/* As submit, where it is. */
static INLINE void submit_next(struct model *model, const struct call_view *view)
{
    struct order_stream *stream = &model->real.streams.items[view->target];
    stream->last = view->number;
    stream->clock.at[view->target] = view->number;
    model->going = view->alike;
    if (model->replays.count != 0)
        submit_replays(model, view);
    note_work(model, view);
}

/* A plain call waits for nothing and is not timed. */
void model_leave(struct model *model, const struct call_view *view)
{
    if (!view->plain)
        leave_call(model, view);
    else if (view->again || is_next(model, view))
        submit_next(model, view);
    else
        submit_plain(model, view);
}

void model_end(struct model *model)
{
    model_orders_end(model);
    free(model->entered);
    for (size_t i = 0; i < model->contexts.count; i++)
        free(model->contexts.items[i].busy.items);
    completion_free_all(&model->completions);
    free(model->holds.kept);
    free(model->contexts.items);
    free(model->streams.items);
    free(model->threads.items);
    device_runs_end(&model->device);
    free(model->quick.items);
    free(model->idle.items);
    id_map_free(&model->slot_by_uid);
    id_map_free(&model->context_by_uid);
    id_map_free(&model->thread_by_uid);
    id_map_free(&model->pooled);
    vclock_free(&model->done);
    vclock_free(&model->landed);
    vclock_free(&model->covered);
    *model = (struct model){0};
}

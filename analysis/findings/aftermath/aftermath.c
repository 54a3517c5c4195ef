/* SPDX-License-Identifier: Apache-2.0
 *
 * Watches waits (aftermath.h). Called by report/pass/pass_over_calls.c with every call. While no wait is watched, a call
 * costs a note of the addresses that it names (tracks.h). Takes memory by live streams and allocations, not by calls.
 */
#include "analysis/findings/aftermath/aftermath.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/heap.h"
#include "analysis/base/hints.h"
#include "analysis/model/gpu_time.h"
#include "analysis/model/model_orders.h"

enum { BATCH_LEAST = 3 };

struct watched {
    struct judged_stream judged;
    uint32_t slot;
    uint64_t op; /* its last operation at the wait */
    bool more;   /* it got work since */
    struct track_memories used;
};

struct watch {
    struct watched stream[PENDING_KEPT];
    uint32_t count, all, open;
    bool wide, batch;
    struct removed_set removed_by;
    struct saving saving;
    struct call_view view;
    struct call call;
};

void aftermath_begin(struct aftermath *aftermath, struct model *model, struct verdicts *verdicts,
                     const struct removed_policies *removed_by, void (*judge)(void *data, const struct judged *judged),
                     void *data)
{
    *aftermath = (struct aftermath){.model = model,
                                    .verdicts = verdicts,
                                    .removed_by = removed_by,
                                    .judge = judge,
                                    .data = data,
                                    .launches_later = model->trace->defs.memories.count == 0};
}

static void judge(struct aftermath *aftermath, struct watch *watch)
{
    struct judged judged = {.wide = watch->wide,
                            .count = watch->count,
                            .all = watch->all,
                            .batch = watch->batch,
                            .more = watch->saving.more,
                            .other = watch->saving.other && !watch->saving.again,
                            .saved_ns = watch->saving.saved_ns,
                            .apart_ns = watch->saving.apart_ns,
                            .removed_by = watch->removed_by,
                            .view = &watch->view};
    for (uint32_t i = 0; i < watch->count; i++)
        judged.stream[i] = watch->stream[i].judged;
    aftermath->judge(aftermath->data, &judged);
    free(watch);
}

static void give_up(struct watch *watch)
{
    for (uint32_t i = 0; i < watch->count; i++)
        if (watch->stream[i].judged.need == NEED_OPEN)
            watch->stream[i].judged.need = NEED_UNKNOWN;
}

/* Whether the call is a wait worth watching. A wait for a single stream, which other streams may feed by events, is as
 * it should be. */
static bool is_watched(const struct call_view *view)
{
    unsigned op = view->call->r.op;
    if (!view->blocked || !view->completes)
        return false;
    if ((op == PTDS_OP_CTX_SYNC || op == PTDS_OP_STREAM_SYNC) && model_orders_wait_unasked(view))
        return true;
    return (op == PTDS_OP_STREAM_SYNC || op == PTDS_OP_EVENT_SYNC) && view->waits.count == 1;
}

/* Whether several operations were submitted, by any thread, since the last wait of this thread: the host may read its
 * clock after them, which no trace shows. */
static bool ends_batch(const struct aftermath *aftermath, const struct call_view *view)
{
    uint64_t before = view->thread < aftermath->works.count ? aftermath->works.items[view->thread] : 0;
    return aftermath->model->works - before >= BATCH_LEAST;
}

static void note_wait(struct aftermath *aftermath, const struct call_view *view)
{
    uint64_t *works = TABLE_AT(&aftermath->works, view->thread);
    if (works != NULL)
        *works = aftermath->model->works + view->work;
}

/* Ends the watch of a wait whose streams are all judged; where there is none, the oldest watch. */
static void drop_one(struct aftermath *aftermath)
{
    uint32_t at = 0;
    while (at < aftermath->count - 1 && aftermath->watches[at]->open != 0)
        at++;
    at = aftermath->watches[at]->open != 0 ? 0 : at;
    give_up(aftermath->watches[at]);
    judge(aftermath, aftermath->watches[at]);
    aftermath->count--;
    memmove(aftermath->watches + at, aftermath->watches + at + 1, (aftermath->count - at) * sizeof aftermath->watches[0]);
}

static uint64_t saver(uint32_t thread)
{
    return UINT64_C(1) << thread % 64;
}

static void note_slot(struct aftermath *aftermath, const struct watched *watched)
{
    uint32_t at = 0;
    while (at < aftermath->slots_count && aftermath->slots[at].slot != watched->slot)
        at++;
    if (at == aftermath->slots_count)
        aftermath->slots[aftermath->slots_count++] = (struct watched_slot){.slot = watched->slot};
    aftermath->slots[at].idle |= !watched->more;
    aftermath->slots[at].some |= watched->used.some;
}

/* Tells the verdicts which memories they have to look out for. */
static void watch_memories(const struct aftermath *aftermath)
{
    verdict_memory_unwatch_all(aftermath->verdicts);
    for (uint32_t i = 0; i < aftermath->count; i++)
        for (uint32_t j = 0; j < aftermath->watches[i]->count; j++) {
            const struct watched *watched = &aftermath->watches[i]->stream[j];
            for (uint32_t k = 0; watched->judged.need == NEED_OPEN && k < watched->used.count; k++)
                verdict_memory_watch(aftermath->verdicts, watched->used.base[k], watched->slot);
        }
}

/* Notes for which calls the watches have to be looked at again. */
static void note_open(struct aftermath *aftermath)
{
    aftermath->open = false;
    aftermath->savers = aftermath->idle_savers = 0;
    aftermath->slots_count = 0;
    for (uint32_t i = 0; i < aftermath->count; i++) {
        const struct watch *watch = aftermath->watches[i];
        uint64_t thread = watch->saving.open ? saver(watch->call.thread) : 0;
        aftermath->open |= watch->open != 0;
        aftermath->savers |= thread;
        aftermath->idle_savers |= watch->saving.more ? 0 : thread;
        for (uint32_t j = 0; j < watch->count; j++)
            if (watch->stream[j].judged.need == NEED_OPEN)
                note_slot(aftermath, &watch->stream[j]);
    }
}

static uint64_t ran_ns(const struct model *model, const struct call_view *view, uint32_t slot)
{
    uint64_t enter = trace_ns(model->trace, view->call->r.enter), until;
    return gpu_time_until(model, slot, &until) && until > enter ? until - enter : 0;
}

static RARE void watch_wait(struct aftermath *aftermath, const struct call_view *view)
{
    struct watch *watch = heap_zeroed(1, sizeof *watch);
    if (watch == NULL)
        return;
    watch->call = *view->call;
    watch->call.words = 0;
    watch->view = *view;
    watch->view.call = &watch->call;
    watch->wide = view->waits.count > 1;
    watch->removed_by = removed_by_policy_of_call(REMOVED_WITH_WAIT, aftermath->removed_by, aftermath->model, view);
    watch->batch = ends_batch(aftermath, view);
    saving_begin(&watch->saving, aftermath->model, view);
    watch->all = view->waits.count;
    watch->count = watch->open = view->waits.count < PENDING_KEPT ? view->waits.count : PENDING_KEPT;
    for (uint32_t i = 0; i < watch->count; i++) {
        const struct model_stream *stream = &aftermath->model->streams.items[view->waits.slot[i]];
        struct watched *watched = &watch->stream[i];
        watched->slot = view->waits.slot[i];
        watched->judged = (struct judged_stream){stream->uid,
                                                 stream->last_object,
                                                 stream->last_thread,
                                                 NEED_OPEN,
                                                 false,
                                                 false,
                                                 ran_ns(aftermath->model, view, watched->slot)};
        watched->op = stream->last_work;
        tracks_memories(&aftermath->tracks, aftermath->model, aftermath->verdicts, watched->slot, &watched->used);
        watched->judged.host = watched->used.host;
    }
    if (aftermath->count == WATCHES)
        drop_one(aftermath);
    aftermath->watches[aftermath->count++] = watch;
    note_open(aftermath);
    watch_memories(aftermath);
}

/* How the call waits for a stream: not, for the stream itself, or for the whole context. */
enum cover { COVER_NOT, COVER_ITSELF, COVER_CONTEXT };

static enum cover covers(const struct aftermath *aftermath, const struct call_view *view, const struct watched *watched)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    const struct vclock *event;
    if (!view->completes)
        return COVER_NOT;
    if (call->op == PTDS_OP_CTX_SYNC)
        return COVER_CONTEXT;
    if (view->scope == WAIT_STREAM)
        return view->target == watched->slot ? COVER_ITSELF : COVER_NOT;
    if (view->scope != WAIT_EVENT)
        return COVER_NOT;
    event = order_event_clock(&aftermath->model->real, call->object, call->generation);
    return event != NULL && vclock_get(event, watched->slot) >= watched->op ? COVER_ITSELF : COVER_NOT;
}

/* Judges the stream by a later wait for it. A synchronous copy on the stream is both more work and a wait. */
static void settle(const struct watch *watch, struct watched *watched, enum cover cover, bool works)
{
    enum need by_memory = watched->used.blind || watched->judged.host ? NEED_UNKNOWN : NOT_NEEDED;
    if (watched->more || (works && !watch->wide))
        watched->judged.need = by_memory;
    else if (!watch->wide) /* the second wait is the useless one */
        watched->judged.need = NEED_UNKNOWN;
    else if (cover == COVER_ITSELF) /* what it wrote to host memory the host may have read */
        watched->judged.need = watched->judged.host ? NEED_UNKNOWN : NOT_NEEDED;
}

/* By a call that uses its memory. */
static void be_needed(struct watched *watched, const struct call_view *view)
{
    watched->judged.need = NEEDED;
    watched->judged.for_stream = view->work && view->scope == WAIT_NONE;
}

static void watch_stream(const struct aftermath *aftermath, const struct watch *watch, struct watched *watched,
                         const struct call_view *view, const struct call_memories *use)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    bool after = call->enter >= watch->call.r.leave;
    enum cover cover = covers(aftermath, view, watched);
    if (aftermath->model->streams.items[watched->slot].uid != watched->judged.uid)
        watched->judged.need = NEED_UNKNOWN;
    else if (call->op == PTDS_OP_EVENT_ELAPSED && view->call->thread == watch->call.thread)
        watched->judged.need = NEEDED;
    else if (after && view->target != watched->slot && call_memories_has(use, watched->used.base, watched->used.count))
        be_needed(watched, view);
    else if (after && view->target != watched->slot && !use->all)
        watched->judged.need = NEED_UNKNOWN;
    else if (cover != COVER_NOT)
        settle(watch, watched, cover, view->work);
    watched->more |= view->work && view->target == watched->slot;
}

/* Whether the call is neither a wait nor a query, so that only the memory that it uses and the stream that it works on
 * can matter. */
static bool is_quiet(const struct call_view *view, const struct call_memories *use)
{
    return use->all && (!view->completes || view->scope == WAIT_NONE) && view->call->r.op != PTDS_OP_EVENT_ELAPSED;
}

/* Does what watch_stream does, for a quiet call. */
static inline void watch_quietly(const struct aftermath *aftermath, const struct watch *watch, struct watched *watched,
                                 const struct call_view *view, const struct call_memories *use)
{
    bool here = view->target == watched->slot;
    if (aftermath->model->streams.items[watched->slot].uid != watched->judged.uid)
        watched->judged.need = NEED_UNKNOWN;
    else if (!here && (use->some & watched->used.some) != 0 && view->call->r.enter >= watch->call.r.leave &&
             call_memories_has(use, watched->used.base, watched->used.count))
        be_needed(watched, view);
    watched->more |= view->work && here;
}

static void watch_call(struct aftermath *aftermath, struct watch *watch, const struct call_view *view,
                       const struct call_memories *use, bool quiet)
{
    uint32_t open = 0;
    if (watch->saving.open && watch->saving.thread == view->call->thread)
        saving_look(&watch->saving, aftermath->model->trace, view);
    if (watch->open == 0)
        return;
    for (uint32_t i = 0; i < watch->count; i++) {
        struct watched *watched = &watch->stream[i];
        if (watched->judged.need == NEED_OPEN && quiet)
            watch_quietly(aftermath, watch, watched, view, use);
        else if (watched->judged.need == NEED_OPEN)
            watch_stream(aftermath, watch, watched, view, use);
        open += watched->judged.need == NEED_OPEN;
    }
    watch->open = open;
}

void aftermath_look_now(struct aftermath *aftermath, const struct call_view *view)
{
    call_memories_find(&aftermath->use, aftermath->verdicts, view, verdict_memory_is_complete(aftermath->verdicts));
}

static ASIDE void watch_calls(struct aftermath *aftermath, const struct call_view *view)
{
    bool quiet = is_quiet(view, &aftermath->use);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < aftermath->count; i++) {
        struct watch *watch = aftermath->watches[i];
        watch_call(aftermath, watch, view, &aftermath->use, quiet);
        if (watch->open != 0 || watch->saving.open)
            aftermath->watches[kept++] = watch;
        else
            judge(aftermath, watch);
    }
    aftermath->count = kept;
    note_open(aftermath);
}

bool aftermath_may_tell(const struct aftermath *aftermath, const struct call_view *view)
{
    bool unseen = named_range_is_more(view->call), more = false;
    uint32_t used = unseen ? UINT32_MAX : verdict_memory_watched(aftermath->verdicts);
    for (uint32_t i = 0; i < aftermath->slots_count && !more; i++) {
        const struct watched_slot *watched = &aftermath->slots[i];
        more = watched->slot == view->target ? watched->idle : (used >> watched->slot % VERDICT_GROUPS & 1) != 0;
    }
    return more;
}

/* Whether the call, which is work and no wait, may change a watch: most calls do not. (A slot that a new stream has
 * taken over is noticed by the next call that does.) */
static bool tells(struct aftermath *aftermath, const struct call_view *view)
{
    if (aftermath_is_told_nothing(aftermath, view))
        return false;
    if (aftermath->open && !aftermath->use.found)
        call_memories_find(&aftermath->use, aftermath->verdicts, view, true);
    bool more = (aftermath->idle_savers & saver(view->call->thread)) != 0;
    for (uint32_t i = 0; i < aftermath->slots_count && aftermath->use.all && !more; i++) {
        const struct watched_slot *watched = &aftermath->slots[i];
        more = watched->slot == view->target ? watched->idle : (watched->some & aftermath->use.some) != 0;
    }
    return more || !aftermath->use.all;
}

static inline bool concerns(struct aftermath *aftermath, const struct call_view *view)
{
    if (!aftermath->open && (aftermath->savers & saver(view->call->thread)) == 0)
        return false;
    return !view->work || (view->completes && view->scope != WAIT_NONE) || tells(aftermath, view);
}

void aftermath_note(struct aftermath *aftermath, const struct call_view *view)
{
    if (concerns(aftermath, view))
        watch_calls(aftermath, view);
    if (view->work)
        tracks_note(&aftermath->tracks, aftermath->model, view);
    else if (is_watched(view))
        watch_wait(aftermath, view);
    if (view->completes && view->scope != WAIT_NONE)
        note_wait(aftermath, view);
}

bool aftermath_watches(const struct aftermath *aftermath, uint32_t thread, uint32_t slot)
{
    for (uint32_t i = 0; i < aftermath->count; i++) {
        const struct watch *watch = aftermath->watches[i];
        for (uint32_t j = 0; watch->wide && watch->call.thread == thread && j < watch->count; j++)
            if (watch->stream[j].slot == slot)
                return true;
    }
    return false;
}

void aftermath_end(struct aftermath *aftermath)
{
    for (uint32_t i = 0; i < aftermath->count; i++) {
        give_up(aftermath->watches[i]);
        judge(aftermath, aftermath->watches[i]);
    }
    tracks_end(&aftermath->tracks);
    free(aftermath->works.items);
    *aftermath = (struct aftermath){0};
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Keeps past clocks by stream, and only where a stream's clock changed. A past clock is dropped when all operations that it
 * stands for are complete: no wait is added behind them any more. Beyond a limit every other past clock of a stream is
 * dropped. Called by repair.c for every call. Must tell less order than there is where past clocks were dropped, never
 * more.
 */
#include "analysis/model/model_orders.h"
#include "analysis/repair/past_clocks.h"

#include <stdlib.h>
#include <string.h>

/* Past clocks of a stream; bytes of all streams' past clocks. */
enum { PAST_MOST = 1 << 12, BYTES_MOST = 1 << 28 };

bool past_clocks_begin(struct past_clocks *past, struct model *model, unsigned policy)
{
    *past = (struct past_clocks){.replay = model_orders_replay(model, policy)};
    return past->replay != UINT32_MAX;
}

static void drop_one(struct past_clocks *past, struct past_clock *dropped)
{
    past->bytes -= dropped->clock.room * sizeof *dropped->clock.at;
    vclock_free(&dropped->clock);
}

/* Drops the stream's oldest `count` past clocks. */
static void drop_oldest(struct past_clocks *past, struct stream_past *stream, size_t count)
{
    if (count == 0)
        return;
    for (size_t i = 0; i < count; i++)
        drop_one(past, &stream->items[i]);
    stream->count -= count;
    memmove(stream->items, stream->items + count, stream->count * sizeof *stream->items);
}

void past_clocks_end(struct past_clocks *past)
{
    for (size_t i = 0; i < past->streams.count; i++) {
        drop_oldest(past, &past->streams.items[i], past->streams.items[i].count);
        free(past->streams.items[i].items);
    }
    free(past->streams.items);
    vclock_free(&past->done);
    completion_free_all(&past->waits);
}

void past_clocks_until(struct past_clocks *past, uint64_t ticks)
{
    struct completion wait;
    while (completion_take(&past->waits, ticks, &wait)) {
        vclock_join(&past->done, &wait.clock);
        completion_free(&wait);
    }
}

static const struct order *order_of(const struct past_clocks *past, const struct model *model)
{
    return &model->replays.items[past->replay].order;
}

uint32_t past_clocks_slot(const struct past_clocks *past, struct model *model, const struct call_view *view)
{
    return view->submits ? model_orders_open_slot(model, past->replay, view) : MODEL_NO_SLOT;
}

void past_clocks_before(const struct past_clocks *past, const struct model *model, const struct call_view *view,
                        struct vclock *out)
{
    model_orders_before(model, order_of(past, model), view, out);
}

void past_clocks_cover(const struct past_clocks *past, const struct model *model, const struct call_view *view,
                       struct vclock *out)
{
    if (view->completes && !view->by_shim)
        model_orders_cover(model, order_of(past, model), view, out);
}

/* Whether the stream's last past clock has all of `clock`, but for the entry of the stream itself. */
static bool is_same(const struct stream_past *stream, uint32_t slot, const struct vclock *clock)
{
    const struct vclock *last = stream->count != 0 ? &TABLE_LAST(stream)->clock : NULL;
    for (uint32_t i = 0; last != NULL && i < clock->room; i++)
        if (i != slot && clock->at[i] > vclock_get(last, i))
            return false;
    return last != NULL;
}

/* Drops every other past clock. The one before stands for its operations then, and has less. */
static void thin(struct past_clocks *past, struct stream_past *stream)
{
    size_t left = 0;
    for (size_t i = 0; i < stream->count; i++) {
        if (i % 2 == 0)
            stream->items[left++] = stream->items[i];
        else
            drop_one(past, &stream->items[i]);
    }
    stream->count = left;
    past->thinned = true;
}

/* The first past clock that stands for an operation that is not complete; the last one in any case. */
static size_t first_pending(const struct past_clocks *past, const struct stream_past *stream, uint32_t slot)
{
    size_t first = 0;
    while (first + 1 < stream->count && stream->items[first + 1].op <= vclock_get(&past->done, slot))
        first++;
    return first;
}

static void add(struct past_clocks *past, struct stream_past *stream, uint32_t slot, uint64_t op,
                const struct vclock *clock)
{
    drop_oldest(past, stream, first_pending(past, stream, slot));
    if (stream->count >= PAST_MOST || (stream->count > 1 && past->bytes > BYTES_MOST))
        thin(past, stream);
    if (!TABLE_ADD(stream)) {
        past->thinned = true;
        return;
    }
    *TABLE_LAST(stream) = (struct past_clock){.op = op};
    past->thinned |= !vclock_copy(&TABLE_LAST(stream)->clock, clock);
    past->bytes += TABLE_LAST(stream)->clock.room * sizeof *clock->at;
}

void past_clocks_submit(struct past_clocks *past, struct model *model, uint32_t slot, uint64_t op,
                        const struct vclock *clock)
{
    order_come_after(&model->replays.items[past->replay].order, slot, clock);
    void *grown = table_grow(past->streams.items, &past->streams.room, (size_t)slot + 1, sizeof *past->streams.items);
    if (grown == NULL) {
        past->thinned = true;
        return;
    }
    past->streams.items = grown;
    if (past->streams.count <= slot)
        past->streams.count = (size_t)slot + 1;
    struct stream_past *stream = &past->streams.items[slot];
    if (!is_same(stream, slot, clock))
        add(past, stream, slot, op, clock);
}

void past_clocks_wait(struct past_clocks *past, const struct model *model, const struct call_view *view)
{
    struct completion wait = {.ticks = model_returned_at(view->call)};
    past_clocks_cover(past, model, view, &wait.clock);
    if (wait.clock.room != 0)
        completion_add(&past->waits, &wait);
}

/* The past clock that stands for operation `op`: the last one that is not of a later operation. NULL: none. */
static const struct past_clock *past_clock_of(const struct stream_past *stream, uint64_t op)
{
    size_t low = 0, high = stream->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (stream->items[middle].op <= op)
            low = middle + 1;
        else
            high = middle;
    }
    return low != 0 ? &stream->items[low - 1] : NULL;
}

bool past_clocks_of(const struct past_clocks *past, uint32_t slot, uint64_t op, struct vclock *out)
{
    const struct past_clock *found = slot < past->streams.count ? past_clock_of(&past->streams.items[slot], op) : NULL;
    return (found == NULL || vclock_join(out, &found->clock)) && vclock_raise(out, slot, op);
}

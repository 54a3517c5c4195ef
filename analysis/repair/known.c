/* SPDX-License-Identifier: Apache-2.0
 *
 * Keeps, by stream, what its operations came after, where that changed, until the host knows them to be done: nobody waits
 * for such an operation any more. Called by repair.c for every call. Memory goes with what is pending; beyond a limit the
 * past is thinned, and must then tell less than is true, never more.
 */
#include "analysis/repair/known.h"

#include <stdlib.h>
#include <string.h>

/* Of a stream; and of all, in bytes. */
enum { PAST_MOST = 1 << 12, BYTES_MOST = 1 << 28 };

bool known_begin(struct known_order *known, struct model *model, unsigned policy)
{
    *known = (struct known_order){.replay = model_replay(model, policy)};
    return known->replay != UINT32_MAX;
}

static void forget(struct known_order *known, struct known_from *from)
{
    known->bytes -= from->clock.room * sizeof *from->clock.at;
    vclock_free(&from->clock);
}

static void drop(struct known_order *known, struct known_past *past, size_t count)
{
    if (count == 0)
        return;
    for (size_t i = 0; i < count; i++)
        forget(known, &past->items[i]);
    past->count -= count;
    memmove(past->items, past->items + count, past->count * sizeof *past->items);
}

void known_end(struct known_order *known)
{
    for (size_t i = 0; i < known->streams.count; i++) {
        drop(known, &known->streams.items[i], known->streams.items[i].count);
        free(known->streams.items[i].items);
    }
    free(known->streams.items);
    vclock_free(&known->done);
    completion_free_all(&known->waits);
}

void known_until(struct known_order *known, uint64_t ticks)
{
    struct completion wait;
    while (completion_take(&known->waits, ticks, &wait)) {
        vclock_join(&known->done, &wait.clock);
        completion_free(&wait);
    }
}

static const struct order *order_of(const struct known_order *known, const struct model *model)
{
    return &model->replays.items[known->replay].order;
}

uint32_t known_slot(const struct known_order *known, struct model *model, const struct call_view *view)
{
    return view->submits ? model_open_replay_slot(model, known->replay, view) : MODEL_NO_SLOT;
}

void known_before(const struct known_order *known, const struct model *model, const struct call_view *view,
                  struct vclock *out)
{
    model_comes_after(model, order_of(known, model), view, out);
}

void known_cover(const struct known_order *known, const struct model *model, const struct call_view *view,
                 struct vclock *out)
{
    if (view->completes && !view->by_shim)
        model_cover(model, order_of(known, model), view, out);
}

/* Whether the operation comes after nothing that the one before it did not. */
static bool is_same(const struct known_past *past, uint32_t slot, const struct vclock *clock)
{
    const struct vclock *last = past->count != 0 ? &TABLE_LAST(past)->clock : NULL;
    for (uint32_t i = 0; last != NULL && i < clock->room; i++)
        if (i != slot && clock->at[i] > vclock_get(last, i))
            return false;
    return last != NULL;
}

/* Every other one goes. Who asks for one that is gone gets the one before, which knows less. */
static void thin(struct known_order *known, struct known_past *past)
{
    size_t kept = 0;
    for (size_t i = 0; i < past->count; i++) {
        if (i % 2 == 0)
            past->items[kept++] = past->items[i];
        else
            forget(known, &past->items[i]);
    }
    past->count = kept;
    known->thinned = true;
}

static void note(struct known_order *known, struct known_past *past, uint32_t slot, uint64_t op, const struct vclock *clock)
{
    size_t done = 0;
    while (done + 1 < past->count && past->items[done + 1].op <= vclock_get(&known->done, slot))
        done++;
    drop(known, past, done);
    if (past->count >= PAST_MOST || (past->count > 1 && known->bytes > BYTES_MOST))
        thin(known, past);
    if (!TABLE_ADD(past)) {
        known->thinned = true;
        return;
    }
    *TABLE_LAST(past) = (struct known_from){.op = op};
    known->thinned |= !vclock_copy(&TABLE_LAST(past)->clock, clock);
    known->bytes += TABLE_LAST(past)->clock.room * sizeof *clock->at;
}

void known_submit(struct known_order *known, struct model *model, uint32_t slot, uint64_t op, const struct vclock *clock)
{
    order_come_after(&model->replays.items[known->replay].order, slot, clock);
    void *grown = table_grow(known->streams.items, &known->streams.room, (size_t)slot + 1, sizeof *known->streams.items);
    if (grown == NULL) {
        known->thinned = true;
        return;
    }
    known->streams.items = grown;
    if (known->streams.count <= slot)
        known->streams.count = (size_t)slot + 1;
    struct known_past *past = &known->streams.items[slot];
    if (!is_same(past, slot, clock))
        note(known, past, slot, op, clock);
}

void known_wait(struct known_order *known, const struct model *model, const struct call_view *view)
{
    struct completion wait = {.ticks = model_returned_at(view->call)};
    known_cover(known, model, view, &wait.clock);
    if (wait.clock.room != 0)
        completion_add(&known->waits, &wait);
}

/* The last note that is not of a later operation. */
static const struct known_from *note_of(const struct known_past *past, uint64_t op)
{
    size_t low = 0, high = past->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (past->items[middle].op <= op)
            low = middle + 1;
        else
            high = middle;
    }
    return low != 0 ? &past->items[low - 1] : NULL;
}

bool known_behind(const struct known_order *known, uint32_t slot, uint64_t op, struct vclock *out)
{
    const struct known_from *from = slot < known->streams.count ? note_of(&known->streams.items[slot], op) : NULL;
    return (from == NULL || vclock_join(out, &from->clock)) && vclock_raise(out, slot, op);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Adds up what gain.h says. Called by the rules about implicit order and by the report's pass for calls that blocked. Takes
 * memory by streams and threads.
 */
#include "analysis/findings/gain.h"

#include <stdlib.h>

#define ROOM_FOR(list, at) \
    ({ \
        void *grown_ = table_grow((list)->items, &(list)->room, (size_t)(at) + 1, sizeof *(list)->items); \
        if (grown_ != NULL) { \
            (list)->items = grown_; \
            if ((list)->count <= (at)) \
                (list)->count = (size_t)(at) + 1; \
        } \
        grown_ != NULL; \
    })

void gain_joins(struct gain *gain, const struct model *model, uint32_t slot)
{
    gain->joins++;
    if (slot != MODEL_NO_SLOT && ROOM_FOR(&gain->joined, slot))
        gain->joined.items[slot] = model->op; /* the number of the operation */
}

static void add(struct gain *gain, uint32_t thread, uint64_t ns)
{
    if (ROOM_FOR(&gain->blocked, thread))
        gain->blocked.items[thread] += ns;
}

/* What the call waits for: work that implicit order had put behind other work, and work of other threads. */
static void look_at(const struct gain *gain, const struct model *model, const struct call_view *view, bool *behind,
                    bool *others)
{
    *behind = *others = false;
    for (uint32_t i = 0; i < view->waits.count && i < PENDING_KEPT; i++) {
        uint32_t slot = view->waits.slot[i];
        *behind |= slot < gain->joined.count && gain->joined.items[slot] > vclock_get(&model->done, slot);
        *others |= model->streams.items[slot].last_thread != view->call->thread;
    }
}

void gain_blocked(struct gain *gain, const struct model *model, const struct call_view *view)
{
    bool behind, others;
    if (view->scope == WAIT_CONTEXT && !view->completes) /* it may only have loaded, whatever stream work is on */
        return;
    bool itself = view->target < gain->joined.count && gain->joined.items[view->target] == view->number;
    look_at(gain, model, view, &behind, &others);
    if (behind || (itself && others)) {
        add(gain, view->thread, view->lost_ns);
    } else if (itself && ROOM_FOR(&gain->own, view->thread)) {
        gain->open += !gain->own.items[view->thread].open;
        saving_begin(&gain->own.items[view->thread], view);
    }
}

void gain_look_now(struct gain *gain, const struct model *model, const struct call_view *view)
{
    struct saving *own = view->thread < gain->own.count ? &gain->own.items[view->thread] : NULL;
    if (own == NULL || !own->open)
        return;
    saving_look(own, model->trace, view);
    if (own->open)
        return;
    gain->open--;
    add(gain, view->thread, own->saved_ns);
}

uint64_t gain_most(const struct gain *gain)
{
    uint64_t most = 0;
    for (size_t i = 0; i < gain->blocked.count; i++)
        most = gain->blocked.items[i] > most ? gain->blocked.items[i] : most;
    return most;
}

void gain_free(struct gain *gain)
{
    free(gain->joined.items);
    free(gain->blocked.items);
    free(gain->own.items);
    *gain = (struct gain){0};
}

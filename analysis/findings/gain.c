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
        gain->joined.items[slot] = model->op + 1; /* the number that the operation will have */
}

void gain_blocked(struct gain *gain, const struct model *model, const struct call_view *view)
{
    bool behind = false;
    for (uint32_t i = 0; i < view->waits.count && i < PENDING_KEPT; i++) {
        uint32_t slot = view->waits.slot[i];
        behind |= slot < gain->joined.count && gain->joined.items[slot] > vclock_get(&model->done, slot);
    }
    /* The call may itself be the one that comes after other work. */
    behind |= view->target < gain->joined.count && gain->joined.items[view->target] == model->op + 1;
    if (!behind || !ROOM_FOR(&gain->blocked, view->thread))
        return;
    gain->blocked.items[view->thread] += view->lost_ns;
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
    *gain = (struct gain){0};
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * The agenda of completion.h, for model.c. Holds one entry for each synchronising call that has not returned yet.
 */
#include "analysis/model/completion.h"

#include <stdlib.h>

#include "analysis/base/agenda.h"

_Static_assert(sizeof(struct completion) <= AGENDA_ITEM_MOST && offsetof(struct completion, ticks) == 0, "base/agenda.h");

void completions_add(struct completions *completions, uint64_t ticks, struct vclock *clock)
{
    if (completions->count >= AGENDA_MOST || !TABLE_ADD(completions)) {
        vclock_free(clock);
        return;
    }
    *TABLE_LAST(completions) = (struct completion){.ticks = ticks, .clock = *clock};
    *clock = (struct vclock){0};
    agenda_add(completions->items, completions->count, sizeof *completions->items);
}

bool completions_until(struct completions *completions, uint64_t now, struct vclock *done)
{
    bool any = false;
    while (completions->count != 0 && completions->items[0].ticks <= now) {
        agenda_take(completions->items, completions->count, sizeof *completions->items);
        struct completion *first = &completions->items[--completions->count];
        vclock_join(done, &first->clock);
        vclock_free(&first->clock);
        any = true;
    }
    return any;
}

void completions_free(struct completions *completions)
{
    for (size_t i = 0; i < completions->count; i++)
        vclock_free(&completions->items[i].clock);
    free(completions->items);
    *completions = (struct completions){0};
}

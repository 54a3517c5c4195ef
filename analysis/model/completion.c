/* SPDX-License-Identifier: Apache-2.0
 *
 * The agenda of completion.h, for the model and for repair. Holds one entry for each synchronising call that has not
 * returned yet.
 */
#include "analysis/model/completion.h"

#include <stdlib.h>

#include "analysis/base/agenda.h"

_Static_assert(sizeof(struct completion) <= AGENDA_ITEM_MOST && offsetof(struct completion, ticks) == 0, "base/agenda.h");

void completion_free(struct completion *completion)
{
    for (size_t i = 0; i < completion->replays; i++)
        vclock_free(&completion->replayed[i]);
    free(completion->replayed);
    vclock_free(&completion->clock);
}

bool completion_add(struct completions *completions, struct completion *completion)
{
    bool room = completions->count < AGENDA_MOST && TABLE_ADD(completions);
    if (!room) {
        completion_free(completion);
    } else {
        *TABLE_LAST(completions) = *completion;
        agenda_add(completions->items, completions->count, sizeof *completions->items);
    }
    *completion = (struct completion){0};
    return room;
}

bool completion_take(struct completions *completions, uint64_t now, struct completion *out)
{
    if (completions->count == 0 || completions->items[0].ticks > now)
        return false;
    agenda_take(completions->items, completions->count, sizeof *completions->items);
    *out = completions->items[--completions->count];
    return true;
}

void completion_untake(struct completions *completions, size_t count)
{
    for (size_t i = 0; i < count; i++)
        agenda_add(completions->items, ++completions->count, sizeof *completions->items);
}

void completion_free_all(struct completions *completions)
{
    for (size_t i = 0; i < completions->count; i++)
        completion_free(&completions->items[i]);
    free(completions->items);
    *completions = (struct completions){0};
}

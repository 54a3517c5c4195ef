/* SPDX-License-Identifier: Apache-2.0
 *
 * The program's events by handle. Called by guard.c. Entries of destroyed events are used again, so memory goes by how many
 * live at once.
 */
#include "interpose/guard/events.h"

#include <string.h>

#include "interpose/base/memory.h"
#include "interpose/guard/rails.h"
#include "interpose/state/map.h"

static struct map events;          /* CUevent -> struct guard_event * */
static struct guard_event *unused; /* under order_lock */

struct guard_event *guard_event_find(CUevent event)
{
    return (struct guard_event *)map_get(&events, (uint64_t)event);
}

static struct guard_event *make(CUevent event, uint32_t timed)
{
    lock_take(&order_lock);
    struct guard_event *entry = unused;
    if (entry)
        unused = entry->next;
    lock_drop(&order_lock);
    if (!entry && !(entry = memory_keep(sizeof *entry)))
        return NULL;
    *entry = (struct guard_event){.timed = timed};
    map_set(&events, (uint64_t)event, (uint64_t)entry);
    return entry;
}

struct guard_event *guard_event_make(CUevent event)
{
    struct guard_event *entry = guard_event_find(event);
    return entry ? entry : make(event, 1); /* what is not known may measure */
}

void guard_event_created(CUevent event, unsigned flags)
{
    uint32_t timed = !(flags & CU_EVENT_DISABLE_TIMING);
    struct guard_event *entry = guard_event_find(event); /* destroyed past the shim */
    if (!entry) {
        make(event, timed);
        return;
    }
    lock_take(&order_lock);
    order_recorded_drop(&entry->recorded);
    entry->timed = timed;
    lock_drop(&order_lock);
}

void guard_event_unrecorded(CUevent event)
{
    struct guard_event *entry = guard_event_find(event);
    if (!entry)
        return;
    lock_take(&order_lock);
    order_recorded_drop(&entry->recorded);
    lock_drop(&order_lock);
}

void guard_event_gone(CUevent event)
{
    struct guard_event *entry = (struct guard_event *)map_remove(&events, (uint64_t)event);
    if (!entry)
        return;
    lock_take(&order_lock);
    order_recorded_drop(&entry->recorded);
    entry->next = unused;
    unused = entry;
    lock_drop(&order_lock);
}

void guard_events_after_fork(void)
{
    map_reset(&events);
    unused = NULL;
}

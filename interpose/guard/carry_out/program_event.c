/* SPDX-License-Identifier: Apache-2.0
 *
 * The program's events by handle. Called by guard.c. Entries of destroyed events are used again, so memory goes by how many
 * live at once.
 */
#include "interpose/guard/carry_out/program_event.h"

#include <string.h>

#include "interpose/base/pages.h"
#include "interpose/guard/carry_out/issue.h"
#include "interpose/guard/decide/lane_limits.h"
#include "interpose/guard/decide/order.h"
#include "interpose/guard/decide/promises.h"
#include "interpose/guard/decide/repeat_rights.h"
#include "interpose/state/map.h"

uint32_t guard_unseen_calls;

static struct map events; /* CUevent -> struct program_event * */
static struct program_event *unused;
static struct program_event *awaited; /* those that graphs wait for; under guard_state.lock */
static struct lock unused_lock;       /* taken under guard_state.lock, too */

struct program_event *program_event_find(CUevent event)
{
    return (struct program_event *)map_get(&events, (uint64_t)event);
}

static struct program_event *make(CUevent event, int timed, int foreign)
{
    lock_take(&unused_lock);
    struct program_event *entry = unused;
    if (entry)
        unused = entry->next;
    lock_drop(&unused_lock);
    if (!entry && !(entry = pages_keep(sizeof *entry)))
        return NULL;
    *entry = (struct program_event){
        .timed = (uint8_t)timed, .foreign = (uint8_t)foreign, .unseen = guard_unseen(), .ticket = UINT32_MAX};
    map_set(&events, (uint64_t)event, (uint64_t)entry);
    return entry;
}

struct program_event *program_event_make(CUevent event)
{
    struct program_event *entry = program_event_find(event);
    return entry ? entry : make(event, 1, 0); /* what is not known may measure */
}

/* Locked. */
static void leave_graphs(struct program_event *entry)
{
    struct program_event **link = &awaited;
    while (entry->graphs_await && *link && *link != entry)
        link = &(*link)->next_awaited;
    if (entry->graphs_await && *link)
        *link = entry->next_awaited;
    entry->graphs_record = entry->graphs_await = 0;
}

static void forget(struct program_event *entry)
{
    lock_take(&guard_state.lock);
    promises_recorded_drop(&entry->recorded);
    promises_recorded_drop(&entry->before);
    lock_drop(&guard_state.lock);
}

void program_event_created(CUevent event, unsigned flags, int opened)
{
    int timed = !(flags & CU_EVENT_DISABLE_TIMING), foreign = opened || (flags & CU_EVENT_INTERPROCESS);
    struct program_event *entry = program_event_find(event); /* destroyed past the shim */
    if (!entry) {
        make(event, timed, foreign);
        return;
    }
    forget(entry);
    lock_take(&guard_state.lock);
    leave_graphs(entry);
    lock_drop(&guard_state.lock);
    entry->timed = (uint8_t)timed;
    entry->foreign = (uint8_t)foreign;
    entry->elsewhere = 0;
    entry->unseen = guard_unseen();
}

void program_event_recorded_elsewhere(CUevent event)
{
    struct program_event *entry = program_event_make(event);
    lock_take(&guard_state.lock);
    if (entry)
        entry->elsewhere = 1;
    lock_drop(&guard_state.lock);
}

void program_event_in_graph(CUevent event, int waits)
{
    struct program_event *entry = program_event_make(event);
    if (!entry)
        return;
    lock_take(&guard_state.lock);
    entry->graphs_record |= !waits;
    if (waits && !entry->graphs_await) {
        entry->graphs_await = 1;
        entry->next_awaited = awaited;
        awaited = entry;
    }
    lock_drop(&guard_state.lock);
}

void program_event_awaited_by_graph(unsigned lane)
{
    for (const struct program_event *entry = awaited; entry; entry = entry->next_awaited)
        promises_event_awaited(&guard_state.order, lane, &entry->recorded);
}

void program_event_awaited_by_all(CUevent event)
{
    lock_take(&guard_state.lock);
    const struct program_event *entry = program_event_find(event);
    if (entry)
        promises_event_known(&guard_state.order, &entry->recorded);
    lock_drop(&guard_state.lock);
}

/* The newest record may still be refused, and so may the one that comes now: then the event carries one of two others. */
static void either(struct program_event *entry)
{
    struct promise *promise = &entry->before.promise;
    if (promise->domain == entry->recorded.promise.domain)
        promises_of_event(&entry->recorded, promise);
    lane_limits_raise(&promise->limits, entry->recorded.lane, entry->recorded.at - entry->recorded.early);
    promises_recorded_drop(&entry->recorded);
}

void program_event_recording(struct program_event *entry)
{
    const struct recorded *newest = &entry->recorded;
    int on_its_way = newest->at && issue_is_on_its_way(newest->lane, newest->ticket);
    if (on_its_way && entry->before.at) {
        either(entry);
    } else {
        promises_recorded_drop(&entry->before);
        entry->before = entry->recorded;
    }
    entry->elsewhere_before = on_its_way || entry->elsewhere || entry->unseen != guard_unseen();
    entry->recorded = (struct recorded){0};
    entry->elsewhere = 0;
    entry->unseen = guard_unseen();
}

void program_event_refused(CUevent event, moment at)
{
    struct program_event *entry = program_event_find(event);
    if (!entry)
        return;
    lock_take(&guard_state.lock);
    if (entry->recorded.at == at) {
        promises_recorded_drop(&entry->recorded);
        entry->recorded = entry->before;
        entry->elsewhere |= entry->elsewhere_before; /* or somebody else has recorded it since */
        entry->before = (struct recorded){0};
    } else if (entry->before.at == at) { /* another thread has recorded it since */
        promises_recorded_drop(&entry->before);
    }
    lock_drop(&guard_state.lock);
}

/* Where the driver has refused that record since, the wait was for an older one; where there is a newer one, for which of
 * them is not known. */
void program_event_followed(const struct program_event *entry, moment at, unsigned lane)
{
    lock_take(&guard_state.lock);
    const struct recorded *recorded = &entry->recorded;
    if (recorded->at == at && !program_event_is_unsure(entry)) {
        promises_event_followed(&guard_state.order, lane, recorded);
    } else if (recorded->at < at) {
        repeat_rights_end(&guard_state.order);
        promises_event_awaited(&guard_state.order, lane, recorded);
    }
    lock_drop(&guard_state.lock);
}

void program_event_unrecorded(CUevent event)
{
    struct program_event *entry = program_event_find(event);
    if (entry)
        forget(entry);
}

struct program_event *program_event_leaves(CUevent event)
{
    return (struct program_event *)map_remove(&events, (uint64_t)event);
}

void program_event_left(CUevent event, struct program_event *entry, int gone)
{
    if (!entry || (!gone && map_get_or_set(&events, (uint64_t)event, (uint64_t)entry) == (uint64_t)entry))
        return;
    forget(entry);
    lock_take(&guard_state.lock);
    leave_graphs(entry);
    lock_drop(&guard_state.lock);
    lock_take(&unused_lock);
    entry->next = unused;
    unused = entry;
    lock_drop(&unused_lock);
}

void program_event_after_fork(void)
{
    map_reset(&events);
    unused = awaited = NULL;
    guard_unseen_calls = 0;
    unused_lock.held = 0;
}

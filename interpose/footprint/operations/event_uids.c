/* SPDX-License-Identifier: Apache-2.0
 *
 * Events: their uids, and how often they were recorded. Only the recorder asks, so nothing is kept while it is off. Called
 * from api.def's before and after columns. Must not call the driver.
 */
#include "interpose/footprint/operations/event_uids.h"

#include "interpose/state/call_words.h"
#include "interpose/state/map.h"
#include "interpose/state/uids.h"

static struct map events;    /* CUevent -> uid << 32 | times recorded */
static struct map in_graphs; /* CUevents that launches of graphs record */

void event_uids_created(struct call *C, const CUevent *event, unsigned flags)
{
    if (!C->footprint || C->result != CUDA_SUCCESS || !event)
        return;
    C->object = uids_next(OBJECT_EVENT);
    map_set(&events, (uint64_t)*event, (uint64_t)C->object << 32);
    C->word[0] = flags;
    C->word[1] = (uint64_t)*event;
    call_words_set(C, PTDS_OP_EVENT_CREATE, 2);
}

/* An event that was not seen being made gets its uid on first sight. */
static uint64_t event_state(CUevent event, uint64_t records)
{
    uint64_t state = map_add(&events, (uint64_t)event, records);
    if (!state) {
        state = (uint64_t)uids_next(OBJECT_EVENT) << 32 | records;
        map_set(&events, (uint64_t)event, state);
    }
    return state;
}

void event_uids_used(struct call *C, enum ptds_op op, CUevent event)
{
    C->event = event;
    if (!C->footprint || !event)
        return;
    int records = op == PTDS_OP_EVENT_RECORD || op == PTDS_OP_CTX_EVENT_RECORD;
    uint64_t state = event_state(event, (uint64_t)records);
    if (!records && map_get(&in_graphs, (uint64_t)event))
        state = event_state(event, 1); /* counts as a recording that was not seen */
    C->object = (uint32_t)(state >> 32);
    C->generation = (uint32_t)state;
    call_words_set(C, op, 0);
}

/* The first event goes into a word that is not recorded. */
void event_uids_elapsed(struct call *C, CUevent start, CUevent end)
{
    C->word[0] = (uint64_t)start;
    event_uids_used(C, PTDS_OP_EVENT_ELAPSED, end);
}

void event_uids_in_graph(CUevent event)
{
    map_set(&in_graphs, (uint64_t)event, 1);
}

void event_uids_gone(struct call *C, CUevent event)
{
    if (!C->footprint)
        return;
    map_remove(&events, (uint64_t)event);
    C->word[0] = map_remove(&in_graphs, (uint64_t)event);
}

void event_uids_left(const struct call *C, CUevent event)
{
    if (!C->footprint || !event || C->result == CUDA_SUCCESS)
        return;
    map_get_or_set(&events, (uint64_t)event, (uint64_t)C->object << 32 | C->generation);
    if (C->word[0])
        event_uids_in_graph(event);
}

void event_uids_after_fork(void)
{
    map_reset(&events);
    map_reset(&in_graphs);
}

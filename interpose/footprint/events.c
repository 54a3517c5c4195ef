/* SPDX-License-Identifier: Apache-2.0
 *
 * Events: their uids, and how often they were recorded. Only the recorder asks, so nothing
 * is kept while it is off, except where memory lies, which policies ask too. Called from api.def's before and after
 * columns.
 */
#include "interpose/footprint/footprint.h"
#include "interpose/state/map.h"
#include "interpose/state/objects.h"
#include "interpose/state/uids.h"

#include <string.h>

static struct map events; /* CUevent -> uid << 32 | times recorded */

/* CUevents that launches of graphs record: whoever asks may get another recording than the last one that was seen. */
static struct map in_graphs;

void objects_event_created(struct call *C, const CUevent *event, unsigned flags)
{
    if (!C->footprint || C->result != CUDA_SUCCESS || !event)
        return;
    C->object = uids_next(OBJECT_EVENT);
    map_set(&events, (uint64_t)*event, (uint64_t)C->object << 32);
    C->word[0] = flags;
    C->word[1] = (uint64_t)*event;
    fp_words(C, PTDS_OP_EVENT_CREATE, 2);
}

/* An event made past the shim gets its uid on first sight. */
static uint64_t event_state(CUevent event, uint64_t records)
{
    uint64_t state = map_add(&events, (uint64_t)event, records);
    if (!state) {
        state = (uint64_t)uids_next(OBJECT_EVENT) << 32 | records;
        map_set(&events, (uint64_t)event, state);
    }
    return state;
}

void fp_event(struct call *C, enum ptds_op op, CUevent event)
{
    C->event = event;
    if (!C->footprint || !event)
        return;
    int records = op == PTDS_OP_EVENT_RECORD || op == PTDS_OP_CTX_EVENT_RECORD;
    uint64_t state = event_state(event, (uint64_t)records);
    if (!records && map_get(&in_graphs, (uint64_t)event))
        state = event_state(event, 1); /* a recording that nobody has seen */
    C->object = (uint32_t)(state >> 32);
    C->generation = (uint32_t)state;
    fp_words(C, op, 0);
}

/* The first one in a word that is not recorded. */
void fp_elapsed(struct call *C, CUevent start, CUevent end)
{
    C->word[0] = (uint64_t)start;
    fp_event(C, PTDS_OP_EVENT_ELAPSED, end);
}

void objects_event_in_graph(CUevent event)
{
    map_set(&in_graphs, (uint64_t)event, 1);
}

void objects_event_gone(struct call *C, CUevent event)
{
    if (!C->footprint)
        return;
    map_remove(&events, (uint64_t)event);
    C->word[0] = map_remove(&in_graphs, (uint64_t)event);
}

void objects_event_left(const struct call *C, CUevent event)
{
    if (!C->footprint || !event || C->result == CUDA_SUCCESS)
        return;
    map_get_or_set(&events, (uint64_t)event, (uint64_t)C->object << 32 | C->generation);
    if (C->word[0])
        objects_event_in_graph(event);
}

void fp_host_function(struct call *C, void *function)
{
    if (!C->footprint)
        return;
    fp_opaque(C, OPAQUE_HOST_FUNCTION);
    fp_object(C, PTDS_OP_HOST_FUNCTION, (uint64_t)function);
}

void objects_functions_going(void)
{
    footprint_kernels_forget(NULL);
}

void objects_handles_after_fork(void)
{
    map_reset(&events);
    map_reset(&in_graphs);
}

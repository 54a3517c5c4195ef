/* SPDX-License-Identifier: Apache-2.0
 *
 * Notes what each stream's pending work names (tracks.h). Called by aftermath.c with every call that is work; memory goes
 * with live streams. Must never exit.
 */
#include "analysis/findings/aftermath/tracks.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/heap.h"
#include "analysis/base/hints.h"
#include "analysis/model/classify.h"
#include "analysis/order/arguments/named_range.h"
#include "analysis/order/verdict_memory.h"

enum { PROBES = 4 };

static void note_address(struct track *track, uint64_t address)
{
    uint64_t at = address * 0x9e3779b97f4a7c15u >> 59;
    for (unsigned i = 0; i < PROBES; i++) {
        uint64_t *place = &track->address[(at + i) % TRACKED];
        if (*place == address)
            return;
        if (*place == 0) {
            *place = address;
            return;
        }
    }
    track->blind = true;
}

static struct track *track_to_note(struct tracks *tracks, uint32_t slot)
{
    struct track **track = TABLE_AT(&tracks->list, slot);
    if (track != NULL && *track == NULL)
        *track = heap_zeroed(1, sizeof **track);
    return track != NULL ? *track : NULL;
}

static inline void note_host(struct track *track, unsigned op, unsigned kinds)
{
    track->host |= op == PTDS_OP_COPY && classify_is_host_memory(kinds & 15);
}

static INLINE void look_into(struct track *track, const struct model *model, const struct track_note *note,
                             struct call *call)
{
    struct named_range touch[NAMED_RANGE_MOST];
    bool all;
    note_host(track, note->op, note->kinds);
    if (track->blind)
        return;
    call->words = note->words;
    call->word = note->word;
    call->r.op = note->op;
    call->r.kinds = note->kinds;
    call->r.flags = note->flags;
    unsigned count = named_range_of(call, touch, &all);
    track->blind |= !all || (note->op == PTDS_OP_LAUNCH && definitions_kernel_hides(&model->trace->defs, note->object));
    for (unsigned i = 0; i < count && !track->blind; i++)
        if (touch[i].address != 0)
            note_address(track, touch[i].address);
}

static ASIDE void look_into_all(struct track *track, const struct model *model)
{
    struct call call; /* what named_range_of looks at, filled in for each */
    track->some = true;
    for (uint32_t i = 0; i < track->notes; i++)
        look_into(track, model, &track->note[i], &call);
    track->notes = 0;
}

static void begin_anew(struct track *track, uint32_t uid)
{
    track->uid = uid;
    track->notes = 0;
    track->blind = track->host = false;
    if (track->some)
        memset(track->address, 0, sizeof track->address);
    track->some = false;
}

void tracks_note_other(struct tracks *tracks, const struct model *model, const struct call_view *view)
{
    struct track *track = track_to_note(tracks, view->target);
    if (track == NULL)
        return;
    if (track->uid != model->streams.items[view->target].uid || !model_is_pending(model, view->target))
        begin_anew(track, model->streams.items[view->target].uid);
    if (track->notes == TRACK_CALLS)
        look_into_all(track, model);
    track->blind |= named_range_is_more(view->call);
    if (track->blind)
        note_host(track, view->call->r.op, view->call->r.kinds);
    else
        tracks_add(track, view->call);
}

const struct track *tracks_of(const struct tracks *tracks, const struct model *model, uint32_t slot)
{
    struct track *track = slot < tracks->list.count ? tracks->list.items[slot] : NULL;
    if (track != NULL && track->notes != 0)
        look_into_all(track, model);
    return track;
}

static bool is_device(uint32_t kind)
{
    return kind == PTDS_MEMORY_DEVICE || kind == PTDS_MEMORY_POOL || kind == PTDS_MEMORY_GLOBAL;
}

/* An address that lies in no known allocation may be of any memory. */
void tracks_memories(const struct tracks *tracks, const struct model *model, struct verdicts *verdicts, uint32_t slot,
                     struct track_memories *used)
{
    const struct track *track = tracks_of(tracks, model, slot);
    bool known = track != NULL && track->uid == model->streams.items[slot].uid;
    *used = (struct track_memories){.blind = !known || track->blind, .host = known && track->host};
    for (unsigned i = 0; i < TRACKED && !used->blind; i++) {
        struct verdict_memory memory;
        if (track->address[i] == 0)
            continue;
        used->blind = !verdict_memory_at(verdicts, track->address[i], &memory) || used->count == TRACK_MEMORIES;
        if (used->blind)
            return;
        used->host |= !is_device(memory.kind);
        used->some |= bit_of(memory.base);
        used->base[used->count++] = memory.base;
    }
}

void tracks_end(struct tracks *tracks)
{
    for (size_t i = 0; i < tracks->list.count; i++)
        free(tracks->list.items[i]);
    free(tracks->list.items);
    *tracks = (struct tracks){0};
}

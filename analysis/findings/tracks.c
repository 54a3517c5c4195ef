/* SPDX-License-Identifier: Apache-2.0
 *
 * Notes what each stream's pending work names (tracks.h). Called by aftermath.c with every call that is work; memory goes
 * with live streams. Must never exit.
 */
#include "analysis/findings/tracks.h"

#include <stdlib.h>

#include "analysis/order/touch.h"

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
    void *grown = table_grow(tracks->list.items, &tracks->list.room, (size_t)slot + 1, sizeof *tracks->list.items);
    if (grown == NULL)
        return NULL;
    tracks->list.items = grown;
    if (tracks->list.count <= slot)
        tracks->list.count = (size_t)slot + 1;
    struct track **track = &tracks->list.items[slot];
    if (*track == NULL)
        *track = calloc(1, sizeof **track);
    return *track;
}

static bool kernel_hides(const struct model *model, struct track *track, const struct ptds_rec_CALL *call)
{
    if (call->op != PTDS_OP_LAUNCH || call->object == track->kernel)
        return false;
    const struct kernel_def *kernel = definitions_kernel(&model->trace->defs, call->object);
    bool known = kernel != NULL && kernel->params != UINT32_MAX;
    if (known)
        track->kernel = call->object;
    return !known;
}

void tracks_note(struct tracks *tracks, const struct model *model, const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    struct track *track = track_to_note(tracks, view->target);
    uint32_t uid = model->streams.items[view->target].uid;
    struct touch touch[TOUCH_MOST];
    bool all;
    if (track == NULL)
        return;
    if (track->any && (track->uid != uid || !model_is_pending(model, view->target)))
        *track = (struct track){.kernel = track->kernel};
    track->uid = uid;
    track->any = true;
    if (track->blind)
        return;
    unsigned count = touch_of(view->call, touch, &all);
    track->blind |= !all || kernel_hides(model, track, call);
    track->host |= call->op == PTDS_OP_COPY && model_is_host(call->kinds & 15);
    for (unsigned i = 0; i < count && !track->blind; i++)
        if (touch[i].address != 0)
            note_address(track, touch[i].address);
}

void tracks_end(struct tracks *tracks)
{
    for (size_t i = 0; i < tracks->list.count; i++)
        free(tracks->list.items[i]);
    free(tracks->list.items);
    *tracks = (struct tracks){0};
}

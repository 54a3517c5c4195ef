/* SPDX-License-Identifier: Apache-2.0
 *
 * What the pending work of each stream names, for waits that are watched (aftermath.h).
 */
#ifndef PTDS_ANALYSIS_FINDINGS_AFTERMATH_TRACKS_H
#define PTDS_ANALYSIS_FINDINGS_AFTERMATH_TRACKS_H

#include "analysis/model/model.h"
#include "analysis/order/arguments/named_range.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The addresses that the pending work of a stream names. Few waits are watched, so calls are only noted; the notes are
 * looked into when a wait is watched, or when TRACK_CALLS are kept. */
enum { TRACKED = 32, TRACK_CALLS = 64 };
struct track_note {
    const unsigned char *word; /* inside the source */
    uint32_t words, object, flags;
    uint8_t op, kinds;
};
struct track {
    uint32_t uid, notes;
    bool blind, host;                    /* blind: it may use other memory; host: it writes host memory */
    bool some;                           /* addresses are in the set */
    uint64_t address[TRACKED];           /* a hash set; 0 free */
    struct track_note note[TRACK_CALLS]; /* not looked into yet */
};

struct tracks {
    TABLE_OF(struct track *) list; /* by slot; NULL: no work yet */
};

static inline void tracks_add(struct track *track, const struct call *call)
{
    struct track_note *note = &track->note[track->notes++];
    note->word = call->word;
    note->words = call->words;
    note->object = call->r.object;
    note->flags = call->r.flags;
    note->op = call->r.op;
    note->kinds = call->r.kinds;
}

/* Notes a call that needs more than a place among the notes: the first one since the stream had no work pending, one
 * whose memory is unknown, or one beyond TRACK_CALLS. */
void tracks_note_other(struct tracks *tracks, const struct model *model, const struct call_view *view);

/* Notes a call that is work; between model_enter and model_leave. Where the pending work of the stream may use any
 * memory, more work tells nothing. */
static inline void tracks_note(struct tracks *tracks, const struct model *model, const struct call_view *view)
{
    const struct call *call = view->call;
    struct track *track = view->target < tracks->list.count ? tracks->list.items[view->target] : NULL;
    if (track == NULL || track->uid != model->streams.items[view->target].uid || !model_is_pending(model, view->target))
        tracks_note_other(tracks, model, view);
    else if (track->blind && call->r.op != PTDS_OP_COPY) /* of a copy, whether it is to the host */
        return;
    else if (track->blind)
        tracks_note_other(tracks, model, view);
    else if (track->notes == TRACK_CALLS || named_range_is_more(call))
        tracks_note_other(tracks, model, view);
    else
        tracks_add(track, call);
}

/* Looks into all notes of the slot. NULL: the stream had no work yet. */
const struct track *tracks_of(const struct tracks *tracks, const struct model *model, uint32_t slot);

/* The allocations that the pending work of a stream uses. */
enum { TRACK_MEMORIES = 16 };
struct track_memories {
    bool blind, host; /* blind: it may use others; host: it uses memory of the host */
    uint32_t count;
    uint64_t some; /* bit_of each base: a call that has none of these bits uses none of the memories */
    uint64_t base[TRACK_MEMORIES];
};
struct verdicts;
void tracks_memories(const struct tracks *tracks, const struct model *model, struct verdicts *verdicts, uint32_t slot,
                     struct track_memories *used);
void tracks_end(struct tracks *tracks);

#ifdef __cplusplus
}
#endif
#endif

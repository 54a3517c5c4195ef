/* SPDX-License-Identifier: Apache-2.0
 *
 * What the pending work of each stream names, for waits that are watched (aftermath.h).
 */
#ifndef PTDS_ANALYSIS_FINDINGS_TRACKS_H
#define PTDS_ANALYSIS_FINDINGS_TRACKS_H

#include "analysis/model/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The addresses that the pending work of a stream names. Few waits are watched, so calls are only noted, and looked into
 * when one is, or when there are many of them. */
enum { TRACKED = 32, TRACK_CALLS = 64 };
struct track {
    uint32_t uid, notes;
    bool blind, host;          /* blind: it may use other memory; host: it writes host memory */
    bool any, some;            /* some: addresses are in the set */
    uint64_t address[TRACKED]; /* a hash set; 0 free */
    struct track_note {
        const unsigned char *word; /* inside the source */
        uint32_t words, object, flags;
        uint8_t op, kinds;
    } note[TRACK_CALLS]; /* not looked into yet */
};

struct tracks {
    TABLE_OF(struct track *) list; /* by slot; NULL: no work yet */
};

/* Whether it is known that the stream's pending work may use any memory: more of it tells nothing. */
static inline bool tracks_blind(const struct tracks *tracks, const struct model *model, uint32_t slot)
{
    const struct track *track = slot < tracks->list.count ? tracks->list.items[slot] : NULL;
    return track != NULL && track->blind && track->uid == model->streams.items[slot].uid && model_is_pending(model, slot);
}

/* Of a call that is work, between model_enter and model_leave. */
void tracks_note(struct tracks *tracks, const struct model *model, const struct call_view *view);
/* All that was noted is looked into. NULL: the stream had no work yet. */
const struct track *tracks_of(const struct tracks *tracks, const struct model *model, uint32_t slot);
void tracks_end(struct tracks *tracks);

#ifdef __cplusplus
}
#endif
#endif

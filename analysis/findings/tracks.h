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

/* The addresses that the pending work of a stream names. */
enum { TRACKED = 32 };
struct track {
    uint32_t uid, kernel; /* kernel: the last one that was looked up */
    bool blind, host;     /* blind: it may use other memory; host: it writes host memory */
    bool any;
    uint64_t address[TRACKED]; /* a hash set; 0 free */
};

struct tracks {
    TABLE_OF(struct track *) list; /* by slot; NULL: no work yet */
};

/* NULL: the stream had no work yet. */
static inline const struct track *tracks_of(const struct tracks *tracks, uint32_t slot)
{
    return slot < tracks->list.count ? tracks->list.items[slot] : NULL;
}

/* Whether it is known that the stream's pending work may use any memory: more of it tells nothing. */
static inline bool tracks_blind(const struct tracks *tracks, const struct model *model, uint32_t slot)
{
    const struct track *track = tracks_of(tracks, slot);
    return track != NULL && track->blind && track->uid == model->streams.items[slot].uid && model_is_pending(model, slot);
}

/* Of a call that is work, between model_enter and model_leave. */
void tracks_note(struct tracks *tracks, const struct model *model, const struct call_view *view);
void tracks_end(struct tracks *tracks);

#ifdef __cplusplus
}
#endif
#endif

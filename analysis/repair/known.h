/* SPDX-License-Identifier: Apache-2.0
 *
 * What comes before what under the policy, with the waits that have been added so far. The model replays the calls under
 * the policy (model_replay); here is what it does not keep: what an earlier operation came after, so that whoever waits for
 * it comes after that, too.
 */
#ifndef PTDS_ANALYSIS_REPAIR_KNOWN_H
#define PTDS_ANALYSIS_REPAIR_KNOWN_H

#include "analysis/model/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a stream's operations come after, from one of them on: their own stream left out. */
struct known_from {
    uint64_t op;
    struct vclock clock;
};
struct known_past {
    struct known_from *items;
    size_t count, room;
};

struct known_order {
    uint32_t replay;                     /* the model's */
    struct vclock done;                  /* complete, as far as anybody on the host knows */
    struct completions waits;            /* of the host that have not returned yet */
    TABLE_OF(struct known_past) streams; /* by slot */
    size_t bytes;                        /* of their clocks */
    bool thinned;                        /* less is known of the past than there was */
};

/* False without memory. */
bool known_begin(struct known_order *known, struct model *model, unsigned policy);
void known_end(struct known_order *known);

/* The host knows what the waits that have returned by then tell. */
void known_until(struct known_order *known, uint64_t ticks);
/* Between model_enter and model_leave. The slot of the call's stream, opened if need be; MODEL_NO_SLOT: none. */
uint32_t known_slot(const struct known_order *known, struct model *model, const struct call_view *view);
/* Joined into `out`: what the operation comes after that the call puts on its stream; what is complete when it returns. */
void known_before(const struct known_order *known, const struct model *model, const struct call_view *view,
                  struct vclock *out);
void known_cover(const struct known_order *known, const struct model *model, const struct call_view *view,
                 struct vclock *out);
/* The operation comes after all of `clock`, and will be asked for. */
void known_submit(struct known_order *known, struct model *model, uint32_t slot, uint64_t op, const struct vclock *clock);
/* The host waits for what the call covers; after known_submit. */
void known_wait(struct known_order *known, const struct model *model, const struct call_view *view);
/* Joined into `out`: an operation and all that it comes after. */
bool known_behind(const struct known_order *known, uint32_t slot, uint64_t op, struct vclock *out);

#ifdef __cplusplus
}
#endif
#endif

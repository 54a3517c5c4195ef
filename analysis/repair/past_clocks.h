/* SPDX-License-Identifier: Apache-2.0
 *
 * What each operation of the recent past comes after, under one policy and with the waits that have been added so far. For
 * repair.c. The model's replay under the policy (model_orders_replay) has the clock of each stream's last operation only. A
 * wait may be added behind an earlier one; then the operation that waits comes after all that the earlier one comes after.
 *
 * Example: stream 1 runs operations 4 and 7, and 7 comes after operation 5 of stream 2. A wait of operation 9 for operation
 * 4 must not bring operation 5. So stream 1 has two past clocks: {} from operation 4 on, {stream 2: 5} from operation 7 on.
 */
#ifndef PTDS_ANALYSIS_REPAIR_PAST_CLOCKS_H
#define PTDS_ANALYSIS_REPAIR_PAST_CLOCKS_H

#include "analysis/model/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What operation `op` of a stream, and those after it up to the stream's next past_clock, come after on other streams. */
struct past_clock {
    uint64_t op;
    struct vclock clock; /* the stream's own entry means nothing */
};
struct stream_past {
    struct past_clock *items; /* rising by op */
    size_t count, room;
};

struct past_clocks {
    uint32_t replay;                      /* number of the model's replay under the policy */
    struct vclock done;                   /* operations that are complete as far as any host thread knows */
    struct completions waits;             /* host waits that have not returned yet */
    TABLE_OF(struct stream_past) streams; /* by the model's slot */
    size_t bytes;                         /* of all past clocks */
    bool thinned;                         /* past clocks were dropped: less order is known than there is */
};

/* Before the model's first call. The policy: enum order_policy. False without memory. End with past_clocks_end either way.
 */
bool past_clocks_begin(struct past_clocks *past, struct model *model, unsigned policy);
void past_clocks_end(struct past_clocks *past);

/* Host waits that have returned by `ticks` add what they covered to `done`. */
void past_clocks_until(struct past_clocks *past, uint64_t ticks);

/* The next four: between model_enter and model_leave of the call. */
/* The slot of the stream on which the policy puts the call, opened if need be; MODEL_NO_SLOT: the call submits nothing. */
uint32_t past_clocks_slot(const struct past_clocks *past, struct model *model, const struct call_view *view);
/* Joins into `out` what the operation that the call submits comes after. */
void past_clocks_before(const struct past_clocks *past, const struct model *model, const struct call_view *view,
                        struct vclock *out);
/* Joins into `out` what is complete when the call returns. */
void past_clocks_cover(const struct past_clocks *past, const struct model *model, const struct call_view *view,
                       struct vclock *out);
/* Operation `op`, which the call submits to `slot`, comes after `clock`: what past_clocks_before gave, and added waits. */
void past_clocks_submit(struct past_clocks *past, struct model *model, uint32_t slot, uint64_t op,
                        const struct vclock *clock);
/* After past_clocks_submit: notes the host wait that the call is, if it is one. */
void past_clocks_wait(struct past_clocks *past, const struct model *model, const struct call_view *view);

/* Joins into `out` operation `op` of `slot` and what it comes after. False without memory. */
bool past_clocks_of(const struct past_clocks *past, uint32_t slot, uint64_t op, struct vclock *out);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Vector clocks over stream slots: at[slot] is the last operation of that stream which is known to come before. Operations
 * are numbered in the order of submission, over all streams, from 1; a slot may serve another stream later, whose numbers
 * are higher. Growing fails softly: a clock that could not grow knows less, which every user of it must allow for anyway.
 */
#ifndef PTDS_ANALYSIS_BASE_VCLOCK_H
#define PTDS_ANALYSIS_BASE_VCLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct vclock {
    uint64_t *at;
    size_t room;
};

static inline uint64_t vclock_get(const struct vclock *clock, uint32_t slot)
{
    return slot < clock->room ? clock->at[slot] : 0;
}

bool vclock_raise_more(struct vclock *clock, uint32_t slot, uint64_t op);
static inline bool vclock_raise(struct vclock *clock, uint32_t slot, uint64_t op)
{
    if (slot >= clock->room)
        return vclock_raise_more(clock, slot, op);
    if (op > clock->at[slot])
        clock->at[slot] = op;
    return true;
}
bool vclock_join(struct vclock *into, const struct vclock *from);
/* Makes `into` equal to `from`. False without memory: `into` then knows less than `from`. */
bool vclock_copy(struct vclock *into, const struct vclock *from);
/* Empties the clock and keeps its memory. */
void vclock_clear(struct vclock *clock);
void vclock_free(struct vclock *clock);

#ifdef __cplusplus
}
#endif
#endif

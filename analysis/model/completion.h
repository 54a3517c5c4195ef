/* SPDX-License-Identifier: Apache-2.0
 *
 * What will be known to be complete once calls in flight have returned: an agenda (base/agenda.h), one entry a call.
 */
#ifndef PTDS_ANALYSIS_MODEL_COMPLETION_H
#define PTDS_ANALYSIS_MODEL_COMPLETION_H

#include "analysis/base/vclock.h"
#include "analysis/base/table.h"

#ifdef __cplusplus
extern "C" {
#endif

struct completion {
    uint64_t ticks;          /* when the call returns; then is complete: */
    struct vclock clock;     /* in the run itself */
    struct vclock *replayed; /* under the policies of replays, if there are any: so many */
    size_t replays;
    uint64_t settled; /* besides, an operation that no later call waits for, though it may not be over: 0 none */
    uint32_t slot;    /* the slot of `settled` */
    uint64_t number;  /* of the call */
};

struct completions {
    struct completion *items;
    size_t count, room;
};

/* Adds the completion and takes over its memory. False without room: the completion is lost. */
bool completion_add(struct completions *completions, struct completion *completion);

/* Takes the completion of the call that returned first, if it returned by `now`; the caller frees it. False: none did. */
bool completion_take(struct completions *completions, uint64_t now, struct completion *out);
/* Puts back the last `count` completions that were taken; nothing was added since, and none was freed. */
void completion_untake(struct completions *completions, size_t count);

void completion_free(struct completion *completion);
void completion_free_all(struct completions *completions);

#ifdef __cplusplus
}
#endif
#endif

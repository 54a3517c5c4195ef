/* SPDX-License-Identifier: Apache-2.0
 *
 * The most that another place for default-stream work could gain: the time in which some thread was blocked in a call that
 * waited for work which the legacy stream's implicit order had put behind other work, or which it did not name, or which
 * another thread had put on the legacy stream that it named. Threads that wait side by side gain side by side, so such time
 * counts once; threads that take turns gain one after the other. While no thread waits so, nothing is gained. That is of
 * the calls that are timed: what a launch waited inside the driver, because several threads work around the legacy stream,
 * nobody sees. What of it all would really be gained no trace without times on the GPU can tell, so the least is nothing.
 */
#ifndef PTDS_ANALYSIS_GAIN_H
#define PTDS_ANALYSIS_GAIN_H

#include "analysis/base/table.h"
#include "analysis/findings/aftermath/saving.h"
#include "analysis/model/model.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GAIN_SPANS = 64 };
struct gain_span {
    uint64_t begin, end; /* ns */
};

/* The wait of a thread for nothing but its own work, that only the call itself came behind: what it saves is known at the
 * thread's next wait (saving.h). */
struct gain {
    TABLE_OF(struct saving) own; /* by thread */
    uint32_t open;
    TABLE_OF(uint64_t) joined; /* by slot: its last operation that implicit order put behind other pending work, plus one */
    struct gain_span span[GAIN_SPANS + 1]; /* time in which some thread was blocked; the newest */
    uint32_t spans;
    uint64_t settled_ns, settled_until; /* of the older ones; as in span */
    uint64_t start;                     /* ticks: where spans count from, once it has begun */
    bool begun;
    uint64_t joins, waits;
    bool among_threads; /* some of them put one thread's work behind another's: launches may have waited unseen */
    /* Told of each wait that counts, once that is known: its thread (uid), and when it was entered (ticks). NULL: nobody.
     */
    void (*tell)(void *told, uint32_t thread, uint64_t enter);
    void *told;
};

/* For rules that see implicit order: the next work on the stream comes after other pending work by implicit order
 * alone. */
void gain_joins(struct gain *gain, const struct model *model, uint32_t slot, bool among_threads);
/* For rules: a wait for the legacy stream was for work of other streams, too; had it named a stream, it might be
 * shorter. */
void gain_waits(struct gain *gain, const struct model *model, const struct call_view *view);
/* Takes a call that blocked. */
void gain_blocked(struct gain *gain, struct model *model, const struct call_view *view);
/* Takes a call while a saving of a thread is open. */
void gain_look_now(struct gain *gain, const struct model *model, const struct call_view *view);
/* Takes every call. */
static inline void gain_look(struct gain *gain, const struct model *model, const struct call_view *view)
{
    if (gain->open != 0)
        gain_look_now(gain, model, view);
}
/* The most that could be gained, in ns. */
uint64_t gain_most(const struct gain *gain);
void gain_free(struct gain *gain);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * The most that another place for default-stream work could gain: the time that threads were blocked in calls that waited
 * for work which the legacy stream's implicit order had put behind other work. What of it would really be gained no trace
 * without times on the GPU can tell, so the least is nothing. Threads gain side by side: of the whole run, as much as the
 * thread that lost most.
 */
#ifndef PTDS_ANALYSIS_GAIN_H
#define PTDS_ANALYSIS_GAIN_H

#include "analysis/base/table.h"
#include "analysis/findings/saving.h"
#include "analysis/model/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The wait of a thread for nothing but its own work, that only the call itself came behind: what it saves is known at the
 * thread's next wait (saving.h). */
struct gain {
    TABLE_OF(struct saving) own; /* by thread */
    uint32_t open;
    TABLE_OF(uint64_t) joined; /* by slot: its last operation that implicit order put behind other pending work, plus one */
    TABLE_OF(uint64_t) blocked; /* ns by thread */
    uint64_t joins;
};

/* For the rules that see it: what the stream gets now comes after other pending work, by implicit order alone. */
void gain_joins(struct gain *gain, const struct model *model, uint32_t slot);
/* A call that blocked. */
void gain_blocked(struct gain *gain, const struct model *model, const struct call_view *view);
void gain_look_now(struct gain *gain, const struct model *model, const struct call_view *view);
/* Every call. */
static inline void gain_look(struct gain *gain, const struct model *model, const struct call_view *view)
{
    if (gain->open != 0)
        gain_look_now(gain, model, view);
}
/* ns, of the thread that it kept longest. */
uint64_t gain_most(const struct gain *gain);
void gain_free(struct gain *gain);

#ifdef __cplusplus
}
#endif
#endif

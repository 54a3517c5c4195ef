/* SPDX-License-Identifier: Apache-2.0
 *
 * What a policy's promises make an operation of a replay wait for.
 */
#ifndef PTDS_ANALYSIS_WHATIF_PROMISED_H
#define PTDS_ANALYSIS_WHATIF_PROMISED_H

#include "analysis/whatif/replay_state.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Notes that the step is on this lane until `end`. */
void promised_note(struct run *run, const struct step *step, uint32_t lane, struct moment end);

/* The moment that the step comes after, because a policy promises it order with work on streams of these roles; not
 * before `moment`. */
struct moment promised_after(struct run *run, const struct step *step, unsigned roles, struct moment moment);

#ifdef __cplusplus
}
#endif
#endif

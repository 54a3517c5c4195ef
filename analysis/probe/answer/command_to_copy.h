/* SPDX-License-Identifier: Apache-2.0
 *
 * The command that runs the program under a policy.
 */
#ifndef PTDS_ANALYSIS_PROBE_ANSWER_COMMAND_TO_COPY_H
#define PTDS_ANALYSIS_PROBE_ANSWER_COMMAND_TO_COPY_H

#include "analysis/base/sink.h"
#include "analysis/probe/probe.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The line to copy, of any length. seed: for PTDS_SHAKE; 0: without. */
void command_to_copy(const struct probe *probe, const struct variant *variant, unsigned seed, struct text_sink *sink);

#ifdef __cplusplus
}
#endif
#endif

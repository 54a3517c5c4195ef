/* SPDX-License-Identifier: Apache-2.0
 *
 * The answer of a probe, for a terminal.
 */
#ifndef PTDS_ANALYSIS_PROBE_ANSWER_PROBE_SCREEN_H
#define PTDS_ANALYSIS_PROBE_ANSWER_PROBE_SCREEN_H

#include "analysis/base/sink.h"
#include "analysis/probe/probe.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Output. columns: of the terminal; `stands`: the folder stays, and is named. */
void probe_screen(const struct probe *probe, bool stands, struct text_sink *sink);

#ifdef __cplusplus
}
#endif
#endif

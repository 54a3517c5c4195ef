/* SPDX-License-Identifier: Apache-2.0
 *
 * The answer of a probe, as JSON.
 */
#ifndef PTDS_ANALYSIS_PROBE_ANSWER_PROBE_JSON_H
#define PTDS_ANALYSIS_PROBE_ANSWER_PROBE_JSON_H

#include "analysis/base/sink.h"
#include "analysis/probe/probe.h"

#ifdef __cplusplus
extern "C" {
#endif

/* 0, or -1 without memory. */
int probe_json(const struct probe *probe, bool stands, struct text_sink *sink);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * What-if as a JSON document: "doubt" (null, or why nothing is predicted), "recorded_ns", "replayed_ns", and by policy
 * "least_ns", "most_ns" and what the time is spent on; all null where nothing is predicted. "nothing_to_gain": why
 * not, as the report knows; else null.
 */
#ifndef PTDS_ANALYSIS_VIEWS_JSON_WHATIF_JSON_H
#define PTDS_ANALYSIS_VIEWS_JSON_WHATIF_JSON_H

#include "analysis/base/sink.h"
#include "analysis/base/text.h"
#include "analysis/whatif/whatif.h"

#ifdef __cplusplus
extern "C" {
#endif

/* 0, or -1 without memory: then nothing was written. */
int whatif_json(const struct whatif *whatif, struct text_sink *sink);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * The schema of the JSON reports.
 */
#ifndef PTDS_ANALYSIS_VIEWS_JSON_JSON_SCHEMA_H
#define PTDS_ANALYSIS_VIEWS_JSON_JSON_SCHEMA_H

#include "analysis/base/sink.h"

#ifdef __cplusplus
extern "C" {
#endif

int json_schema(struct text_sink *sink);

#ifdef __cplusplus
}
#endif
#endif

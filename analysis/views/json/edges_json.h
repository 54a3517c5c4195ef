/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of the JSON report about implicit edges; for report_json.c.
 */
#ifndef PTDS_ANALYSIS_VIEWS_JSON_EDGES_JSON_H
#define PTDS_ANALYSIS_VIEWS_JSON_EDGES_JSON_H

#include <jansson.h>

#include "analysis/views/words.h"

/* The value of "edges": null where they were not analysed. */
json_t *report_edges_json(const struct report *report, struct site_namer *namer);

/* The value of a finding's "verdicts"; counts: NULL for null. */
json_t *report_verdicts_json(const uint64_t *counts);

#endif

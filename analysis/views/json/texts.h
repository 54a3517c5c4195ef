/* SPDX-License-Identifier: Apache-2.0
 *
 * For report.def: its lists of texts, in the words that other views use. New references.
 */
#ifndef PTDS_ANALYSIS_VIEWS_JSON_TEXTS_H
#define PTDS_ANALYSIS_VIEWS_JSON_TEXTS_H

#include <jansson.h>

#include "analysis/repair/repair.h"
#include "analysis/report/many/traced.h"
#include "analysis/report/report.h"
#include "analysis/report/many/traces.h"
#include "analysis/symbols/namer.h"

/* Two operations in words; how to mend an order, and how to read a repair; what was set; why something is not there. */
json_t *texts_of_pair(const struct report *report, const struct edge_pair *pair);
json_t *texts_of_place(const struct report *report, struct site_namer *namer, const struct repair_place *place);
json_t *texts_of_repair(const struct repair *repair);
json_t *texts_of_settings(const struct definitions *defs);
json_t *texts_of_gaps(const struct report *report);
json_t *texts_of_past(const struct report *report);
json_t *texts_of_incomplete(const struct traced *traced);
json_t *texts_of_rules(const struct report *report);

#endif

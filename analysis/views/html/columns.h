/* SPDX-License-Identifier: Apache-2.0
 *
 * The operations and edges that a page draws, packed in columns.
 */
#ifndef PTDS_ANALYSIS_VIEWS_HTML_COLUMNS_H
#define PTDS_ANALYSIS_VIEWS_HTML_COLUMNS_H

#include <jansson.h>

#include "analysis/report/edges/edge_list.h"
#include "analysis/views/html/page_tables.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the columns, deflated and in base64, to the sink. Returns how many edges are in them; -1 without memory. */
int64_t columns_write(struct tables *tables, const struct report *report, const struct timeline *timeline,
                      const struct edge_list *edges, struct text_sink *sink);

/* The names and types of the columns, in order: [{"of":"op","name":"enter","type":"u32"}, ...]. A new reference. */
json_t *columns_json(void);

#ifdef __cplusplus
}
#endif
#endif

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

/* The columns, deflated and in base64, to the sink. Returns how many edges are in them, or -1 without memory. */
int64_t columns_write(struct tables *tables, const struct report *report, const struct timeline *timeline,
                      const struct edge_list *edges, struct text_sink *sink);

/* Their names and types, in order: [{"of":"op","name":"enter","type":"u32"}, ...] */
json_t *columns_json(void);

#ifdef __cplusplus
}
#endif
#endif

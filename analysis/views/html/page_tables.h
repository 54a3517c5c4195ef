/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of the page's writer. columns.c and packer.c pack numbers, page_tables.c gives them names, region_marks.c finds
 * regions, shared.c has what the scripts have in common with other views, report_html.c puts the page together; the texts
 * of page.html, page.css and the scripts are embedded when this is built.
 */
#ifndef PTDS_ANALYSIS_VIEWS_HTML_PAGE_TABLES_H
#define PTDS_ANALYSIS_VIEWS_HTML_PAGE_TABLES_H

#include <jansson.h>

#include "analysis/base/id_map.h"
#include "analysis/base/sink.h"
#include "analysis/views/html/region_marks.h"
#include "analysis/views/html/page_names.h"
#include "analysis/views/html/report_html.h"

struct tables {
    struct names threads, streams, apis, kernels, stacks, regions;
    TABLE_OF(uint32_t) rank; /* by finding serial: its rank from 1, 0 none */
    TABLE_OF(uint32_t) runs; /* positions of the operations that have a time on the GPU */
    double unit_ns;          /* one unit of the time columns */
    uint64_t first;          /* ticks of the first operation: 0 of the time columns */
    struct marks marks;
    json_t *pairs; /* the pairs that show why edges are needed, or may be, as texts */
};

void page_tables_begin(struct tables *tables, const struct report *report, const struct timeline *timeline);
void page_tables_end(struct tables *tables);
/* Of one trace: what its columns are and what their numbers mean. After columns_write. */
json_t *page_tables_json(const struct tables *tables, const struct report *report, const struct timeline *timeline,
                         struct site_namer *namer);

#endif

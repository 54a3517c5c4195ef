/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of the page's writer. columns.c and packer.c pack numbers, tables.c gives them names, marks.c finds regions,
 * shared.c has what the scripts have in common with other views, page.c puts the page together; the texts of page.html,
 * page.css and the scripts are embedded when this is built.
 */
#ifndef PTDS_ANALYSIS_VIEWS_HTML_PAGE_H
#define PTDS_ANALYSIS_VIEWS_HTML_PAGE_H

#include <jansson.h>

#include "analysis/views/html/report_html.h"

/* Uids as small numbers, in the order in which they are first asked for. Number 0 is "none". */
struct names {
    struct id_map map;
    TABLE_OF(uint32_t) uids;
};

enum { NAMES_MOST = 65535 };

/* Everything beyond NAMES_MOST, and everything without memory, is number NAMES_MOST: "others". */
uint32_t names_number(struct names *names, uint32_t uid);
void names_free(struct names *names);

/* A region that the program marked (ptds.h, NVTX), as far as it lies in what is drawn; ticks. */
struct mark {
    uint64_t begin, end;
    uint32_t thread; /* 0: a range of the process */
    uint32_t name, domain;
    uint8_t lane, flags;
};

enum mark_flags {
    MARK_OPEN = 1,    /* its end is not in the trace */
    MARK_EARLIER = 2, /* began before what is drawn */
    MARK_LATER = 4    /* ends after it */
};

enum { MARKS_KEPT = 100000, MARK_LANES = 12 };

struct marks {
    TABLE_OF(struct mark) kept; /* by thread and time */
    uint64_t dropped;
};

/* Those between two moments (marks.c). End with marks_free. */
void marks_find(struct marks *marks, const struct report *report, uint64_t from, uint64_t to);
void marks_free(struct marks *marks);

struct tables {
    struct names threads, streams, apis, kernels, stacks, regions;
    TABLE_OF(uint32_t) rank; /* by finding serial: its rank from 1, 0 none */
    TABLE_OF(uint32_t) runs; /* positions of the operations that have a time on the GPU */
    double unit_ns;          /* one unit of the time columns */
    uint64_t first;          /* ticks of the first operation: 0 of the time columns */
    struct marks marks;
    json_t *pairs; /* the pairs that show why edges are needed, or may be, as texts */
};

void tables_begin(struct tables *tables, const struct report *report, const struct timeline *timeline);
void tables_end(struct tables *tables);
/* Of one trace: what its columns are and what their numbers mean. After columns_write. */
json_t *tables_json(const struct tables *tables, const struct report *report, const struct timeline *timeline,
                    struct site_namer *namer);

/* What the scripts share with the other views, and what that says of each finding of a report, in order (shared.c). */
void shared_words(json_t *tables);
json_t *shared_findings(const struct report *report, struct site_namer *namer);
json_t *shared_findings_of_many(const struct traces *traces, const struct folds *folds, struct site_namer *namer);

/* The columns, deflated and in base64, to the sink. Returns how many edges are in them, or -1 without memory. */
int64_t columns_write(struct tables *tables, const struct report *report, const struct timeline *timeline,
                      const struct edge_list *edges, struct text_sink *sink);
/* Their names and types, in order: [{"of":"op","name":"enter","type":"u32"}, ...] */
json_t *columns_json(void);

#endif

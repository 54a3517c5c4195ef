/* SPDX-License-Identifier: Apache-2.0
 *
 * Regions that the program marked (ptds.h, NVTX), to draw.
 */
#ifndef PTDS_ANALYSIS_VIEWS_HTML_REGION_MARKS_H
#define PTDS_ANALYSIS_VIEWS_HTML_REGION_MARKS_H

#include <stdint.h>

#include "analysis/base/table.h"
#include "analysis/report/report.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/* Fills in the regions between two moments, in ticks. End with region_marks_free. */
void region_marks_find(struct marks *marks, const struct report *report, uint64_t from, uint64_t to);

void region_marks_free(struct marks *marks);

#ifdef __cplusplus
}
#endif
#endif

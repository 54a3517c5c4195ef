/* SPDX-License-Identifier: Apache-2.0
 *
 * The findings that are worth a line, as a reader's list: a sequence is one entry, and so is the same at many places.
 * Made once, with the report; every view prints these entries.
 */
#ifndef PTDS_ANALYSIS_REPORT_REPORT_ENTRIES_H
#define PTDS_ANALYSIS_REPORT_REPORT_ENTRIES_H

#include "analysis/base/table.h"
#include "analysis/findings/finding.h"

#ifdef __cplusplus
extern "C" {
#endif

struct report;

/* A finding, or all of a sequence, or the same at several places. */
struct entry {
    size_t first; /* rank of its costliest finding, from 0 */
    size_t findings;
    size_t places; /* findings of the first one's rule and call (or doubt), one a place; sequences where more than 1 are not
                      named */
    uint64_t host_ns, calls, known; /* known: calls whose cost is known; 0: host_ns says nothing */
    bool advised;                   /* an entry before it has the same advice */
};

/* Fills in report->entries, in order of rank. After the findings are ranked and their sequences found. */
void report_entries(struct report *report);

#ifdef __cplusplus
}
#endif
#endif

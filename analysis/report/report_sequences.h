/* SPDX-License-Identifier: Apache-2.0
 *
 * Which findings are one sequence: removing one wait only exposes the next.
 */
#ifndef PTDS_ANALYSIS_REPORT_REPORT_SEQUENCES_H
#define PTDS_ANALYSIS_REPORT_REPORT_SEQUENCES_H

#ifdef __cplusplus
extern "C" {
#endif

struct report;

/* Fills in report->sequences, and `sequence` of each finding. After the findings are ranked. */
void report_sequences(struct report *report);

#ifdef __cplusplus
}
#endif
#endif

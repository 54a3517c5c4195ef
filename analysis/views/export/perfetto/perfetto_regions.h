/* SPDX-License-Identifier: Apache-2.0
 *
 * Regions (ptds.h, NVTX) in the Perfetto export.
 */
#ifndef PTDS_ANALYSIS_VIEWS_EXPORT_PERFETTO_PERFETTO_REGIONS_H
#define PTDS_ANALYSIS_VIEWS_EXPORT_PERFETTO_PERFETTO_REGIONS_H

#include "analysis/views/export/perfetto/perfetto_writer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The regions of the process: those of a thread up to a call of its, with the time at which that returned, and then the
 * rest. */
void perfetto_regions_begin(struct writer *writer);

void perfetto_regions_before_call(struct writer *writer, const struct call *call);

void perfetto_regions_after_call(struct writer *writer, const struct call *call, uint64_t time);

void perfetto_regions_end(struct writer *writer);

#ifdef __cplusplus
}
#endif
#endif

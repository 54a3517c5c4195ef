/* SPDX-License-Identifier: Apache-2.0
 *
 * How long a run's CUDA work took: from the first launch, copy or memset of a process to the last return of a call that
 * works, waits or frees, as the shim noted it (interpose/record/moments.h).
 */
#ifndef PTDS_ANALYSIS_PROBE_RUNS_CUDA_SPAN_H
#define PTDS_ANALYSIS_PROBE_RUNS_CUDA_SPAN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* From the files in a folder, one a process. Where processes worked at the same time, that time counts once; time between
 * them does not. ns; 0: not known. */
uint64_t cuda_span_read(const char *folder);

#ifdef __cplusplus
}
#endif
#endif

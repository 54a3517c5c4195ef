/* SPDX-License-Identifier: Apache-2.0
 *
 * How long GPUs were busy, from the times that the trace has. For pass_over_calls.c.
 */
#ifndef PTDS_ANALYSIS_REPORT_PASS_BUSY_H
#define PTDS_ANALYSIS_REPORT_PASS_BUSY_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/table.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An operation on a device, in ns since the start of the run. */
struct busy_run {
    uint64_t begin, end;
    int32_t device;
};

struct busy {
    TABLE_OF(struct busy_run) runs;
    uint64_t busy_ns; /* while at least one operation ran, over all devices */
    uint64_t span_ns; /* from a device's first operation to the end, over all devices */
    uint64_t devices;
};

/* Adds an operation. False without memory. */
bool busy_add(struct busy *busy, struct busy_run run);
/* Works out busy_ns, span_ns and devices; end_ns: the return of the last call. Frees the list. */
void busy_finish(struct busy *busy, uint64_t end_ns);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * The footprints of calls about one range: prefetch, attach, a value that is waited for or written. api.def's column
 * `before`; they do nothing unless C->footprint is set.
 */
#ifndef PTDS_RANGE_CALLS_H
#define PTDS_RANGE_CALLS_H

#include "interpose/state/call.h"

/* op: PTDS_OP_PREFETCH, PTDS_OP_ATTACH (bytes 0: all of the allocation), or one of a value's, which makes the call opaque.
 */
void range_calls_range(struct call *C, enum ptds_op op, uint64_t base, uint64_t bytes);

/* A list of values that are waited for or written; it need not be readable. The call is opaque. */
void range_calls_values(struct call *C, const CUstreamBatchMemOpParams *ops, unsigned count);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that is taken piece by piece and released as a whole: for the tails of records. What a later record replaces
 * stays until then.
 */
#ifndef PTDS_ANALYSIS_TRACE_KEPT_BYTES_H
#define PTDS_ANALYSIS_TRACE_KEPT_BYTES_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct kept_bytes;

/* `bytes` bytes, 8-byte aligned, not initialised; NULL without memory. *kept is the newest block, NULL before the first. */
void *kept_bytes_take(struct kept_bytes **kept, size_t bytes);

/* Releases all of it; *kept is NULL afterwards. */
void kept_bytes_free(struct kept_bytes **kept);

#ifdef __cplusplus
}
#endif
#endif

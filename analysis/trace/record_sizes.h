/* SPDX-License-Identifier: Apache-2.0
 *
 * How many bytes the fixed part of each kind of record has, by the schema text of the trace.
 */
#ifndef PTDS_ANALYSIS_TRACE_RECORD_SIZES_H
#define PTDS_ANALYSIS_TRACE_RECORD_SIZES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* For the reader: the record sizes in the header's schema text, defaults where it says nothing. */
void record_sizes_read(uint16_t fixed[32], const char *schema, size_t size);

#ifdef __cplusplus
}
#endif
#endif

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

/* Fills in the bytes of the fixed part of each kind of record, by the schema text of a header; kinds that the text
 * does not name have the sizes of this version. */
void record_sizes_read(uint16_t fixed[32], const char *schema, size_t size);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls made from inside NVIDIA's own libraries: nobody who reads a report has their source, so what only a change at the
 * call can cure is nothing to show them one by one.
 */
#ifndef PTDS_ANALYSIS_FINDINGS_LIBRARY_H
#define PTDS_ANALYSIS_FINDINGS_LIBRARY_H

#include "analysis/trace/definitions.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The file name of the library ("libcusolver.so.12") that the stack's call was made from; NULL: none, or not recorded. */
const char *library_of(const struct definitions *defs, uint32_t stack);

#ifdef __cplusplus
}
#endif
#endif

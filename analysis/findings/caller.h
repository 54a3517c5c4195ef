/* SPDX-License-Identifier: Apache-2.0
 *
 * The function that called CUDA, by its name: what stays the same when a program is rebuilt, mapped elsewhere, or run under
 * another policy. For identity.c and for comparing runs.
 */
#ifndef PTDS_ANALYSIS_FINDINGS_CALLER_H
#define PTDS_ANALYSIS_FINDINGS_CALLER_H

#include "analysis/symbols/namer.h"

#ifdef __cplusplus
extern "C" {
#endif

enum caller_known {
    CALLER_UNKNOWN, /* no stack, or only frames inside CUDA's runtime were recorded */
    CALLER_OBJECT,  /* its function has no name: `name` is the object's */
    CALLER_NAMED
};

struct caller {
    enum caller_known known;
    char name[256];
};

/* The innermost function in the source of an interpreter; else the first function of the stack that belongs neither to
 * the CUDA runtime, linked statically or not, nor to the driver. namer may be NULL. */
struct caller caller_of(const struct definitions *defs, struct site_namer *namer, uint32_t stack);

/* The index of the frame to show to a person where one frame is shown: as caller_of, but for the functions that nvcc
 * writes to launch a kernel, which say no more than its name. Where no other frame is left, the first one outside of
 * the libraries of CUDA. */
uint32_t caller_frame(const struct definitions *defs, struct site_namer *namer, const struct stack_def *frames);

#ifdef __cplusplus
}
#endif
#endif

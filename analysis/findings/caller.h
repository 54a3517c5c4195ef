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

/* The innermost function of an interpreter's; else the first function of the stack that is not CUDA's runtime or driver,
 * linked statically or not. namer may be NULL. */
struct caller caller_of(const struct definitions *defs, struct site_namer *namer, uint32_t stack);

/* Which frame to show a person where one is shown: the same, but for the functions that nvcc writes to launch a kernel,
 * which say no more than its name. If that leaves none, the first outside of CUDA's libraries. */
uint32_t caller_frame(const struct definitions *defs, struct site_namer *namer, const struct stack_def *frames);

#ifdef __cplusplus
}
#endif
#endif

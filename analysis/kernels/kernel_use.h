/* SPDX-License-Identifier: Apache-2.0
 *
 * What the kernels of a file touch, as `ptds kernels` says it: where a file has images of device code, and a kernel's facts
 * as a line and as JSON.
 */
#ifndef PTDS_ANALYSIS_KERNELS_KERNEL_USE_H
#define PTDS_ANALYSIS_KERNELS_KERNEL_USE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/sink.h"
#include "analysis/base/text.h"
#include "interpose/code/code.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Its bases by parameter, then the others, whatever the order in which they were found. */
void kernel_use_sort(struct code_facts *facts);

struct kernel_row {
    const char *file, *name; /* as they were given; the name as it stands in the image */
    const struct code_facts *facts;
};

/* "sm_90"; of PTX "compute_90" */
struct small_text kernel_use_arch(const struct code_facts *facts);

/* What of the kernel's parameters is used how. */
enum parameter_use { PARAMETER_VALUE, PARAMETER_HANDLE, PARAMETER_POINTER };
struct parameter_facts {
    enum parameter_use kind;
    uint8_t use; /* enum code_use */
};
struct parameter_facts kernel_use_of_parameter(const struct code_facts *facts, const struct code_parameter *parameter);

/* What is done with that variable, enum code_use; 0: its address alone is used. */
uint8_t kernel_use_of_variable(const struct code_facts *facts, uint16_t variable);

/* The parameter in which that byte lies; -1: none does that is known. */
int kernel_use_parameter_at(const struct code_facts *facts, uint16_t byte);

#ifdef __cplusplus
}
#endif
#endif

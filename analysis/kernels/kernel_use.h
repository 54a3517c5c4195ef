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

/* Sorts the bases of a kernel: those of parameters first, by parameter, then the others. */
void kernel_use_sort(struct code_facts *facts);

struct kernel_row {
    const char *file, *name; /* as they were given; the name as it stands in the image */
    const struct code_facts *facts;
};

/* "sm_90"; of PTX "compute_90" */
struct small_text kernel_use_arch(const struct code_facts *facts);

/* How a parameter of a kernel is used. */
enum parameter_use { PARAMETER_VALUE, PARAMETER_HANDLE, PARAMETER_POINTER };
struct parameter_facts {
    enum parameter_use kind;
    uint8_t use; /* enum code_use */
};
struct parameter_facts kernel_use_of_parameter(const struct code_facts *facts, const struct code_parameter *parameter);

/* How the kernel uses a variable, as enum code_use; 0: only its address. */
uint8_t kernel_use_of_variable(const struct code_facts *facts, uint16_t variable);

/* The index of the parameter that the byte lies in; -1: in no known one. */
int kernel_use_parameter_at(const struct code_facts *facts, uint16_t byte);

#ifdef __cplusplus
}
#endif
#endif

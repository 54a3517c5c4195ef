/* SPDX-License-Identifier: Apache-2.0
 *
 * What the kernels of a file touch, as `ptds kernels` says it: where a file has images of device code, and a kernel's facts
 * as a line and as JSON.
 */
#ifndef PTDS_ANALYSIS_KERNELS_KERNELS_H
#define PTDS_ANALYSIS_KERNELS_KERNELS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/text.h"
#include "interpose/code/code.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Calls `each` with what images_plain takes, one after the other: of a program, library or object file its containers, of
 * any other file itself, or the containers that lie anywhere in it. Returns how many; `each` isn't told where none is. A
 * host's ELF file without device code is no failure: 0. -1: the file is none of these. */
int code_file_images(const uint8_t *bytes, size_t size, void (*each)(void *data, const uint8_t *image, size_t size),
                     void *data);

/* Its bases by parameter, then the others, whatever the order in which they were found. */
void kernel_sort(struct code_facts *facts);

struct kernel_row {
    const char *file, *name; /* as they were given; the name as it stands in the image */
    const struct code_facts *facts;
};

/* "sm_90"; of PTX "compute_90" */
struct small_text kernel_arch(const struct code_facts *facts);

/* One line, with its newline. */
void kernel_line(struct text_sink *sink, const struct kernel_row *row);

/* A new reference. */
json_t *kernel_value(const struct kernel_row *row);

/* What of the kernel's parameters is used how. */
enum parameter_use { PARAMETER_VALUE, PARAMETER_HANDLE, PARAMETER_POINTER };
struct parameter_facts {
    enum parameter_use kind;
    uint8_t use; /* enum code_use */
};
struct parameter_facts kernel_parameter(const struct code_facts *facts, const struct code_parameter *parameter);

/* What is done with that variable, enum code_use; 0: its address alone is used. */
uint8_t kernel_variable_use(const struct code_facts *facts, uint16_t variable);

/* The parameter in which that byte lies; -1: none does that is known. */
int kernel_parameter_at(const struct code_facts *facts, uint16_t byte);

#ifdef __cplusplus
}
#endif
#endif

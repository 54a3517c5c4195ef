/* SPDX-License-Identifier: Apache-2.0
 *
 * What a kernel's name says of it.
 */
#ifndef PTDS_GUESS_BY_NAME_H
#define PTDS_GUESS_BY_NAME_H

#include "interpose/code/code.h"

/* For PTDS_TRUST=names: replaces facts that could not be read by a guess from the types of the parameters. What is known of
 * the module's variables stays. layout: offset << 16 | size of each parameter; params UINT32_MAX: not known, nothing is
 * guessed. */
void guess_by_name(const char *name, uint32_t params, const uint32_t *layout, struct code_facts *facts);

/* Whether the kernel may get a pointer to the end of memory without any to its beginning: those of thrust and of std that
 * run from an end downwards. name: NULL not known. */
int guess_by_name_has_ends(const char *name);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * What a kernel's name says of it.
 */
#ifndef PTDS_NAMES_H
#define PTDS_NAMES_H

#include "interpose/code/code.h"

/* For PTDS_TRUST=names: a guess in place of facts that could not be read, from the types of the parameters. What is known
 * of the module's variables stays. layout: offset << 16 | size each. */
void names_guess(const char *name, uint32_t params, const uint32_t *layout, struct code_facts *facts);

/* The kernel may get a pointer to the end of memory without any to its beginning: those of thrust and of std that run from
 * an end downwards. */
int names_have_ends(const char *name);

#endif

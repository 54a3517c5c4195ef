/* SPDX-License-Identifier: Apache-2.0
 *
 * The facts of one kernel for several kinds of devices.
 */
#ifndef PTDS_MERGE_FACTS_H
#define PTDS_MERGE_FACTS_H

#include "interpose/code/code.h"

/* Adds `one`, the same kernel for another kind of device: `all` says what any of them may do. More than there is room for
 * is CODE_UNKNOWN. */
void merge_facts(struct code_facts *all, const struct code_facts *one);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * When an allocation was slow: for the rules about device and about pinned memory.
 */
#ifndef PTDS_ANALYSIS_RULES_ALLOC_H
#define PTDS_ANALYSIS_RULES_ALLOC_H

#include "analysis/findings/rule.h"

enum alloc_case { ALLOC_BUSY, ALLOC_IDLE, ALLOC_HELD };

extern const char *const alloc_cases[]; /* struct rule's details */

/* Flags an allocation that took long: 10 ms or more, or with work pending more than twice what its size may take. */
void alloc_check(struct rule_run *run, const struct call_view *view);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * All rules, as the linker gathered them.
 */
#ifndef PTDS_ANALYSIS_RULES_REGISTRY_H
#define PTDS_ANALYSIS_RULES_REGISTRY_H

#include "analysis/findings/rule.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RULES_MOST = 64 };

/* All rules of this binary, by id; returns how many. */
size_t registry_all(const struct rule *rules[RULES_MOST]);
/* The rule of this id; NULL: none. */
const struct rule *registry_find(const char *id);

#ifdef __cplusplus
}
#endif
#endif

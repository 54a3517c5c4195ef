/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocations as the verdict engine knows them after the calls taken so far: for rules and findings.
 */
#ifndef PTDS_ANALYSIS_ORDER_VERDICT_MEMORY_H
#define PTDS_ANALYSIS_ORDER_VERDICT_MEMORY_H

#include "analysis/order/verdict.h"

#ifdef __cplusplus
extern "C" {
#endif

struct verdict_memory {
    uint64_t base;
    uint32_t kind; /* enum ptds_memory_kind */
};
/* The allocation alive that holds an address. False: none is known to. Accepts NULL. */
bool verdict_memory_at(struct verdicts *verdicts, uint64_t address, struct verdict_memory *out);
/* Whether every allocation seen is followed, so that an address in none is in none that the trace shows. Accepts NULL. */
bool verdict_memory_is_complete(const struct verdicts *verdicts);

/* Watching: which launches use one of some allocations, by their bases; each belongs to a group, 0 to VERDICT_GROUPS - 1.
 * Costs nothing while none is watched. All three accept NULL. */
enum { VERDICT_GROUPS = 24 };
void verdict_memory_watch(struct verdicts *verdicts, uint64_t base, unsigned group);
void verdict_memory_unwatch_all(struct verdicts *verdicts);
/* A bit for each group of which the launch taken last may use an allocation. */
uint32_t verdict_memory_watched(const struct verdicts *verdicts);

#ifdef __cplusplus
}
#endif
#endif

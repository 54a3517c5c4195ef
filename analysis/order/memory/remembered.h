/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of accesses that are remembered of a memory. Positions are those in the list, plus one; 0 none.
 */
#ifndef PTDS_ANALYSIS_ORDER_MEMORY_REMEMBERED_H
#define PTDS_ANALYSIS_ORDER_MEMORY_REMEMBERED_H

#include "analysis/order/engine/engine.h"

static inline struct remembered *remembered_at(struct memory *memory, uint32_t position)
{
    return &memory->list.items[position - 1];
}
/* Adds an access, after it was examined (access_check.h). Returns its position, 0 without memory. */
uint16_t remembered_add(struct verdicts *v, uint32_t strand, struct memory *memory, const struct touch *touch, uint64_t op,
                        const struct edge_end *end);
/* Sets the positions, by kind of access less one, of the strand's open-ended accesses from this address on. Kinds that are
 * not in the list stay as they are. */
void remembered_find(struct memory *memory, uint32_t strand, uint64_t address, uint16_t positions[ACCESS_UNKNOWN]);
void remembered_forget(struct memory *memory, struct remembered *old);
/* The access at this position happened again, at operation `op`. */
void remembered_renew(struct memory *memory, struct remembered *access, uint16_t position, uint64_t op,
                      const struct edge_end *end);
/* Drops the accesses that every later call comes after. */
void remembered_clean(struct verdicts *v, struct memory *memory);

/* An access makes an earlier one of the same strand and bytes superfluous if it is as strong. */
static inline unsigned remembered_strength(enum access access)
{
    return access == ACCESS_WRITE ? 3 : access == ACCESS_UNKNOWN ? 2 : 1;
}

#endif

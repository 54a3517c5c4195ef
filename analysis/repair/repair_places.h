/* SPDX-License-Identifier: Apache-2.0
 *
 * Adds waits up by the two call sites that they are between. For repair.c.
 */
#ifndef PTDS_ANALYSIS_REPAIR_REPAIR_PLACES_H
#define PTDS_ANALYSIS_REPAIR_REPAIR_PLACES_H

#include "analysis/base/id_map.h"
#include "analysis/repair/repair.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How often a driver function was called from one place, with one kernel. */
struct repair_site {
    uint32_t stack, object;
    uint16_t api;
    uint64_t calls;
};

struct repair_places {
    struct id_map place_by_key, site_by_key;
    struct id_map made_by_memory; /* an allocation's call, by its uid: place in `made` */
    TABLE_OF(struct edge_end) made;
    TABLE_OF(struct repair_site) sites; /* only those that wait */
};

/* The call allocates this memory. */
void repair_places_made(struct repair_places *places, uint32_t memory, const struct edge_end *call);
/* False: there is no room. */
bool repair_places_add(struct repair_places *places, struct repair *repair, const struct verdict_conflict *conflict,
                       const struct edge_end *first, const struct edge_end *second);
/* After the last one, each call of the trace: how often sites were gone through. */
void repair_places_count(struct repair_places *places, const struct edge_end *call);
/* Sorts the places of the repair, and tells each how often its site was. Frees the rest. */
void repair_places_end(struct repair_places *places, struct repair *repair);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows whose places cannot be compared. For compare.c.
 */
#ifndef PTDS_ANALYSIS_COMPARE_PLACELESS_H
#define PTDS_ANALYSIS_COMPARE_PLACELESS_H

#include "analysis/compare/compare.h"

struct placeless {
    bool *rows[SIDES];    /* by row of each side */
    bool nameless[SIDES]; /* functions of this side that call have no names, and those of the other have */
};

/* Finds them. The histories are sorted. False without memory; free in any case. */
bool placeless_find(struct placeless *placeless, const struct history *const all[SIDES]);
void placeless_free(struct placeless *placeless);

#endif

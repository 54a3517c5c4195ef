/* SPDX-License-Identifier: Apache-2.0
 *
 * What calls take that no other thread's call holds up, and for how long one may have. For whatif.c.
 */
#ifndef PTDS_ANALYSIS_WHATIF_HELD_H
#define PTDS_ANALYSIS_WHATIF_HELD_H

#include "analysis/whatif/recorded.h"

/* Fills in `usual`, `held` and `meets` of all steps. False without memory. */
bool held_find(struct recorded *recorded);

#endif

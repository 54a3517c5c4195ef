/* SPDX-License-Identifier: Apache-2.0
 *
 * Launches whose words say which parts of its memories they touch.
 */
#ifndef PTDS_ANALYSIS_ORDER_MEMORY_TOUCH_PARTS_H
#define PTDS_ANALYSIS_ORDER_MEMORY_TOUCH_PARTS_H

#include "analysis/order/memory/access_cache.h"

/* Touches what the words before `pointers` point to; the words from there on begin with parts. signature NULL: not known.
 * Returns the classes of memory. */
unsigned touch_parts_of_launch(struct verdicts *v, const struct toucher *by, const struct call *call,
                               const struct signature *signature, uint32_t pointers);

#endif

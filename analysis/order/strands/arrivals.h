/* SPDX-License-Identifier: Apache-2.0
 *
 * How knowledge of single strands arrives (struct arrival): clocks rise, and the edge is noted.
 */
#ifndef PTDS_ANALYSIS_ORDER_STRANDS_ARRIVALS_H
#define PTDS_ANALYSIS_ORDER_STRANDS_ARRIVALS_H

#include "analysis/base/hints.h"
#include "analysis/order/engine/engine.h"

/* Where only what arrived lately is looked at: so many entries. */
enum { LATELY = 16 };

static INLINE struct arrival *arrivals_items(struct arrival_list *list)
{
    return list->room > 1 ? list->many : &list->one;
}
/* The strand (or the host) learns of strand `about` up to arrival->op. False: it knew that much, or there is no memory. */
bool arrivals_learn(struct verdicts *v, uint32_t strand, uint32_t about, const struct arrival *arrival);
/* The strand learns, over the edge, what strand `from` knows by its last operation. `foreign_only`: only of strands that
 * implicit order does not put before or behind the strand. */
void arrivals_take_over(struct verdicts *v, uint32_t strand, uint32_t from, uint32_t edge, bool foreign_only);

/* Makes room for one more entry. False without memory. */
bool arrivals_give_room(struct arrival_list *list);
/* Drops all entries but the first `count`. The caller has dropped their edges' references. */
void arrivals_keep_first(struct arrival_list *list, uint32_t count);

#endif

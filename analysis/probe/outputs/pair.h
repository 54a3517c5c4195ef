/* SPDX-License-Identifier: Apache-2.0
 *
 * Two lines that stand in the same place of two outputs. Only for same.c.
 */
#ifndef PTDS_ANALYSIS_PROBE_OUTPUTS_PAIR_H
#define PTDS_ANALYSIS_PROBE_OUTPUTS_PAIR_H

#include "analysis/probe/outputs/same.h"

/* What two lines are gone through for. */
enum purpose {
    LEARN, /* numbers that are not equal are left out from then on */
    RANGE, /* to learn how far these go */
    COMPARE
};

struct pair {
    struct learnt *learnt;
    enum purpose purpose;
    size_t line;
    struct bytes bare, other;
    struct difference *found; /* where numbers outside are counted, and times that are not the same; of COMPARE */
    bool times;               /* in this line */
};

/* VARIES_NOT: they are the same, but for what is left out, and for times, if there are any. */
enum varies pair_take(struct pair *pair);
/* Numbers of a line, from 1, that are not left out. */
size_t pair_kept(const struct learnt *learnt, size_t number, struct bytes line);

#endif

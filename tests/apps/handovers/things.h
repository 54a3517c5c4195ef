/* SPDX-License-Identifier: Apache-2.0
 *
 * The things that are handed over (things.c), for the runner.
 */
#ifndef APPS_HANDOVERS_THINGS_H
#define APPS_HANDOVERS_THINGS_H

#include "tests/apps/handovers/handovers.h"

struct thing {
    const char *name;
    part *give, *take;
    part *judge;      /* sets h->right, in the main thread, when all is done; NULL: the taker has */
    int other_stream; /* relies on order with a blocking stream, or on an event for a non-blocking one */
};

enum { THINGS = 15 };
extern const struct thing things[THINGS];

/* Once; and before each case, when nothing runs. */
void things_make(struct handover *h);
void things_reset(struct handover *h);

/* After a case, when its threads have ended. */
void things_judge(struct handover *h);

#endif

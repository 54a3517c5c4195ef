/* SPDX-License-Identifier: Apache-2.0
 *
 * Which lanes have operations that may touch any memory, and that not everybody comes after anyway: only those are asked
 * about them. Called by conflicts.c and lanes.c, and by region_marks.h where an operation is one of these.
 */
#include "analysis/order/marks.h"

/* Whether everybody comes after all its opaque operations anyway. */
static bool is_done(const struct verdicts *v, uint32_t about)
{
    uint64_t done = vclock_get(&lanes_at(v, HOST_LANE)->expl, about), last = 0;
    const struct lane *lane = lanes_at(v, about);
    for (unsigned i = 0; i < CLASSES; i++)
        last = lane->opaque[i].count != 0 ? larger(last, TABLE_LAST(&lane->opaque[i])->op) : last;
    return last <= done;
}

void conflicts_drop_done(struct verdicts *v)
{
    size_t kept = 0;
    for (size_t i = 0; i < v->opaque_lanes.count; i++) {
        uint32_t about = v->opaque_lanes.items[i];
        if (is_done(v, about))
            lanes_at(v, about)->is_opaque = false;
        else
            v->opaque_lanes.items[kept++] = about;
    }
    v->opaque_lanes.count = kept;
}

void conflicts_close(struct verdicts *v, uint32_t at)
{
    size_t kept = 0;
    for (size_t i = 0; i < v->opaque_lanes.count; i++)
        if (v->opaque_lanes.items[i] != at)
            v->opaque_lanes.items[kept++] = v->opaque_lanes.items[i];
    v->opaque_lanes.count = kept;
}

/* Among those that have opaque operations, which are in order of their numbers. */
static void enlist_opaque(struct verdicts *v, uint32_t at)
{
    size_t place = v->opaque_lanes.count;
    if (!TABLE_ADD(&v->opaque_lanes)) {
        v->limited = true;
        return;
    }
    for (; place != 0 && v->opaque_lanes.items[place - 1] > at; place--)
        v->opaque_lanes.items[place] = v->opaque_lanes.items[place - 1];
    v->opaque_lanes.items[place] = at;
    lanes_at(v, at)->is_opaque = true;
}

void conflicts_be_opaque(struct verdicts *v, uint32_t at, unsigned opaque)
{
    conflicts_mark(v, at, lanes_at(v, at)->opaque, opaque);
    if (!lanes_at(v, at)->is_opaque)
        enlist_opaque(v, at);
}

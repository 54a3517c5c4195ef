/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of strands with opaque operations that not every later call comes after: only these are met by an operation
 * that is not opaque itself. Called by conflicts.c and strands.c. The list rises, so that strands are met in the order of
 * their numbers.
 */
#include "analysis/order/strands/opaque_strands.h"

/* Whether every later call comes after all opaque operations of the strand. */
static bool is_done(const struct verdicts *v, uint32_t about)
{
    uint64_t done = vclock_get(&strands_at(v, HOST_STRAND)->expl, about), last = 0;
    const struct strand *strand = strands_at(v, about);
    for (unsigned i = 0; i < CLASSES; i++)
        last = strand->opaque[i].count != 0 ? larger(last, TABLE_LAST(&strand->opaque[i])->op) : last;
    return last <= done;
}

void opaque_strands_drop_done(struct verdicts *v)
{
    size_t kept = 0;
    for (size_t i = 0; i < v->opaque_strands.count; i++) {
        uint32_t about = v->opaque_strands.items[i];
        if (is_done(v, about))
            strands_at(v, about)->is_opaque = false;
        else
            v->opaque_strands.items[kept++] = about;
    }
    v->opaque_strands.count = kept;
}

void opaque_strands_close(struct verdicts *v, uint32_t at)
{
    size_t kept = 0;
    for (size_t i = 0; i < v->opaque_strands.count; i++)
        if (v->opaque_strands.items[i] != at)
            v->opaque_strands.items[kept++] = v->opaque_strands.items[i];
    v->opaque_strands.count = kept;
}

/* Adds the strand where it belongs. */
static void enlist_opaque(struct verdicts *v, uint32_t at)
{
    size_t place = v->opaque_strands.count;
    if (!TABLE_ADD(&v->opaque_strands)) {
        v->limited = true;
        return;
    }
    for (; place != 0 && v->opaque_strands.items[place - 1] > at; place--)
        v->opaque_strands.items[place] = v->opaque_strands.items[place - 1];
    v->opaque_strands.items[place] = at;
    strands_at(v, at)->is_opaque = true;
}

void opaque_strands_add(struct verdicts *v, uint32_t at, unsigned opaque)
{
    milestones_note(v, at, strands_at(v, at)->opaque, opaque);
    if (!strands_at(v, at)->is_opaque)
        enlist_opaque(v, at);
}

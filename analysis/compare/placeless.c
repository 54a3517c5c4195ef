/* SPDX-License-Identifier: Apache-2.0
 *
 * Tells which rows are compared without their places. Called by compare.c, for all rows at once: those that are alike but
 * for their places form a group, and a program may have thousands of groups, and of rows in one.
 */
#include "analysis/compare/placeless.h"

#include <stdlib.h>

struct member {
    const struct row *row;
    int side;
    size_t at;  /* in its history */
    bool alone; /* the other side has no such row */
};

/* Whether it is not known where its calls come from. */
static bool is_unplaced(const struct row *row)
{
    return row->key.api[0] != 0 && row->key.place[0] == 0;
}

static int by_group(const void *one, const void *two)
{
    struct row_key first = ((const struct member *)one)->row->key, second = ((const struct member *)two)->row->key;
    first.place = second.place = "";
    return history_key_order(&first, &second);
}

/* The places of a group cannot be compared if some are not known (the runtime called, and how many of these have a whole
 * stack is a matter of chance), or have names on one side only (the program was rebuilt since). */
static void judge(struct placeless *placeless, const struct member *group, size_t count)
{
    bool named[SIDES] = {false}, unnamed[SIDES] = {false}, none = false;
    for (size_t i = 0; i < count; i++) {
        const struct member *member = &group[i];
        none |= is_unplaced(member->row);
        named[member->side] |= member->alone && !is_unplaced(member->row) && !member->row->unnamed;
        unnamed[member->side] |= member->alone && member->row->unnamed;
    }
    for (int side = 0; side < SIDES; side++) {
        bool nameless = unnamed[side] && named[side == BEFORE ? AFTER : BEFORE];
        placeless->nameless[side] |= nameless && group->row->key.kind == ROW_CALLS;
        none |= nameless;
    }
    for (size_t i = 0; i < count; i++)
        placeless->rows[group[i].side][group[i].at] = none;
}

static void judge_all(struct placeless *placeless, struct member *members, size_t count)
{
    qsort(members, count, sizeof *members, by_group);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && by_group(&members[first], &members[end]) == 0;)
            end++;
        judge(placeless, members + first, end - first);
    }
}

bool placeless_find(struct placeless *placeless, const struct history *const all[SIDES])
{
    struct member *members = calloc(all[BEFORE]->rows.count + all[AFTER]->rows.count + 1, sizeof *members);
    bool whole = members != NULL;
    size_t count = 0;
    *placeless = (struct placeless){{NULL}, {false}};
    for (int side = 0; side < SIDES; side++) {
        const struct history *other = all[side == BEFORE ? AFTER : BEFORE];
        placeless->rows[side] = calloc(all[side]->rows.count + 1, sizeof *placeless->rows[side]);
        whole &= placeless->rows[side] != NULL;
        for (size_t i = 0; i < all[side]->rows.count && whole; i++) {
            const struct row *row = &all[side]->rows.items[i];
            members[count++] = (struct member){row, side, i, history_find(other, &row->key) == NULL};
        }
    }
    if (whole)
        judge_all(placeless, members, count);
    free(members);
    return whole;
}

void placeless_free(struct placeless *placeless)
{
    for (int side = 0; side < SIDES; side++)
        free(placeless->rows[side]);
    *placeless = (struct placeless){{NULL}, {false}};
}

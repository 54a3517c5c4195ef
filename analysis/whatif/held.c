/* SPDX-License-Identifier: Apache-2.0
 *
 * Which calls other threads' calls held up. Called by whatif.c, before it replays anything.
 *
 * A thread stands behind a lock of the driver only while another one is in the driver. So a call during which no other
 * thread was in one took what such calls take.
 */
#include "analysis/whatif/held.h"

#include <stdlib.h>

static bool is_timed(const struct step *step)
{
    return step->leave > step->enter;
}

/* The calls in flight when one is entered; of more, those that end first are forgotten. */
enum { FLYING_MOST = 64 };
struct flying {
    struct step *steps[FLYING_MOST];
    unsigned count;
};

static void meet(struct step *one, uint64_t until)
{
    uint64_t end = until < one->leave ? until : one->leave;
    if (end - one->enter > one->held)
        one->held = end - one->enter;
}

/* The step was entered while the others were in flight. */
static void meet_all(struct flying *flying, struct step *step)
{
    for (unsigned i = 0; i < flying->count;) {
        struct step *other = flying->steps[i];
        if (other->leave <= step->enter) {
            flying->steps[i] = flying->steps[--flying->count];
            continue;
        }
        if (other->thread != step->thread) {
            meet(step, other->leave);
            meet(other, step->leave);
            if (step->copies && other->copies)
                step->meets = other->meets = true;
        }
        i++;
    }
}

static void fly(struct flying *flying, struct step *step)
{
    unsigned place = 0;
    for (unsigned i = 1; i < flying->count; i++)
        if (flying->steps[i]->leave < flying->steps[place]->leave)
            place = i;
    if (flying->count < FLYING_MOST)
        place = flying->count++;
    flying->steps[place] = step;
}

/* More than two a thread. */
static bool meets_often(const struct recorded *recorded)
{
    size_t met = 0;
    for (size_t i = 0; i < recorded->steps.count; i++)
        met += recorded->steps.items[i].meets;
    return met > 2 * recorded->last.count;
}

static void find_held(struct recorded *recorded)
{
    struct flying flying = {0};
    for (size_t i = 0; i < recorded->steps.count; i++) {
        struct step *step = &recorded->steps.items[i];
        if (!is_timed(step))
            continue;
        meet_all(&flying, step);
        fly(&flying, step);
    }
}

/* ---- what calls take alone ---- */

struct alone {
    uint32_t kind;
    uint64_t ns;
};

struct middles {
    uint64_t *items; /* by kind; 0: too few */
    size_t count, room;
};

static int compare(const void *a, const void *b)
{
    const struct alone *left = a, *right = b;
    if (left->kind != right->kind)
        return left->kind < right->kind ? -1 : 1;
    return (left->ns > right->ns) - (left->ns < right->ns);
}

/* Fewer calls tell nothing. */
enum { ENOUGH = 8 };

/* `alone`: sorted. */
static void find_middles(struct middles *middles, const struct alone *alone, size_t count)
{
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first; end < count && alone[end].kind == alone[first].kind; end++)
            ;
        while (middles->count <= alone[first].kind && TABLE_ADD(middles))
            *TABLE_LAST(middles) = 0;
        if (end - first >= ENOUGH && middles->count > alone[first].kind)
            middles->items[alone[first].kind] = alone[first + (end - first) / 2].ns;
    }
}

static bool is_plain(const struct step *step)
{
    return is_timed(step) && step->waits == WAIT_NONE;
}

bool held_find(struct recorded *recorded)
{
    size_t count = 0;
    struct middles middles = {0};
    struct alone *alone = calloc(recorded->steps.count + 1, sizeof *alone);
    if (alone == NULL)
        return false;
    find_held(recorded);
    recorded->meets_often = meets_often(recorded);
    for (size_t i = 0; i < recorded->steps.count; i++) {
        const struct step *step = &recorded->steps.items[i];
        if (is_plain(step) && step->held == 0)
            alone[count++] = (struct alone){step->kind, step->leave - step->enter};
    }
    qsort(alone, count, sizeof *alone, compare);
    find_middles(&middles, alone, count);
    for (size_t i = 0; i < recorded->steps.count; i++) {
        struct step *step = &recorded->steps.items[i];
        if (is_plain(step) && step->kind < middles.count && middles.items[step->kind] != 0)
            step->usual = middles.items[step->kind];
    }
    free(alone);
    free(middles.items);
    return true;
}

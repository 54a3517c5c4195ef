/* SPDX-License-Identifier: Apache-2.0
 *
 * Follows pointers that lie in memory, as kernels do. Called by launches, and by launches of graphs for all of their
 * nodes together. Must never reach less than the kernel may: where a pointer may lie that nobody knows, it reaches
 * everything.
 */
#include "interpose/footprint/pointers/follow.h"

#include "interpose/code/code.h"
#include "interpose/footprint/memories/touch_memory.h"
#include "interpose/footprint/pointers/pointer_tables.h"

void follow_add(struct follow_list *follows, struct follow one)
{
    for (unsigned i = 0; i < follows->count; i++) {
        struct follow *same = &follows->at[i];
        if (same->memory != one.memory)
            continue;
        same->through |= one.through;
        same->beyond |= one.beyond;
        same->constants &= one.constants;
        same->own |= one.own;
        return;
    }
    if (follows->count == TOUCHED_MOST)
        follows->many = 1;
    else
        follows->at[follows->count++] = one;
}

/* The list of memories to follow grows while it is worked on. Numbers below `done` are done; a memory that turns out to be
 * used in one more way is done once more. */
struct following {
    struct touched *touched;
    struct follow_list all;
    unsigned done;
    const struct memory *by_name;
};

static int says_more(const struct follow *one, const struct follow *than)
{
    return (one->through & ~than->through) || (one->beyond & ~than->beyond) || one->constants < than->constants ||
           one->own > than->own;
}

static void add_reached(struct following *f, struct follow one)
{
    for (unsigned i = 0; i < f->all.count; i++) {
        struct follow *same = &f->all.at[i];
        if (same->memory != one.memory)
            continue;
        if (!says_more(&one, same))
            return;
        one.through |= same->through;
        one.beyond |= same->beyond;
        one.constants &= same->constants;
        one.own |= same->own;
        if (i >= f->done) {
            *same = one;
            return;
        }
        f->all.at[i] = f->all.at[--f->done]; /* the done ones lie before the others, in any order */
        f->all.at[f->done] = one;
        return;
    }
    follow_add(&f->all, one);
}

static void reach(struct following *f, struct memory *memory, struct follow by)
{
    touch_memory_whole(f->touched, memory, (by.through & CODE_WRITE) != 0);
    if (by.beyond)
        add_reached(f, (struct follow){memory, by.beyond, by.beyond, 0, memory->kind == PTDS_MEMORY_GLOBAL});
}

static void follow(struct following *f, struct follow one)
{
    struct pointees pointees;
    if (pointer_tables_incomplete(one.memory, one.constants)) {
        touch_memory_opaque(f->touched, OPAQUE_POINTERS);
        return;
    }
    pointer_tables_read(one.memory, &pointees);
    if (pointees.why)
        touch_memory_opaque(f->touched, pointees.why);
    for (unsigned i = 0; i < pointees.count; i++) {
        reach(f, pointees.at[i], one);
        if (pointees.at[i] == f->by_name)
            f->by_name = NULL;
    }
    if (one.own)
        reach(f, one.memory, one);
}

/* Whether the launch writes to the memory whose pointers it follows: it may then follow pointers that it wrote itself. */
static int writes(const struct touched *touched, const struct follow *one, const struct memory *by_name)
{
    const struct memory *where = memory_object_table_owner(one->memory);
    for (unsigned i = 0; i < touched->count; i++) {
        const struct access *access = &touched->at[i];
        if (access->writes && memory_object_table_owner(access->memory) == where && !(one->constants && where == by_name))
            return 1;
    }
    return 0;
}

void follow_all(struct touched *touched, const struct follow_list *follows, const struct memory **by_name)
{
    struct following f = {touched, *follows, 0, *by_name};
    while (f.done < f.all.count && !touched->opaque)
        follow(&f, f.all.at[f.done++]);
    if (f.all.many)
        touch_memory_opaque(touched, OPAQUE_MANY);
    for (unsigned i = 0; i < f.all.count && !touched->opaque; i++) {
        if (writes(touched, &f.all.at[i], f.by_name))
            touch_memory_opaque(touched, OPAQUE_POINTERS);
    }
    *by_name = f.by_name;
}

// SPDX-License-Identifier: Apache-2.0
//
// Rows whose kernels have numbers beside a pointer. Read by pointers.c.

#include "tests/apps/pointers/pointers.h"

static void many(struct scene *s)
{
    table_make(s, MANY, ENTRY_OF_MANY);
}

static void bring(struct scene *s)
{
    for (size_t i = 0; i < s->entries; i++)
        s->pinned[i] = s->decoy;
    s->pinned[s->entry] = s->target;
    CU(cuMemcpyHtoDAsync(s->table, s->pinned, s->entries * 8, NULL));
}

#define LOADED(title, how) \
    { \
        .name = title, .way = &how, .make = many, .bring = bring \
    }

const struct row rows_number[] = {
    {.name = "sign-extended", .way = &way_extended},
    {.name = "sign-extended-and-distance", .way = &way_extended_step},
    {.name = "eighth-and-no-distance", .way = &way_eighth},
    LOADED("loaded-and-distance", way_loaded_step),
    LOADED("loaded-and-no-distance", way_loaded_none),
    LOADED("loaded-sign-extended", way_loaded_extended),
    {.name = "either-of-many", .way = &way_either},
    {.name = "either-with-difference", .way = &way_either_difference},
    {.name = "either-with-null", .way = &way_either_null},
    {.name = NULL},
};

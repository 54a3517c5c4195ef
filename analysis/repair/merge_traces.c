/* SPDX-License-Identifier: Apache-2.0
 *
 * Folds repairs over traces. Called by the command. Numbers of stacks, kernels and memories are a trace's own, so places
 * are the same by their names: driver function, kernel, and the frames of the call site. Must lose no wait unsaid.
 */
#include "analysis/repair/merge_traces.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/add.h"
#include "analysis/base/id_map.h"
#include "analysis/findings/identity.h"

struct folded_place {
    struct repair_place place;
    uint64_t key, most; /* most: waits of the trace that it is shown of */
    struct repair_origin where;
    size_t last; /* the trace that was counted last, plus one */
};

struct folding {
    struct repairs *out;
    TABLE_OF(struct folded_place) list;
    struct id_map by_key;
};

static uint64_t key_of_end(const struct trace *trace, const struct edge_end *end)
{
    const struct kernel_def *kernel = end->object != 0 ? definitions_kernel(&trace->defs, end->object) : NULL;
    const char *name = kernel != NULL ? definitions_string(&trace->defs, kernel->name) : NULL;
    return identity_of_site(trace, end->api, end->stack, name);
}

static uint64_t key_of(const struct trace *trace, const struct repair_place *place)
{
    uint64_t key = key_of_end(trace, &place->first) * 0x9e3779b97f4a7c15u ^ key_of_end(trace, &place->second);
    return (key ^ place->at ^ (uint64_t)place->verdict << 4) * 0xff51afd7ed558ccdu;
}

static struct folded_place *folded_of(struct folding *folding, uint64_t key)
{
    uint32_t at;
    if (id_map_get(&folding->by_key, key, &at))
        return &folding->list.items[at];
    if (folding->list.count >= REPAIR_PLACES_MOST || !TABLE_ADD(&folding->list))
        return NULL;
    *TABLE_LAST(&folding->list) = (struct folded_place){.key = key};
    return id_map_put(&folding->by_key, key, (uint32_t)folding->list.count - 1) ? TABLE_LAST(&folding->list) : NULL;
}

/* The place of the trace that has most waits there is shown; what is said of all is added up. */
static void join(struct folded_place *folded, const struct repair_place *place, size_t trace)
{
    const struct repair_place before = folded->place;
    bool first = folded->where.traces == 0;
    if (first || place->waits > folded->most) {
        folded->place = *place;
        folded->most = place->waits;
        folded->where.trace = trace;
    }
    folded->place.waits = add_capped(before.waits, place->waits);
    folded->place.calls = add_capped(before.calls, place->calls);
    folded->place.one_memory = place->one_memory && (first || before.one_memory);
    folded->place.more_firsts = place->more_firsts || before.more_firsts;
    folded->place.more_seconds = place->more_seconds || before.more_seconds;
    folded->where.traces += folded->last != trace + 1;
    folded->last = trace + 1;
}

static void take(struct folding *folding, const struct repair *repair, const struct trace *trace, size_t at)
{
    struct repairs *out = folding->out;
    for (size_t i = 0; i < repair->places.count; i++) {
        const struct repair_place *place = &repair->places.items[i];
        struct folded_place *folded = folded_of(folding, key_of(trace, place));
        if (folded != NULL)
            join(folded, place, at);
        else
            out->all.unplaced = add_capped(out->all.unplaced, place->waits);
    }
    out->all.needed = add_capped(out->all.needed, repair->needed);
    out->all.maybe_needed = add_capped(out->all.maybe_needed, repair->maybe_needed);
    out->all.unplaced = add_capped(out->all.unplaced, repair->unplaced);
    out->all.partly |= repair->partly;
    out->all.wide |= repair->wide;
    out->all.strict |= repair->strict;
    out->traces++;
    out->needing += repair->needed != 0;
    out->maybe += repair->needed == 0 && repair->maybe_needed != 0;
}

/* The key decides between equals, so that the order is the same in every run. */
static int by_weight(const void *a, const void *b)
{
    const struct folded_place *one = a, *two = b;
    if (one->place.verdict != two->place.verdict)
        return one->place.verdict == VERDICT_NEEDED ? -1 : 1;
    if (one->where.traces != two->where.traces)
        return one->where.traces > two->where.traces ? -1 : 1;
    if (one->place.waits != two->place.waits)
        return one->place.waits > two->place.waits ? -1 : 1;
    return one->key < two->key ? -1 : one->key > two->key;
}

static bool hand_out(struct folding *folding)
{
    struct repairs *out = folding->out;
    if (folding->list.count > 1)
        qsort(folding->list.items, folding->list.count, sizeof *folding->list.items, by_weight);
    for (size_t i = 0; i < folding->list.count; i++) {
        if (!TABLE_ADD(&out->all.places) || !TABLE_ADD(&out->where))
            return false;
        *TABLE_LAST(&out->all.places) = folding->list.items[i].place;
        *TABLE_LAST(&out->where) = folding->list.items[i].where;
    }
    return true;
}

int merge_traces_repairs(struct repairs *repairs, const struct traces *traces, unsigned policy)
{
    struct folding folding = {.out = repairs};
    int status = 0;
    *repairs = (struct repairs){.traces = 0};
    for (size_t i = 0; i < traces->list.count && status == 0; i++) {
        const struct report *report = &traces->list.items[i]->report;
        struct repair repair;
        status = repair_of(&repair, report, policy);
        if (status == 0)
            take(&folding, &repair, &report->trace, i);
        repair_end(&repair);
    }
    if (!hand_out(&folding))
        status = -1;
    free(folding.list.items);
    id_map_free(&folding.by_key);
    return status;
}

void merge_traces_end(struct repairs *repairs)
{
    repair_end(&repairs->all);
    free(repairs->where.items);
    *repairs = (struct repairs){.traces = 0};
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Pairs of call sites, found by hash. Called for each wait, then for each call of the trace: bounded, and cheap. Must lose
 * no wait unsaid: what has no room is counted by the caller.
 */
#include "analysis/repair/repair_places.h"

#include <stdlib.h>

#include "analysis/base/id_map.h"

static uint64_t mixed(uint64_t hash, uint64_t part)
{
    hash = (hash ^ part) * 0xff51afd7ed558ccdu;
    return hash ^ hash >> 32;
}

static uint64_t site_hash(uint64_t hash, const struct edge_end *end)
{
    return mixed(mixed(hash, end->stack | (uint64_t)end->object << 32), end->api);
}

static bool same_site(const struct edge_end *a, const struct edge_end *b)
{
    return a->stack == b->stack && a->api == b->api && a->object == b->object;
}

/* Keys may collide: the low byte tries the next ones. */
#define TRIES 256
#define KEY(hash) ((hash) & ~(uint64_t)0xff)

static struct repair_site *site_of(struct repair_places *places, const struct edge_end *end, bool make)
{
    uint64_t key = KEY(site_hash(0, end));
    for (unsigned tries = 0; tries < TRIES; tries++, key++) {
        uint32_t at;
        if (!id_map_get(&places->site_by_key, key, &at)) {
            if (!make || !TABLE_ADD(&places->sites))
                return NULL;
            *TABLE_LAST(&places->sites) = (struct repair_site){end->stack, end->object, end->api, 0};
            return id_map_put(&places->site_by_key, key, (uint32_t)places->sites.count - 1) ? TABLE_LAST(&places->sites)
                                                                                            : NULL;
        }
        struct repair_site *site = &places->sites.items[at];
        if (site->stack == end->stack && site->api == end->api && site->object == end->object)
            return site;
    }
    return NULL;
}

static bool is_of(const struct repair_place *place, const struct verdict_conflict *conflict, const struct edge_end *first,
                  const struct edge_end *second)
{
    return place->at == conflict->at && place->verdict == conflict->verdict && same_site(&place->first, first) &&
           same_site(&place->second, second);
}

static struct repair_place *new_place(struct repair *repair, const struct verdict_conflict *conflict,
                                      const struct edge_end *first, const struct edge_end *second)
{
    if (repair->places.count >= REPAIR_PLACES_MOST || !TABLE_ADD(&repair->places))
        return NULL;
    struct repair_place *place = TABLE_LAST(&repair->places);
    *place = (struct repair_place){.at = conflict->at,
                                   .verdict = conflict->verdict,
                                   .reason = conflict->reason,
                                   .first = *first,
                                   .second = *second,
                                   .pair = conflict->pair,
                                   .one_memory = true};
    return place;
}

static struct repair_place *place_of(struct repair_places *places, struct repair *repair,
                                     const struct verdict_conflict *conflict, const struct edge_end *first,
                                     const struct edge_end *second)
{
    uint64_t hash = mixed(site_hash(site_hash(0, first), second), conflict->at | (uint64_t)conflict->verdict << 8);
    uint64_t key = KEY(hash);
    for (unsigned tries = 0; tries < TRIES; tries++, key++) {
        uint32_t at;
        if (!id_map_get(&places->place_by_key, key, &at)) {
            struct repair_place *made = new_place(repair, conflict, first, second);
            return made != NULL && id_map_put(&places->place_by_key, key, (uint32_t)repair->places.count - 1) ? made : NULL;
        }
        if (is_of(&repair->places.items[at], conflict, first, second))
            return &repair->places.items[at];
    }
    return NULL;
}

void repair_places_made(struct repair_places *places, uint32_t memory, const struct edge_end *call)
{
    if (memory == 0 || !TABLE_ADD(&places->made))
        return;
    *TABLE_LAST(&places->made) = *call;
    id_map_put(&places->made_by_memory, memory, (uint32_t)places->made.count - 1);
}

static bool is_elsewhere(const struct edge_end *a, const struct edge_end *b)
{
    return a->thread != b->thread || a->stream != b->stream;
}

bool repair_places_add(struct repair_places *places, struct repair *repair, const struct verdict_conflict *conflict,
                       const struct edge_end *first, const struct edge_end *second)
{
    struct repair_place *place = place_of(places, repair, conflict, first, second);
    if (place == NULL || site_of(places, second, true) == NULL)
        return false;
    place->waits++;
    place->more_firsts |= is_elsewhere(&place->first, first);
    place->more_seconds |= is_elsewhere(&place->second, second);
    place->one_memory &= conflict->pair.allocation == place->pair.allocation;
    if (place->pair.address == 0 && conflict->pair.address != 0)
        place->pair = conflict->pair;
    return true;
}

void repair_places_count(struct repair_places *places, const struct edge_end *call)
{
    struct repair_site *site = places->sites.count != 0 ? site_of(places, call, false) : NULL;
    if (site != NULL)
        site->calls++;
}

static int by_weight(const void *a, const void *b)
{
    const struct repair_place *one = a, *two = b;
    if (one->verdict != two->verdict)
        return one->verdict == VERDICT_NEEDED ? -1 : 1;
    if (one->waits != two->waits)
        return one->waits > two->waits ? -1 : 1;
    if (one->second.ticks != two->second.ticks)
        return one->second.ticks < two->second.ticks ? -1 : 1;
    return one->first.ticks < two->first.ticks ? -1 : one->first.ticks > two->first.ticks;
}

void repair_places_end(struct repair_places *places, struct repair *repair)
{
    for (size_t i = 0; i < repair->places.count; i++) {
        struct repair_place *place = &repair->places.items[i];
        const struct repair_site *site = site_of(places, &place->second, false);
        uint32_t made;
        place->calls = site != NULL ? site->calls : 0;
        if (place->pair.allocation != 0 && id_map_get(&places->made_by_memory, place->pair.allocation, &made))
            place->made = places->made.items[made];
    }
    if (repair->places.count != 0)
        qsort(repair->places.items, repair->places.count, sizeof *repair->places.items, by_weight);
    id_map_free(&places->place_by_key);
    id_map_free(&places->site_by_key);
    id_map_free(&places->made_by_memory);
    free(places->made.items);
    free(places->sites.items);
}

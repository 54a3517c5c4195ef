/* SPDX-License-Identifier: Apache-2.0
 *
 * Regions (ptds.h, NVTX) as rows of nsys' NVTX_EVENTS: nested ones of a thread, ranges of the process, and a row a domain.
 * Called by export_sqlite.c. What never ended has no end. Must not be slow on traces whose regions nobody ends.
 */

#include "analysis/views/export/sqlite/sqlite_nvtx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/id_map.h"
#include "analysis/trace/records.h"
#include "analysis/views/export/sqlite/sqlite_database.h"
#include "analysis/views/export/sqlite/sqlite_row.h"

/* ENUM_NSYS_EVENT_TYPE */
enum { NVTX_PUSH_POP = 59, NVTX_START_END = 60, NVTX_DOMAIN = 75 };

struct region {
    uint64_t start, range; /* range: 0, or of the process */
    uint32_t thread, name, domain;
    uint32_t around; /* the one that was open before it in its thread and domain, plus one; 0: none */
};

struct range_end {
    uint64_t ticks, range;
    uint32_t thread;
};

struct regions_written {
    struct database *database;
    TABLE_OF(struct region) open;    /* all that were begun; which are open say `innermost` and `ranges` */
    TABLE_OF(struct range_end) ends; /* of ranges, whose beginning may stand in another thread's records */
    struct id_map innermost, ranges; /* by thread and domain, by range: position in `open`, plus one */
};

static bool fits_a_map(uint64_t range)
{
    return range != UINT64_MAX;
}

/* The domain's number in the database; it has a row when it is first used. */
static uint64_t domain_of(struct regions_written *regions, const struct region *region)
{
    struct database *database = regions->database;
    uint32_t number = 0;
    if (region->domain == 0 || id_map_get(&database->domains, region->domain, &number))
        return number;
    number = (uint32_t)++database->domains_used;
    database->out_of_memory |= !id_map_put(&database->domains, region->domain, number);
    sqlite_row_begin(database, TABLE_NVTX);
    sqlite_row_number(database, sqlite_database_time(database, region->start));
    sqlite_row_nothing(database, 1);
    sqlite_row_number(database, NVTX_DOMAIN);
    sqlite_row_nothing(database, 1);
    sqlite_row_text(database, definitions_string(&database->traced->report.trace.defs, region->domain));
    sqlite_row_number(database, sqlite_database_thread(database, region->thread));
    sqlite_row_nothing(database, 1);
    sqlite_row_number(database, number);
    sqlite_row_end(database);
    return number;
}

/* Without the "@domain" that the trace's texts of regions end with. */
static void name_of(const struct regions_written *regions, const struct region *region, char *out, size_t room)
{
    const struct definitions *defs = &regions->database->traced->report.trace.defs;
    const char *name = definitions_string(defs, region->name);
    const char *domain = region->domain != 0 ? definitions_string(defs, region->domain) : NULL;
    snprintf(out, room, "%s", name != NULL ? name : "");
    size_t size = strlen(out), tail = domain != NULL ? strlen(domain) + 1 : 0;
    if (tail != 0 && size >= tail && out[size - tail] == '@' && strcmp(out + size - tail + 1, domain) == 0)
        out[size - tail] = 0;
}

static void put_region(struct regions_written *regions, const struct region *region, const uint64_t *end, uint32_t ender)
{
    struct database *database = regions->database;
    char name[640];
    uint64_t domain = domain_of(regions, region), from = sqlite_database_time(database, region->start);
    uint64_t to = end != NULL ? sqlite_database_time(database, *end) : 0;
    name_of(regions, region, name, sizeof name);
    database->last = to > database->last ? to : database->last;
    sqlite_row_begin(database, TABLE_NVTX);
    sqlite_row_number(database, from);
    sqlite_row_number_if(database, end != NULL, to > from ? to : from);
    sqlite_row_number(database, region->range != 0 ? NVTX_START_END : NVTX_PUSH_POP);
    sqlite_row_number_if(database, region->range != 0, region->range);
    sqlite_row_text(database, name);
    sqlite_row_number(database, sqlite_database_thread(database, region->thread));
    sqlite_row_number_if(database, end != NULL && region->range != 0, sqlite_database_thread(database, ender));
    sqlite_row_number(database, domain);
    sqlite_row_end(database);
}

static void begin(struct regions_written *regions, uint32_t thread, const struct ptds_rec_REGION *record)
{
    struct region region = {
        .start = record->ticks, .range = record->range, .thread = thread, .name = record->name, .domain = record->domain};
    struct id_map *map = record->range != 0 ? &regions->ranges : &regions->innermost;
    uint64_t key = record->range != 0 ? record->range : (uint64_t)thread << 32 | record->domain;
    id_map_get(map, key, &region.around);
    if (!TABLE_ADD(&regions->open) || !id_map_put(map, key, (uint32_t)regions->open.count)) {
        regions->database->out_of_memory = true;
        return;
    }
    *TABLE_LAST(&regions->open) = region;
}

/* The innermost one of the thread and domain; none: its beginning is lost. */
static void end(struct regions_written *regions, uint32_t thread, const struct ptds_rec_REGION *record)
{
    uint64_t key = (uint64_t)thread << 32 | record->domain;
    uint32_t at = 0;
    if (!id_map_get(&regions->innermost, key, &at) || at == 0)
        return;
    struct region *region = &regions->open.items[at - 1];
    put_region(regions, region, &record->ticks, thread);
    id_map_put(&regions->innermost, key, region->around);
    region->name = 0; /* written */
}

static void take(void *data, uint32_t thread, uint16_t kind, const void *fixed)
{
    struct regions_written *regions = data;
    const struct ptds_rec_REGION *record = fixed;
    (void)kind;
    if (!fits_a_map(record->range))
        return;
    if (record->name != 0) {
        begin(regions, thread, record);
    } else if (record->range == 0) {
        end(regions, thread, record);
    } else if (TABLE_ADD(&regions->ends)) {
        *TABLE_LAST(&regions->ends) = (struct range_end){.ticks = record->ticks, .range = record->range, .thread = thread};
    } else {
        regions->database->out_of_memory = true;
    }
}

static void end_ranges(struct regions_written *regions)
{
    for (size_t i = 0; i < regions->ends.count; i++) {
        const struct range_end *end = &regions->ends.items[i];
        uint32_t at = 0;
        if (!id_map_get(&regions->ranges, end->range, &at) || regions->open.items[at - 1].name == 0)
            continue;
        put_region(regions, &regions->open.items[at - 1], &end->ticks, end->thread);
        regions->open.items[at - 1].name = 0;
    }
}

void sqlite_nvtx_write(struct database *database)
{
    struct regions_written regions = {.database = database};
    records_each(&database->traced->report.trace, 1u << PTDS_REC_REGION, take, &regions);
    end_ranges(&regions);
    for (size_t i = 0; i < regions.open.count; i++)
        if (regions.open.items[i].name != 0)
            put_region(&regions, &regions.open.items[i], NULL, 0);
    free(regions.open.items);
    free(regions.ends.items);
    id_map_free(&regions.innermost);
    id_map_free(&regions.ranges);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts of the table StringIds, each written once.
 */

#include "analysis/views/export/sqlite/sqlite_strings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/id_map.h"
#include "analysis/report/many/traced.h"
#include "analysis/views/export/sqlite/sqlite_database.h"
#include "analysis/views/export/sqlite/sqlite_row.h"

static uint64_t hash_of(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *text != 0; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash >> 1;
}

static uint64_t new_string(struct database *database, const char *text, uint64_t hash, uint32_t same)
{
    char *copy = strdup(text);
    if (copy == NULL || !TABLE_ADD(&database->strings)) {
        free(copy);
        database->out_of_memory = true;
        return 0;
    }
    uint64_t number = database->strings.count;
    *TABLE_LAST(&database->strings) = (struct known_string){.text = copy, .next = same};
    database->out_of_memory |= !id_map_put(&database->strings_by_hash, hash, (uint32_t)number);
    sqlite_row_begin(database, TABLE_STRING);
    sqlite_row_number(database, number);
    sqlite_row_text(database, text);
    sqlite_row_end(database);
    return number;
}

uint64_t sqlite_strings_of(struct database *database, const char *text)
{
    uint64_t hash = hash_of(text);
    uint32_t first = 0;
    id_map_get(&database->strings_by_hash, hash, &first);
    for (int64_t at = first; at != 0; at = database->strings.items[at - 1].next)
        if (strcmp(database->strings.items[at - 1].text, text) == 0)
            return (uint64_t)at;
    return new_string(database, text, hash, first);
}

static uint64_t name_key(unsigned kind, uint32_t id)
{
    return (uint64_t)kind << 32 | id;
}

bool sqlite_strings_known(struct database *database, unsigned kind, uint32_t id, uint64_t *number)
{
    uint32_t there = 0;
    bool known = id_map_get(&database->names, name_key(kind, id), &there);
    *number = there;
    return known;
}

uint64_t sqlite_strings_keep(struct database *database, unsigned kind, uint32_t id, const char *text)
{
    uint64_t number = sqlite_strings_of(database, text);
    database->out_of_memory |= !id_map_put(&database->names, name_key(kind, id), (uint32_t)number);
    return number;
}

const char *sqlite_strings_text(const struct database *database, uint64_t number)
{
    return number != 0 ? database->strings.items[number - 1].text : "";
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * The database of the SQLite export: opening, rows, texts that are written once, times and ids as nsys has them. Called by
 * the other files of that export. The first error is kept and ends nothing: whoever writes looks at it at the end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/views/export/sqlite_writer.h"

static void put(struct database *database, int status)
{
    if (database->error == SQLITE_OK)
        database->error = status;
}

void row_begin(struct database *database, enum sqlite_table table)
{
    database->row = database->insert[table];
    database->column = 0;
}

void row_number(struct database *database, uint64_t value)
{
    put(database, sqlite3_bind_int64(database->row, ++database->column, (sqlite3_int64)value));
}

void row_number_if(struct database *database, bool known, uint64_t value)
{
    database->column += !known; /* unbound is NULL */
    if (known)
        row_number(database, value);
}

void row_text(struct database *database, const char *text)
{
    database->column++;
    if (text != NULL)
        put(database, sqlite3_bind_text(database->row, database->column, text, -1, SQLITE_TRANSIENT));
}

void row_nothing(struct database *database, unsigned columns)
{
    database->column += (int)columns;
}

void row_end(struct database *database)
{
    int status = sqlite3_step(database->row);
    put(database, status == SQLITE_DONE ? SQLITE_OK : status);
    sqlite3_reset(database->row);
    sqlite3_clear_bindings(database->row);
}

void row_meta(struct database *database, const char *name, const char *text)
{
    row_begin(database, TABLE_META);
    row_number(database, database->process);
    row_text(database, name);
    row_text(database, text);
    row_end(database);
}

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
    row_begin(database, TABLE_STRING);
    row_number(database, number);
    row_text(database, text);
    row_end(database);
    return number;
}

uint64_t string_of(struct database *database, const char *text)
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

bool string_known(struct database *database, unsigned kind, uint32_t id, uint64_t *number)
{
    uint32_t there = 0;
    bool known = id_map_get(&database->names, name_key(kind, id), &there);
    *number = there;
    return known;
}

uint64_t string_keep(struct database *database, unsigned kind, uint32_t id, const char *text)
{
    uint64_t number = string_of(database, text);
    database->out_of_memory |= !id_map_put(&database->names, name_key(kind, id), (uint32_t)number);
    return number;
}

const char *string_text(const struct database *database, uint64_t number)
{
    return number != 0 ? database->strings.items[number - 1].text : "";
}

uint64_t sqlite_time(struct database *database, uint64_t ticks)
{
    return traced_time(database->traced, database->base, ticks);
}

/* Machine or process, then process, then thread: 24 bits each of the latter two. */
uint64_t sqlite_tid(const struct database *database, uint32_t tid)
{
    uint64_t pid = database->traced->report.trace.header.pid;
    return (uint64_t)(database->process & 0x7fff) << 48 | (pid & 0xffffff) << 24 | (tid & 0xffffff);
}

uint64_t sqlite_thread(const struct database *database, uint32_t uid)
{
    const struct thread_def *thread = definitions_thread(&database->traced->report.trace.defs, uid);
    return sqlite_tid(database, thread != NULL ? thread->tid : 0);
}

int sqlite_begin(struct database *database, const char *path)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX; /* one thread */
    int status = sqlite3_open_v2(path, &database->file, flags, NULL);
    if (status == SQLITE_OK)
        status = sqlite3_exec(database->file, sqlite_schema, NULL, NULL, NULL);
    for (int i = 0; i < SQLITE_TABLES && status == SQLITE_OK; i++)
        status = sqlite3_prepare_v2(database->file, sqlite_inserts[i], -1, &database->insert[i], NULL);
    return status;
}

static int is_filled(void *data, int columns, char **values, char **names)
{
    (void)columns;
    (void)values;
    (void)names;
    *(bool *)data = true;
    return 0;
}

static void finalize(struct database *database)
{
    for (int i = 0; i < SQLITE_TABLES; i++) {
        sqlite3_finalize(database->insert[i]);
        database->insert[i] = NULL;
    }
}

int sqlite_finish(struct database *database)
{
    int status = SQLITE_OK;
    char query[160];
    finalize(database); /* else no table can be dropped */
    for (const char *const *table = sqlite_only_if_filled; *table != NULL && status == SQLITE_OK; table++) {
        bool filled = false;
        snprintf(query, sizeof query, "SELECT 1 FROM %s LIMIT 1", *table);
        status = sqlite3_exec(database->file, query, is_filled, &filled, NULL);
        snprintf(query, sizeof query, "DROP TABLE %s", *table);
        if (status == SQLITE_OK && !filled)
            status = sqlite3_exec(database->file, query, NULL, NULL, NULL);
    }
    return status == SQLITE_OK ? sqlite3_exec(database->file, "COMMIT", NULL, NULL, NULL) : status;
}

void sqlite_end(struct database *database)
{
    finalize(database);
    sqlite3_close(database->file);
    for (size_t i = 0; i < database->strings.count; i++)
        free(database->strings.items[i].text);
    free(database->strings.items);
    free(database->gpus.items);
    id_map_free(&database->strings_by_hash);
}

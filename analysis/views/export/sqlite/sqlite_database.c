/* SPDX-License-Identifier: Apache-2.0
 *
 * The database of the SQLite export: begins it, ends it, and has the values that many tables share.
 */

#include "analysis/views/export/sqlite/sqlite_database.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/id_map.h"
#include "analysis/report/many/traced.h"
#include "analysis/views/export/sqlite/sqlite_schema.h"

uint64_t sqlite_database_time(struct database *database, uint64_t ticks)
{
    return traced_time(database->traced, database->base, ticks);
}

/* Machine or process, then process, then thread: 24 bits each of the latter two. */
uint64_t sqlite_database_tid(const struct database *database, uint32_t tid)
{
    uint64_t pid = database->traced->report.trace.header.pid;
    return (uint64_t)(database->process & 0x7fff) << 48 | (pid & 0xffffff) << 24 | (tid & 0xffffff);
}

uint64_t sqlite_database_thread(const struct database *database, uint32_t uid)
{
    const struct thread_def *thread = definitions_thread(&database->traced->report.trace.defs, uid);
    return sqlite_database_tid(database, thread != NULL ? thread->tid : 0);
}

int sqlite_database_begin(struct database *database, const char *path)
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

int sqlite_database_finish(struct database *database)
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

void sqlite_database_end(struct database *database)
{
    finalize(database);
    sqlite3_close(database->file);
    for (size_t i = 0; i < database->strings.count; i++)
        free(database->strings.items[i].text);
    free(database->strings.items);
    free(database->gpus.items);
    id_map_free(&database->strings_by_hash);
}

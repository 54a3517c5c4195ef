/* SPDX-License-Identifier: Apache-2.0
 *
 * The database of the SQLite export: opening, rows, texts that are written once, times and ids as nsys has them. Called by
 * the other files of that export. The first error is kept and ends nothing: whoever writes looks at it at the end.
 */

#include "analysis/views/export/sqlite/sqlite_row.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/id_map.h"
#include "analysis/report/many/traced.h"
#include "analysis/views/export/sqlite/sqlite_database.h"

static void put(struct database *database, int status)
{
    if (database->error == SQLITE_OK)
        database->error = status;
}

void sqlite_row_begin(struct database *database, enum sqlite_table table)
{
    database->row = database->insert[table];
    database->column = 0;
}

void sqlite_row_number(struct database *database, uint64_t value)
{
    put(database, sqlite3_bind_int64(database->row, ++database->column, (sqlite3_int64)value));
}

void sqlite_row_number_if(struct database *database, bool known, uint64_t value)
{
    database->column += !known; /* unbound is NULL */
    if (known)
        sqlite_row_number(database, value);
}

void sqlite_row_text(struct database *database, const char *text)
{
    database->column++;
    if (text != NULL)
        put(database, sqlite3_bind_text(database->row, database->column, text, -1, SQLITE_TRANSIENT));
}

void sqlite_row_nothing(struct database *database, unsigned columns)
{
    database->column += (int)columns;
}

void sqlite_row_end(struct database *database)
{
    int status = sqlite3_step(database->row);
    put(database, status == SQLITE_DONE ? SQLITE_OK : status);
    sqlite3_reset(database->row);
    sqlite3_clear_bindings(database->row);
}

void sqlite_row_meta(struct database *database, const char *name, const char *text)
{
    sqlite_row_begin(database, TABLE_META);
    sqlite_row_number(database, database->process);
    sqlite_row_text(database, name);
    sqlite_row_text(database, text);
    sqlite_row_end(database);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of the SQLite export: begin, a value for each column from left to right, end.
 */
#ifndef PTDS_ANALYSIS_VIEWS_EXPORT_SQLITE_SQLITE_ROW_H
#define PTDS_ANALYSIS_VIEWS_EXPORT_SQLITE_SQLITE_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/views/export/sqlite/sqlite_database.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A row: begin, a value for each column from left to right, end. */
void sqlite_row_begin(struct database *database, enum sqlite_table table);

void sqlite_row_number(struct database *database, uint64_t value);

void sqlite_row_number_if(struct database *database, bool known, uint64_t value);

void sqlite_row_text(struct database *database, const char *text); /* NULL: not known */

void sqlite_row_nothing(struct database *database, unsigned columns);

void sqlite_row_end(struct database *database);

/* A row of PTDS_META. */
void sqlite_row_meta(struct database *database, const char *name, const char *text);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of the SQLite export, and the statements that fill them.
 */
#ifndef PTDS_ANALYSIS_VIEWS_EXPORT_SQLITE_SQLITE_SCHEMA_H
#define PTDS_ANALYSIS_VIEWS_EXPORT_SQLITE_SQLITE_SCHEMA_H

#include "analysis/views/export/sqlite/sqlite_database.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const char sqlite_schema[];
extern const char *const sqlite_inserts[SQLITE_TABLES];
extern const char *const sqlite_only_if_filled[]; /* up to NULL */

#ifdef __cplusplus
}
#endif
#endif

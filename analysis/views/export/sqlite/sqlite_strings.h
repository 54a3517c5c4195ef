/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts of the table StringIds, each written once.
 */
#ifndef PTDS_ANALYSIS_VIEWS_EXPORT_SQLITE_SQLITE_STRINGS_H
#define PTDS_ANALYSIS_VIEWS_EXPORT_SQLITE_SQLITE_STRINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/views/export/sqlite/sqlite_database.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The number of a text in StringIds. */
uint64_t sqlite_strings_of(struct database *database, const char *text);

/* The number of the text that names an object (kind, id): sqlite_strings_known is false where it was not written yet;
 * sqlite_strings_keep writes it. */
bool sqlite_strings_known(struct database *database, unsigned kind, uint32_t id, uint64_t *number);

uint64_t sqlite_strings_keep(struct database *database, unsigned kind, uint32_t id, const char *text);

const char *sqlite_strings_text(const struct database *database, uint64_t number);

#ifdef __cplusplus
}
#endif
#endif

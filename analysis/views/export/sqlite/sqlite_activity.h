/* SPDX-License-Identifier: Apache-2.0
 *
 * What a call did, in the tables that nsys has for it.
 */
#ifndef PTDS_ANALYSIS_VIEWS_EXPORT_SQLITE_SQLITE_ACTIVITY_H
#define PTDS_ANALYSIS_VIEWS_EXPORT_SQLITE_SQLITE_ACTIVITY_H

#include "analysis/views/export/sqlite/sqlite_database.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The row of the call in nsys' tables: the function; where and when it ran, if that is known; the wait that it is. */
void sqlite_activity_call(struct database *database, const struct call_view *view);

/* Says in PTDS_META, and on stderr, what sqlite_activity_call left out. */
void sqlite_activity_end(struct database *database);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Regions and ranges of a process, in the SQLite export.
 */
#ifndef PTDS_ANALYSIS_VIEWS_EXPORT_SQLITE_SQLITE_NVTX_H
#define PTDS_ANALYSIS_VIEWS_EXPORT_SQLITE_SQLITE_NVTX_H

#include "analysis/views/export/sqlite/sqlite_database.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Regions and ranges of the process. */
void sqlite_nvtx_write(struct database *database);

#ifdef __cplusplus
}
#endif
#endif

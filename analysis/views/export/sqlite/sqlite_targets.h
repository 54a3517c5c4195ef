/* SPDX-License-Identifier: Apache-2.0
 *
 * GPUs, contexts and streams of a process, in the SQLite export.
 */
#ifndef PTDS_ANALYSIS_VIEWS_EXPORT_SQLITE_SQLITE_TARGETS_H
#define PTDS_ANALYSIS_VIEWS_EXPORT_SQLITE_SQLITE_TARGETS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/views/export/sqlite/sqlite_database.h"

#ifdef __cplusplus
extern "C" {
#endif

/* GPUs, contexts and streams of the process. */
void sqlite_targets_write(struct database *database);

/* The number of a context's GPU in TARGET_INFO_GPU; false: not known. */
bool sqlite_targets_gpu(struct database *database, uint32_t context, uint32_t *id);

#ifdef __cplusplus
}
#endif
#endif

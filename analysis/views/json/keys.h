/* SPDX-License-Identifier: Apache-2.0
 *
 * Words of the JSON form, which are never renamed; for report_json.c, schema.c and the page.
 */
#ifndef PTDS_ANALYSIS_VIEWS_JSON_KEYS_H
#define PTDS_ANALYSIS_VIEWS_JSON_KEYS_H

#include "analysis/views/residual_words.h"
#include "analysis/views/report_words.h"

enum { REPAIR_WAIT_KINDS = CONFLICT_AFTER_WAIT + 1 };
enum { ACCESSES = ACCESS_UNKNOWN + 1 };

#ifdef __cplusplus
extern "C" {
#endif

extern const char *const edge_kind_keys[EDGE_KINDS];
extern const char *const verdict_reason_keys[VERDICT_REASONS]; /* from 1 on */
extern const char *const repair_wait_keys[REPAIR_WAIT_KINDS];
extern const char *const access_keys[ACCESSES]; /* from 1 on */
extern const char *const startup_keys[STARTUP_KINDS];
extern const char *const report_kept_keys[KEPT_REASONS];

#ifdef __cplusplus
}
#endif

#endif

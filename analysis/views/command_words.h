/* SPDX-License-Identifier: Apache-2.0
 *
 * Commands that come next, as a shell reads them: under the policy, and with the settings, of the run that they follow.
 */
#ifndef PTDS_ANALYSIS_VIEWS_COMMAND_WORDS_H
#define PTDS_ANALYSIS_VIEWS_COMMAND_WORDS_H

#include "analysis/base/line.h"
#include "analysis/report/report.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "ptds probe --policy per-thread -- app ..." */
struct line command_words_probe(const struct report *report);
/* "PTDS_LANES=8 ptds run --trace app.ptds -- app ... && ptds report app.ptds" */
struct line command_words_run(const struct report *report);

#ifdef __cplusplus
}
#endif
#endif

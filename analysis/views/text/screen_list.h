/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of findings on the first screen.
 */
#ifndef PTDS_ANALYSIS_VIEWS_TEXT_SCREEN_LIST_H
#define PTDS_ANALYSIS_VIEWS_TEXT_SCREEN_LIST_H

#include "analysis/views/text/screen_put.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the top findings: as many as fit above `after` rows. */
void screen_list_findings(struct screen *screen, unsigned after);

#ifdef __cplusplus
}
#endif
#endif

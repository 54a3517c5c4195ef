/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptds report` on several traces.
 */
#ifndef PTDS_ANALYSIS_CMD_VERBS_REPORT_MANY_H
#define PTDS_ANALYSIS_CMD_VERBS_REPORT_MANY_H

#include "analysis/base/sink.h"
#include "analysis/cmd/verbs/report_options.h"
#include "analysis/symbols/namer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reports on several traces, as text, JSON or a page. The exit status of `ptds report`. */
int report_many(const struct report_options *options, struct site_namer *namer, struct text_sink *sink);

#ifdef __cplusplus
}
#endif
#endif

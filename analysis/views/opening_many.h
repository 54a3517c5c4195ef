/* SPDX-License-Identifier: Apache-2.0
 *
 * The opening of a report on several processes.
 */
#ifndef PTDS_ANALYSIS_VIEWS_OPENING_MANY_H
#define PTDS_ANALYSIS_VIEWS_OPENING_MANY_H

#include "analysis/report/many/fold.h"
#include "analysis/views/report_words.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As the functions of opening.h, for several processes. */
struct line opening_many_default_streams(const struct traces *traces, const struct runs *runs);

struct line opening_many_blocked(const struct traces *traces, const struct runs *runs);

struct line opening_many_startup(const struct runs *runs);

struct line opening_many_nothing_found(const struct traces *traces, const struct runs *runs);

#ifdef __cplusplus
}
#endif
#endif

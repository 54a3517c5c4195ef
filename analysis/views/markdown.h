/* SPDX-License-Identifier: Apache-2.0
 *
 * Text that came from a trace, as Markdown shows it: names may hold anything.
 */
#ifndef PTDS_ANALYSIS_VIEWS_MARKDOWN_H
#define PTDS_ANALYSIS_VIEWS_MARKDOWN_H

#include "analysis/base/sink.h"
#include "analysis/base/text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As code within a line or a table's cell; nothing in it is markup or HTML. Of an empty text nothing. */
void markdown_code(struct text_sink *sink, const char *text);
/* As plain words. */
void markdown_text(struct text_sink *sink, const char *text);

#ifdef __cplusplus
}
#endif
#endif

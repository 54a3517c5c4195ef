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

/* Writes the text as code within a line or the cell of a table; nothing in it is markup or HTML. Writes nothing for an
 * empty text. */
void markdown_code(struct text_sink *sink, const char *text);
/* Writes the text as plain words. */
void markdown_text(struct text_sink *sink, const char *text);

#ifdef __cplusplus
}
#endif
#endif

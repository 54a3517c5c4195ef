/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace's file as a word of a command.
 */
#ifndef PTDS_ANALYSIS_VIEWS_FILE_WORD_H
#define PTDS_ANALYSIS_VIEWS_FILE_WORD_H

#include "analysis/views/report_words.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The file of the trace as a word of a command, with a blank before it: its name alone where its path is very long. */
struct line file_word(const struct report *report);

#ifdef __cplusplus
}
#endif
#endif

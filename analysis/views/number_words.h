/* SPDX-License-Identifier: Apache-2.0
 *
 * What a rule counted, in words: the keys and numbers of a finding as a person reads them.
 */
#ifndef PTDS_ANALYSIS_VIEWS_NUMBER_WORDS_H
#define PTDS_ANALYSIS_VIEWS_NUMBER_WORDS_H

#include "analysis/base/line.h"
#include "analysis/base/text.h"
#include "analysis/findings/finding.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A key of a finding: "held_calls" is "calls held up"; a key without words of its own has its underscores as spaces. */
struct line number_words_key(const char *key);
/* The number: a time where its key ends in _ns ("1.5 ms"), else a count ("4 096"). */
struct small_text number_words_value(const struct finding_number *number);

#ifdef __cplusplus
}
#endif
#endif

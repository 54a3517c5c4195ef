/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON values as all writers of JSON make them: what a trace or a person named is valid UTF-8 in it, and no number is
 * negative.
 */
#ifndef PTDS_ANALYSIS_VIEWS_JSON_VALUE_H
#define PTDS_ANALYSIS_VIEWS_JSON_VALUE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/sink.h"
#include "analysis/base/text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* New references. NULL is null. */
json_t *value_text(const char *text);
json_t *value_number(uint64_t number);
json_t *value_hex(uint64_t number);
json_t *value_texts(const char *const *texts, size_t count);

/* Puts all of `from`, which is dropped, into `into`; keys that are there already get the new value and keep their place. */
void value_merge(json_t *into, json_t *from);

/* Writes a document with its last newline, and drops it. 0, or -1 without memory for it. */
int value_write(json_t *document, struct text_sink *sink);

#ifdef __cplusplus
}
#endif
#endif

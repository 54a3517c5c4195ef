/* SPDX-License-Identifier: Apache-2.0
 *
 * Where text goes.
 */
#ifndef PTDS_ANALYSIS_BASE_SINK_H
#define PTDS_ANALYSIS_BASE_SINK_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Takes the text that a view writes. The caller fills in both: `write` gets pieces of text, not terminated, in order,
 * on the calling thread, and reports no error; `data` is the caller's own. */
struct text_sink {
    void (*write)(struct text_sink *sink, const char *text, size_t size);
    void *data;
};

/* Writes the formatted text, at most 1023 bytes of it. */
void sink_printf(struct text_sink *sink, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes `text` up to the first character that is in `stop`, or to its end; control characters become spaces. Returns
 * the rest of `text`. */
const char *sink_until(struct text_sink *sink, const char *text, const char *stop);

#ifdef __cplusplus
}
#endif
#endif

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

/* The caller's: `write` gets pieces of text, not terminated, in order, on the calling thread. It must not fail loudly. */
struct text_sink {
    void (*write)(struct text_sink *sink, const char *text, size_t size);
    void *data;
};

/* At most 1023 bytes a call; longer text is cut. */
void sink_printf(struct text_sink *sink, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Up to the first of those characters, or to the end, control characters as spaces. Returns what is left. */
const char *sink_until(struct text_sink *sink, const char *text, const char *stop);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * One line of text, put together in a fixed buffer.
 */
#ifndef PTDS_ANALYSIS_BASE_LINE_H
#define PTDS_ANALYSIS_BASE_LINE_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A line that is being put together. Text beyond the buffer is cut, never written past it. */
struct line {
    char text[256];
    size_t used;
};

/* Adds the formatted text, as much of it as fits. */
void line_add(struct line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds the formatted text if the line then has at most `columns` bytes. False: the line is unchanged. */
bool line_add_whole(struct line *line, size_t columns, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Shortens the line to `columns` bytes: ends it after a whole word and adds " ..."; cuts inside a word only where it
 * has no other, and never inside a UTF-8 sequence. */
void line_fit(struct line *line, size_t columns);

#ifdef __cplusplus
}
#endif
#endif

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

/* A line being put together in a fixed buffer; overflow is cut and never written past. */
struct line {
    char text[256];
    size_t used;
};

void line_add(struct line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds all of it, if the line then has at most so many columns; else nothing. False: nothing. */
bool line_add_whole(struct line *line, size_t columns, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Shortens a line to so many columns: after a whole word, with " ..." in its place; only a single long word is cut, and not
 * inside a UTF-8 sequence. */
void line_fit(struct line *line, size_t columns);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Where text goes, and how untrusted text, times and counts become text.
 */
#ifndef PTDS_ANALYSIS_BASE_TEXT_H
#define PTDS_ANALYSIS_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Copies `size` bytes of untrusted text, ended early by a zero, as valid UTF-8 without control characters, nor those that
 * turn the direction of writing; terminates it. `out` has room for `room` bytes, at least 1. Returns the length. */
size_t text_clean(char *out, size_t room, const void *bytes, size_t size);

/* A cleaned, terminated copy that the caller frees; NULL without memory. */
char *text_copy(const void *bytes, size_t size);

struct small_text {
    char text[32];
};

/* "812 ns", "3.4 us", "18.7 ms", "41.2 s" */
struct small_text text_ns(uint64_t ns);

/* "1 203 311" */
struct small_text text_count(uint64_t count);

/* "1 call", "1 203 311 calls" */
struct line text_plural(uint64_t count, const char *word);

/* "90 %", "under 1 %": a little is not nothing. Of nothing: "0 %" */
struct small_text text_share(uint64_t part, uint64_t whole);

/* Demangles a C++ name if the process has a demangler, else copies. `out` is terminated. */
void text_demangle(char *out, size_t room, const char *name);

/* The bare name: "void at::native::(anonymous namespace)::add<float>(float *)" is "add". */
struct line text_function(const char *name);

/* The part after the last slash. */
const char *text_base(const char *path);

#ifdef __cplusplus
}
#endif
#endif

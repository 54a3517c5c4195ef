/* SPDX-License-Identifier: Apache-2.0
 *
 * How untrusted text, times and counts become text.
 */
#ifndef PTDS_ANALYSIS_BASE_TEXT_H
#define PTDS_ANALYSIS_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/line.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Copies `size` bytes of untrusted text, up to the first zero byte, as valid UTF-8 without control characters and
 * without characters that change the direction of writing. `out` has `room` bytes, at least 1, and is terminated.
 * Returns the length. */
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

/* The bare name of a function: "add" of "void at::native::(anonymous namespace)::add<float>(float *)". */
struct line text_function(const char *name);

/* The part of a path after its last slash. Points into `path`. */
const char *text_base(const char *path);

#ifdef __cplusplus
}
#endif
#endif

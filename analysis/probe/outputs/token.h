/* SPDX-License-Identifier: Apache-2.0
 *
 * The words of a line. Pure.
 */
#ifndef PTDS_ANALYSIS_PROBE_OUTPUTS_TOKEN_H
#define PTDS_ANALYSIS_PROBE_OUTPUTS_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct bytes {
    const char *at;
    size_t size;
};

/* A line while it is gone through. */
struct cursor {
    const char *at, *end;
};

struct token {
    struct bytes space; /* before it */
    struct bytes text;  /* empty: the line ends */
};

/* A word, with its points, signs and digits, or any other single byte. */
struct token token_next(struct cursor *line);

bool token_bytes_equal(struct bytes a, struct bytes b);

#ifdef __cplusplus
}
#endif
#endif

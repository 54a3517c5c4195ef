/* SPDX-License-Identifier: Apache-2.0
 *
 * What lies at the path that a verb is to write to.
 */
#ifndef PTDS_ANALYSIS_CMD_OUTPUT_OUTPUT_PLACE_H
#define PTDS_ANALYSIS_CMD_OUTPUT_OUTPUT_PLACE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What lies at a path, links followed. */
struct output_place {
    char path[PATH_MAX]; /* links followed as far as they can be */
    struct stat status;  /* of what is there */
    bool there;
    int descriptor; /* it is this one of our own; -1 */
};

/* What the verb reads, as it was given: never written to. */
struct output_inputs {
    char *const *paths;
    int count;
};

/* Whether writing to one path would replace what is written to, or lies at, the other: both are one regular file, or
 * will be. Never for stdout ("-"). */
bool output_place_is_one_file(const char *one, const char *two);

/* Fills in what lies at the path. False with errno. */
bool output_place_find(struct output_place *place, const char *path);

/* Whether the place is one of the inputs, or a trace in a folder among them; and whether it is any trace. */
bool output_place_is_input(const struct output_place *place, struct output_inputs inputs);

bool output_place_is_trace(const struct output_place *place);

#ifdef __cplusplus
}
#endif
#endif

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

/* What lies at a path. */
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

/* Whether what is written to one path takes the place of what is written to, or lies at, the other: it is one regular file,
 * or will be. Of stdout ("-") never. */
bool output_place_is_one_file(const char *one, const char *two);

/* For output.c. Finds out what lies at a path; false with errno. */
bool output_place_find(struct output_place *place, const char *path);

/* Whether it is one of these files, or one of the traces in these folders, or any other trace. */
bool output_place_is_input(const struct output_place *place, struct output_inputs inputs);

bool output_place_is_trace(const struct output_place *place);

#ifdef __cplusplus
}
#endif
#endif

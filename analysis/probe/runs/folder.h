/* SPDX-License-Identifier: Apache-2.0
 *
 * The probe's own temporary folder: what each run printed and wrote, and the traces.
 */
#ifndef PTDS_ANALYSIS_PROBE_RUNS_FOLDER_H
#define PTDS_ANALYSIS_PROBE_RUNS_FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct folder {
    char path[PATH_MAX / 2];
};

struct path {
    char text[PATH_MAX];
};

/* What is compared: the two standard streams, then the files that the program writes. */
enum { THING_OUT, THING_ERR, THING_FILES };

/* In $TMPDIR, or /tmp. False: errno says why. */
bool folder_make(struct folder *folder);
void folder_remove(struct folder *folder);

/* Of a run: what it printed or wrote, and the folders of its traces and moments. */
struct path folder_thing(const struct folder *folder, const char *variant, unsigned round, size_t thing);
struct path folder_traces(const struct folder *folder, const char *variant);
struct path folder_moments(const struct folder *folder, const char *variant);
struct path folder_file(const struct folder *folder, const char *name);

/* Copies contents and mode; false: errno says why, and there is no copy. */
bool folder_copy_file(const char *from, const char *to);

#ifdef __cplusplus
}
#endif
#endif

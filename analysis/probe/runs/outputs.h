/* SPDX-License-Identifier: Apache-2.0
 *
 * The files that the program writes (--output). Every run finds them as the first one did, and the probe leaves them so.
 */
#ifndef PTDS_ANALYSIS_PROBE_RUNS_OUTPUTS_H
#define PTDS_ANALYSIS_PROBE_RUNS_OUTPUTS_H

#include "analysis/probe/runs/folder.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { OUTPUTS_MOST = 32, OUTPUTS_ERROR_SIZE = PATH_MAX + 256 };

struct output {
    const char *name;  /* as given */
    struct path path;  /* absolute, without links */
    struct path aside; /* the file that was there, under another name in its own folder; empty: there was none */
};

struct outputs {
    struct output items[OUTPUTS_MOST];
    size_t count;
    bool begun;
};

/* Adds a file. False with a message: it is no plain file, its folder is not there, it was named before, there are too many.
 */
bool outputs_add(struct outputs *outputs, const char *name, char *error);
/* Moves what is there aside. False with a message; then everything is where it was. */
bool outputs_begin(struct outputs *outputs, char *error);
/* Before a run: as at first. False with a message. */
bool outputs_restore(const struct outputs *outputs, char *error);
/* After a run: what it wrote becomes this run's thing in the folder. False with a message. */
bool outputs_take(const struct outputs *outputs, const struct folder *folder, const char *variant, unsigned round,
                  char *error);
/* The very files that were there are back; what was not there is gone. False: some are not, and `complain` got a message
 * for each of these, which names where the file is. */
bool outputs_end(struct outputs *outputs, void (*complain)(const char *error));

#ifdef __cplusplus
}
#endif
#endif

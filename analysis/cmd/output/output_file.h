/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a verb's result goes. Every verb that writes a file writes it through here, so that nothing it does can hurt one:
 * - A regular file, or a name that is free: written beside under another name, and renamed when it is whole. Until then,
 * and after a failure, a signal or a full disk, what was there is as it was.
 * - A symlink: what it leads to; the link stays.
 * - A device, a FIFO, one of this process's own descriptors (/dev/stdout): written to as it is, never replaced.
 * - A trace, and above all one that is read just now: refused, whatever its name.
 */
#ifndef PTDS_ANALYSIS_CMD_OUTPUT_OUTPUT_FILE_H
#define PTDS_ANALYSIS_CMD_OUTPUT_OUTPUT_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#include "analysis/cmd/exit_status.h"
#include "analysis/cmd/output/output_place.h"
#include "analysis/cmd/terminal/progress.h"

enum output_kind {
    OUTPUT_STDOUT,
    OUTPUT_DIRECT, /* to `target` as it is */
    OUTPUT_BESIDE, /* to `temporary`, which becomes `target` */
    OUTPUT_COPIED, /* to `temporary`, which is then copied into `target` */
};

struct output_file {
    const char *verb, *name; /* for messages: "ptds report", and the path as given */
    FILE *file;              /* to write to; NULL where only a path was asked for */
    const char *path;        /* of an empty file to write to, where a path was asked for */
    enum output_kind kind;
    struct output_place place;
    char temporary[PATH_MAX + 16];
    int fd;         /* of what `file` writes to; -1 */
    int error;      /* errno of the first write that failed; 0 none */
    uint64_t bytes; /* written so far, without what still lies in the stream */
    struct progress progress;
};

/* path: NULL and "-" are stdout. by_path: the writer wants a path, not a stream. EXIT_CLEAN; or the exit status of the
 * verb, with a line on stderr. Once a process at a time. */
int output_file_begin(struct output_file *output, const char *verb, const char *path, struct output_inputs inputs,
                      bool by_path);

/* Puts what was written into its place, or, where it is not whole, takes it away. EXIT_CLEAN; or the exit status of the
 * verb, with a line on stderr. */
int output_file_end(struct output_file *output, bool whole);

/* Whether anything was written yet. */
bool output_file_any(struct output_file *output);

#endif

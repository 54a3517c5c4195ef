/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a verb's result goes. Every verb that writes a file writes it through here, so that nothing it does can hurt one:
 * - A regular file, or a name that is free: written beside under another name, and renamed when it is whole. Until then,
 * and after a failure, a signal or a full disk, what was there is as it was.
 * - A symlink: what it leads to; the link stays.
 * - A device, a FIFO, one of this process's own descriptors (/dev/stdout): written to as it is, never replaced.
 * - A trace, and above all one that is read just now: refused, whatever its name.
 */
#ifndef PTDS_ANALYSIS_CMD_OUTPUT_H
#define PTDS_ANALYSIS_CMD_OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#include "analysis/cmd/terminal.h"

enum output_kind {
    OUTPUT_STDOUT,
    OUTPUT_DIRECT, /* to `target` as it is */
    OUTPUT_BESIDE, /* to `temporary`, which becomes `target` */
    OUTPUT_COPIED, /* to `temporary`, which is then copied into `target` */
};

/* What lies at a path. */
struct place {
    char path[PATH_MAX]; /* links followed as far as they can be */
    struct stat status;  /* of what is there */
    bool there;
    int descriptor; /* it is this one of our own; -1 */
};

struct output {
    const char *verb, *name; /* for messages: "ptds report", and the path as given */
    FILE *file;              /* to write to; NULL where only a path was asked for */
    const char *path;        /* of an empty file to write to, where a path was asked for */
    enum output_kind kind;
    struct place place;
    char temporary[PATH_MAX + 16];
    int fd;         /* of what `file` writes to; -1 */
    int error;      /* errno of the first write that failed; 0 none */
    uint64_t bytes; /* written so far, without what still lies in the stream */
    struct progress progress;
};

/* What the verb reads, as it was given: never written to. */
struct output_inputs {
    char *const *paths;
    int count;
};

/* path: NULL and "-" are stdout. by_path: the writer wants a path, not a stream. EXIT_CLEAN; or the exit status of the
 * verb, with a line on stderr. Once a process at a time. */
int output_begin(struct output *output, const char *verb, const char *path, struct output_inputs inputs, bool by_path);

/* Puts what was written into its place, or, where it is not whole, takes it away. EXIT_CLEAN; or the exit status of the
 * verb, with a line on stderr. */
int output_end(struct output *output, bool whole);

/* Whether what is written to one path takes the place of what is written to, or lies at, the other: it is one regular file,
 * or will be. Of stdout ("-") never. */
bool output_is_one_file(const char *one, const char *two);

/* Whether anything was written yet. */
bool output_any(struct output *output);

/* For output.c. Finds out what lies at a path; false with errno. */
bool place_find(struct place *place, const char *path);
/* Whether it is one of these files, or one of the traces in these folders, or any other trace. */
bool place_is_input(const struct place *place, struct output_inputs inputs);
bool place_is_trace(const struct place *place);

/* For output.c. A new empty file in the folder of `path`; its name goes into `name` (PATH_MAX + 16 bytes). It is gone when
 * the process ends, whether by exit or by a signal that asks it to, unless temporary_forget was called. -1 with errno. */
int temporary_make(char *name, const char *path);
/* The same in the folder for temporary files. */
int temporary_make_elsewhere(char *name);
void temporary_forget(void);
void temporary_remove(void);

#endif

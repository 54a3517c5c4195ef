/* SPDX-License-Identifier: Apache-2.0
 *
 * The verbs of the command `ptds`, one file each. A verb gets the arguments from its own name on and returns the exit
 * status; only main.c and the verbs print or exit.
 */
#ifndef PTDS_ANALYSIS_CMD_CMD_H
#define PTDS_ANALYSIS_CMD_CMD_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/report/traces.h"
#include "analysis/views/words.h"
#include "analysis/symbols/symbols.h"

enum ptds_exit {
    EXIT_CLEAN = 0,
    EXIT_FINDINGS = 1, /* or a failed check */
    EXIT_USAGE = 2,
    EXIT_UNREADABLE = 3,
    EXIT_NOT_EXECUTABLE = 126, /* as shells do */
    EXIT_NOT_FOUND = 127,
};

int cmd_probe(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_watch(int argc, char **argv);
int cmd_kernels(int argc, char **argv);
int cmd_help(int argc, char **argv);
int cmd_completion(int argc, char **argv);

/* The absolute path of libptds.so: $PTDS_LIBRARY, or beside this command as installed or as built. `path` has PATH_MAX
 * bytes. False with a message in `error` that names every place looked at. */
enum { LIBRARY_ERROR_SIZE = 2048 };
bool library_find(char *path, char *error);

/* Puts the library first into LD_PRELOAD of this process's environment, keeping what is there. False with a message in
 * `error` (LIBRARY_ERROR_SIZE) if the path cannot be written into LD_PRELOAD. */
bool library_preload(const char *path, char *error);

/* The auditor beside the library, into `auditor` (PATH_MAX). False with a message, also where this machine's glibc would
 * make every program pay for it. */
bool library_auditor(const char *library, char *auditor, char *error);

/* Puts it last into LD_AUDIT. False with a message. */
bool library_audit(const char *library, char *error);

/* Says, on stderr, which variables have nearly the name of one of the library's: else the run is another than was asked
 * for, and nothing says so. */
void variables_warn(const char *verb);

/* Opens what a verb was given; troubles go to stderr under the verb's name, which must stay alive. False without memory.
 * traces_free in either case. progress: a line of it, on a terminal. */
bool traces_take(struct traces *traces, char *verb, char **paths, int count, bool progress);
/* The same; `also` sees each call while they are read. */
bool traces_take_watched(struct traces *traces, char *verb, char **paths, int count, bool progress,
                         struct report_watch *also);
/* The same, but the traces are only read: traced_make is still to come. */
bool traces_take_unmade(struct traces *traces, char *verb, char **paths, int count, bool progress);

/* Says damage in a trace's body, on stderr: traces_take has done it for its own. A verb that shows what is left of such a
 * trace ends with EXIT_UNREADABLE. */
void say_damage(const char *verb, const struct trace *trace);
bool any_damage(const struct traces *traces);

/* From here on a trace that is cut while the verb reads it ends the command, with a line. */
void cut_listen(const char *verb);

/* Whether these are to be reported as several: more than one, or a folder. */
bool is_many(char **paths, int count);

/* In the child that doctor starts: looks at the driver and the doors from inside, and writes what it saw to stdout. */
int doctor_probe(bool with_gpus);

#endif

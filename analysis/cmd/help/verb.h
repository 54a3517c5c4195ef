/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of the verbs (main.c), and what is made of it: --help, `ptds help`, the man page, the completions of shells. A
 * verb's options stand once, in its struct argp.
 */
#ifndef PTDS_ANALYSIS_CMD_HELP_VERB_H
#define PTDS_ANALYSIS_CMD_HELP_VERB_H

#include <argp.h>
#include <stdio.h>

/* The words that an option takes, with spaces between. */
struct verb_values {
    int key; /* 0: the end */
    const char *words;
};

struct verb {
    const char *name, *what;
    int (*run)(int argc, char **argv);
    const struct argp *argp; /* its args_doc says what the arguments are: TRACE, PROGRAM, a list of words, or none */
    const struct verb_values *values; /* of its options; may be NULL */
};

/* All verbs, in the order in which they are told (main.c). */
extern const struct verb *const verbs[];
extern const size_t verbs_count;
extern const struct argp main_argp;

const struct verb *verb_find(const char *name); /* NULL: no such verb */

/* One a file of cmd/verbs/. */
extern const struct verb verb_probe, verb_run, verb_report, verb_diff, verb_check, verb_export, verb_watch, verb_kernels,
    verb_doctor, verb_help, verb_completion;

/* For the writers of completions: what can stand in the place of the value of an option, or of an argument of a verb. */
enum expected { EXPECT_NOTHING, EXPECT_WORDS, EXPECT_FILE, EXPECT_FOLDER, EXPECT_TRACE, EXPECT_PROGRAM, EXPECT_ANY };
enum expected verb_expects(const struct verb *verb);
/* The words that the arguments of a verb may be, with `|` between; NULL: it takes no words. */
const char *verb_words(const struct verb *verb);
enum expected verb_option_expects(const struct verb *verb, const struct argp_option *option, const char **words);

/* Before help is printed, after which the command ends: leaves out argp's sentence on arguments of short options, which
 * tells nobody anything. By the environment, for argp asks no help_filter of ours about it. */
void verb_shorten_help(void);

/* Calls each(data, option) for the options that a user sees. */
void verb_each_option(const struct verb *verb, void (*each)(void *data, const struct argp_option *option), void *data);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * What `ptds report` was asked for. Parsing ends the program on a usage error; nothing else here does.
 */
#ifndef PTDS_ANALYSIS_CMD_VERBS_REPORT_OPTIONS_H
#define PTDS_ANALYSIS_CMD_VERBS_REPORT_OPTIONS_H

#include "analysis/base/sink.h"
#include "analysis/cmd/help/verb.h"
#include "analysis/report/floor.h"
#include "analysis/trace/selection.h"

enum report_form { FORM_TEXT, FORM_JSON, FORM_HTML };

/* Pairs of call sites that --repair shows first. */
enum { SCREEN_REPAIRS = 10 };

struct report_options {
    enum report_form form;
    bool summary, all, what_if, repair, schema, pager, progress;
    const char *finding; /* NULL: none in particular */
    const char *output;  /* NULL: stdout */
    struct selection selection;
    struct floor floor;
    unsigned rows; /* of the screen; for the verb to fill in */
    bool *spoilt;  /* for the verb to fill in: set where what was written so far is no report */
    char **traces;
    int count;
};

extern const struct argp report_options_argp;
extern const struct verb_values report_options_values[];

void report_options_parse(struct report_options *options, int argc, char **argv);

#endif

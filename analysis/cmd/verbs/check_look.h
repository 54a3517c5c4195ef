/* SPDX-License-Identifier: Apache-2.0
 *
 * For check.c: what was asked for, and the work.
 */
#ifndef PTDS_ANALYSIS_CMD_VERBS_CHECK_LOOK_H
#define PTDS_ANALYSIS_CMD_VERBS_CHECK_LOOK_H

#include "analysis/check/conditions.h"
#include "analysis/check/failed_edges.h"
#include "analysis/check/region_limits.h"
#include "analysis/check/results.h"
#include "analysis/cmd/exit_status.h"
#include "analysis/compare/compare.h"
#include "analysis/symbols/symbolizer.h"

struct check {
    struct conditions conditions;
    struct region_limits regions;
    struct failed_edges edges;
    struct history baseline, now;
    struct tolerance tolerance;
    const char *baseline_path, *junit, *markdown, *json; /* NULL: not asked for */
    bool has_conditions, has_growth, allow_incomplete, update;
    char **paths;
    int count;
    struct traces traces;
    struct folds folds;
    struct site_namer *namer;
    struct check_results results;
};

/* Fills in the results from the traces, which are open. EXIT_CLEAN; else the exit status of the verb, with a line on
 * stderr. */
int check_look(struct check *check, const char *name);

#endif

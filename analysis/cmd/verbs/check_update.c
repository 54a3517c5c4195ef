/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptds check --update`: adds runs to a baseline. Called by verb_check.c. What is incomplete is not added: a check against
 * it would find too much.
 */
#include "analysis/cmd/verbs/check_update.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analysis/cmd/verbs/check_look.h"
#include "analysis/cmd/exit_status.h"
#include "analysis/cmd/output/output_file.h"
#include "analysis/cmd/output/output_place.h"
#include "analysis/compare/baseline.h"

static int write_baseline(struct check *check, const char *name)
{
    struct output_file output;
    struct output_inputs inputs = {check->paths, check->count};
    int status = output_file_begin(&output, name, check->baseline_path, inputs, false);
    return status != EXIT_CLEAN ? status : output_file_end(&output, baseline_write(&check->baseline, output.file));
}

/* What another program does is no level that this one was accepted at, and it is not taken out again. */
static bool is_of_program(const struct check *check, const char *name)
{
    const struct run_facts *then = check->baseline.runs.count != 0 ? TABLE_LAST(&check->baseline.runs) : NULL;
    for (size_t i = 0; i < check->now.runs.count && then != NULL; i++) {
        const char *program = check->now.runs.items[i].program;
        if (strcmp(then->program, program) == 0)
            continue;
        fprintf(stderr,
                "%s: %s: not changed: the baseline is of %.150s, and this is %.150s; give it another --baseline, or remove "
                "this one to start anew\n",
                name, check->baseline_path, then->program, program);
        return false;
    }
    return true;
}

int check_update(struct check *check, const char *name)
{
    if (check->results.incomplete.count != 0 && !check->allow_incomplete) {
        fprintf(stderr, "%s: %s: not changed: %s\n", name, check->baseline_path, check->results.incomplete.items[0]);
        return EXIT_UNREADABLE;
    }
    if (!is_of_program(check, name))
        return EXIT_UNREADABLE;
    if (!history_append(&check->baseline, &check->now)) {
        fprintf(stderr, "%s: no memory for the baseline\n", name);
        return EXIT_UNREADABLE;
    }
    history_keep_latest(&check->baseline, BASELINE_RUNS_MOST);
    history_sort(&check->baseline);
    int status = write_baseline(check, name);
    if (status == EXIT_CLEAN)
        printf("%s: %s, %zu added\n", check->baseline_path, text_plural(check->baseline.runs.count, "run").text,
               check->now.runs.count);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the implicit orders that a check fails on by their verdict, added up by call sites as the report has them.
 * Called by cmd/verbs/check_look.c.
 */

#include "analysis/check/failed_edges.h"

#include <stdlib.h>

#include "analysis/check/conditions.h"

static bool add_break(struct failed_edges *check, const struct edge_group *group, enum verdict verdict, size_t process)
{
    if (!TABLE_ADD(&check->breaks))
        return false;
    *TABLE_LAST(&check->breaks) = (struct failed_edge){
        .edge = &group->example, .verdict = verdict, .process = process, .count = group->counts[verdict]};
    return true;
}

bool failed_edges_look(struct failed_edges *check, const struct conditions *conditions, const struct report *report,
                       size_t process)
{
    for (size_t i = 0; i < report->edges.groups.count; i++) {
        const struct edge_group *group = &report->edges.groups.items[i];
        for (unsigned verdict = 0; verdict < VERDICTS; verdict++)
            if (conditions->verdict[verdict] && group->counts[verdict] != 0 &&
                !add_break(check, group, (enum verdict)verdict, process))
                return false;
    }
    check->ungrouped += report->edges.ungrouped;
    check->unjudged += !report->edges.analysed;
    return true;
}

void failed_edges_free(struct failed_edges *check)
{
    free(check->breaks.items);
    *check = (struct failed_edges){0};
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * What a report knows of the verdicts on implicit edges: the one place where its writers ask. Without edges the answer is
 * "not analysed", never a number.
 */
#include "analysis/report.h"

bool report_finding_verdicts(const struct report *report, const struct finding *finding, uint64_t verdicts[VERDICTS])
{
    for (unsigned i = 0; i < VERDICTS; i++)
        verdicts[i] = 0;
    if (report->edges == NULL || !finding->has_api)
        return false;
    edge_list_site(report->edges, finding->stack, finding->api, finding->twin, verdicts);
    return true;
}

struct line report_verdicts(const uint64_t *verdicts)
{
    struct line line = {0};
    for (unsigned i = 0; i < VERDICTS && verdicts != NULL; i++)
        if (verdicts[i] != 0)
            line_add(&line, "%s%s %s", line.used != 0 ? ", " : "", text_count(verdicts[i]).text, verdict_names[i]);
    if (line.used == 0)
        line_add(&line, "%s", verdicts != NULL ? "no edges" : "not analysed");
    return line;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Puts into words that a call had not returned when the trace ended: which, since when, behind what. Called by opening.c.
 * Must not call a program stuck that may have been killed in an ordinary wait.
 */
#include "analysis/views/stuck_words.h"

#include <string.h>
#include <time.h>

#include "analysis/views/opening.h"
#include "analysis/views/report_words.h"

enum { NAME_COLUMNS = 40 };

static uint64_t longest_ns(const struct finding *finding)
{
    for (unsigned i = 0; i < FINDING_NUMBERS && finding->numbers[i].key != NULL; i++)
        if (strcmp(finding->numbers[i].key, "longest_call_ns") == 0)
            return finding->numbers[i].value;
    return 0;
}

/* By the wall clock; nothing where the trace does not tell it. */
static void add_since(const struct report *report, const struct finding *finding, struct line *line)
{
    const struct clock_def *clock = report->trace.defs.clocks.items;
    char text[32];
    struct tm utc;
    if (report->trace.defs.clocks.count == 0 || clock->realtime == 0 || finding->first < clock->ticks)
        return;
    time_t when = (time_t)((clock->realtime + trace_ns(&report->trace, finding->first - clock->ticks)) / 1000000000u);
    if (gmtime_r(&when, &utc) != NULL && strftime(text, sizeof text, "%H:%M:%S UTC", &utc) != 0)
        line_add(line, " since %s", text);
}

static void add_behind(const struct report *report, const struct finding *finding, struct line *line)
{
    const struct finding_ids *kernels = &finding->sets[FINDING_WAITS_FOR_KERNELS];
    const struct finding_ids *streams = &finding->sets[FINDING_WAITS_FOR];
    char text[300];
    if (kernels->count != 0) {
        report_words_id(report, FINDING_WAITS_FOR_KERNELS, kernels->id[0], text, sizeof text);
        line_add(line, ", behind %.*s", NAME_COLUMNS, text_function(text).text);
    }
    if (streams->count != 0) {
        report_words_id(report, FINDING_WAITS_FOR, streams->id[0], text, sizeof text);
        line_add(line, "%s %.*s", kernels->count != 0 ? " on" : ", behind", NAME_COLUMNS, text);
    }
}

struct line stuck_words_line(const struct report *report, const struct outcome *outcome)
{
    const struct finding *finding = outcome->stuck;
    struct line line = {0};
    line_add(&line, "%s: #%zu %s", outcome->may_be_stuck ? "Maybe stuck, or killed in a wait" : "Stuck",
             opening_number(report, finding), definitions_api_name(&report->trace.defs, finding->api));
    if (!outcome->may_be_stuck && longest_ns(finding) != 0)
        line_add(&line, " %s not returned for %s", report->trace.source.now != 0 ? "has" : "had",
                 text_ns(longest_ns(finding)).text);
    add_since(report, finding, &line);
    add_behind(report, finding, &line);
    return line;
}

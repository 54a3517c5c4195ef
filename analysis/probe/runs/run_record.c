/* SPDX-License-Identifier: Apache-2.0
 *
 * Asks the reports on a run's traces. Called by conclude.c. Decides nothing that a report has decided.
 */
#include "analysis/probe/runs/run_record.h"

#include <dirent.h>
#include <string.h>

#include "analysis/base/line.h"
#include "analysis/report/default_cost.h"
#include "analysis/report/many/traces.h"
#include "analysis/report/outcome.h"
#include "analysis/views/opening.h"

static void note(void *data, const char *line)
{
    struct record *record = data;
    if (record->trouble.used == 0)
        line_add(&record->trouble, "%s", line);
}

static bool is_empty(const char *folder)
{
    DIR *entries = opendir(folder);
    const struct dirent *entry = NULL;
    while (entries != NULL && (entry = readdir(entries)) != NULL && entry->d_name[0] == '.')
        ;
    if (entries != NULL)
        closedir(entries);
    return entry == NULL;
}

/* Of two processes, the one to speak of. */
static bool matters_more(const struct record *than, const struct report *report)
{
    struct default_stream cost = default_cost_of(report);
    if (cost.most_ns != than->most_ns)
        return cost.most_ns > than->most_ns;
    if (report->totals.default_stream != than->default_stream)
        return report->totals.default_stream > than->default_stream;
    return report->totals.calls > than->calls;
}

static void take(struct record *record, const struct report *report)
{
    struct default_stream cost = default_cost_of(report);
    const struct report_totals *totals = &report->totals;
    text_clean(record->program, sizeof record->program, text_base(report->trace.header.program),
               strlen(text_base(report->trace.header.program)));
    record->threads = report->trace.threads;
    record->streams = totals->program_streams;
    record->calls = totals->calls;
    record->default_stream = totals->default_stream;
    record->remapped = totals->remapped;
    record->run_ns = totals->run_ns;
    record->gpu_busy_ns = totals->gpu_busy_ns;
    record->gpu_span_ns = totals->gpu_span_ns;
    record->gpu_busy_at_least = totals->gpu_timed < totals->gpu_operations;
    record->cost = cost.cost;
    record->most_ns = cost.most_ns;
    record->default_words = opening_default_stream(report);
    record->blocked = opening_blocked(report);
}

/* Before take: what the default stream costs depends on it. */
static void replay(struct record *record, struct report *report)
{
    record->whatif = whatif_of_source(&report->trace.source);
    whatif_tell(&record->whatif, report);
    record->replayed = record->whatif.doubt == WHATIF_SURE && whatif_is_timed(record->whatif.gpu, record->whatif.gpu_timed);
}

static void take_outcome(struct record *record, const struct report *report)
{
    struct outcome outcome = outcome_of(report);
    bool less_sure = !outcome.complete && !record->incomplete;
    record->incomplete |= !outcome.complete;
    if (record->outcome.used != 0 && (outcome.doubt < record->doubt || (outcome.doubt == record->doubt && !less_sure)))
        return;
    record->doubt = outcome.doubt;
    record->outcome = opening_outcome(report);
    opening_pair(report, outcome.pair, &record->first, &record->second);
}

void run_record_read(struct record *record, const char *folder, bool replayed)
{
    struct traces traces = {.trouble = note, .data = record};
    *record = (struct record){0};
    if (is_empty(folder))
        return;
    if (!traces_add(&traces, folder))
        note(record, "no memory for the record");
    traces_order(&traces);
    for (size_t i = 0; i < traces.list.count; i++) {
        struct report *report = &traces.list.items[i]->report;
        if (report->totals.calls == 0)
            continue;
        if (record->processes++ == 0 || matters_more(record, report)) {
            if (replayed)
                replay(record, report);
            take(record, report);
        }
        record->explicit_legacy += report->totals.kept[KEPT_EXPLICIT];
        take_outcome(record, report);
    }
    traces_free(&traces);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Which traces are processes of one run, and which are repetitions of it. Called by observe.c. Goes by the clock: processes
 * of a run run at the same time.
 */
#include "analysis/compare/runs.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/text.h"
#include "analysis/compare/history_of_traces.h"
#include "analysis/report/many/traced.h"

struct lifetime {
    uint64_t begin, end; /* CLOCK_REALTIME ns */
    const struct traced *traced;
    size_t at;
};

static struct lifetime lifetime_of(const struct traces *traces, size_t at)
{
    const struct traced *traced = traces->list.items[at];
    const struct definitions *defs = &traced->report.trace.defs;
    struct lifetime life = {.end = UINT64_MAX, .traced = traced, .at = at};
    if (!traced->has_realtime)
        return life; /* nobody knows: with all the others */
    uint64_t last = traced->report.selected_last;
    if (defs->clocks.count == 2 && defs->clocks.items[1].ticks > last)
        last = defs->clocks.items[1].ticks;
    life.begin = traced_realtime(traced, traced->first_ticks);
    life.end = traced_realtime(traced, last);
    return life;
}

static int by_begin(const void *one, const void *two)
{
    const struct lifetime *a = one, *b = two;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

static bool is_alike(const struct traced *one, const struct traced *two)
{
    const struct ptds_trace_header *a = &one->report.trace.header, *b = &two->report.trace.header;
    return a->rank == b->rank && strcmp(text_base(a->program), text_base(b->program)) == 0;
}

/* Whether one of these is the same program in the same rank. */
static bool has_alike(const struct lifetime *lives, size_t count, const struct traced *traced)
{
    for (size_t i = 0; i < count; i++)
        if (is_alike(lives[i].traced, traced))
            return true;
    return false;
}

size_t runs_of(const struct traces *traces, size_t *run)
{
    size_t count = traces->list.count, runs = 0, first = 0;
    struct lifetime *lives = calloc(count + 1, sizeof *lives);
    uint64_t end = 0;
    for (size_t i = 0; i < count; i++) {
        run[i] = 0;
        if (lives != NULL)
            lives[i] = lifetime_of(traces, i);
    }
    if (lives == NULL || count == 0) {
        free(lives);
        return count != 0;
    }
    qsort(lives, count, sizeof *lives, by_begin);
    for (size_t i = 0; i < count; i++) {
        bool later = i != 0 && lives[i].begin > end;
        if (i == 0 || (later && has_alike(lives + first, i - first, lives[i].traced))) {
            runs++;
            first = i;
            end = 0;
        }
        if (lives[i].end > end)
            end = lives[i].end;
        run[lives[i].at] = runs - 1;
    }
    free(lives);
    return runs;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens traces and folders of traces for the verbs, with a line of progress. A trace that cannot be read is told on
 * stderr and does not keep the others from being opened.
 */
#include "analysis/cmd/open_traces.h"

#include <stdio.h>
#include <sys/stat.h>

#include "analysis/cmd/terminal/progress.h"

static void say_trouble(void *verb, const char *line)
{
    fprintf(stderr, "%s: %s\n", (const char *)verb, line);
}

struct taking {
    struct report_watch watch; /* first */
    struct progress progress;
    struct report_watch *also; /* sees each call while traces are built; may be NULL */
};

static void on_call(struct report_watch *watch, const struct report *report, const struct call_view *view, uint32_t serial)
{
    struct report_watch *also = ((struct taking *)watch)->also;
    also->call(also, report, view, serial);
}

static void on_default_wait(struct report_watch *watch, const struct report *report, uint32_t thread, uint64_t enter)
{
    struct report_watch *also = ((struct taking *)watch)->also;
    if (also->default_wait != NULL)
        also->default_wait(also, report, thread, enter);
}

static void on_progress(struct report_watch *watch, uint64_t done, uint64_t total)
{
    struct progress *progress = &((struct taking *)watch)->progress;
    if (done < total)
        progress_calls(progress, done, total);
    else
        progress_end(progress);
}

static bool take(struct traces *traces, char *verb, char **paths, int count, bool progress, bool later,
                 struct report_watch *also)
{
    static struct taking taking; /* later walks over these traces tell it, too */
    bool sound = true;
    *traces = (struct traces){.trouble = say_trouble, .data = verb, .watch = &taking.watch, .later = later};
    taking.watch.progress = on_progress;
    taking.watch.call = also != NULL ? on_call : NULL;
    taking.watch.default_wait = also != NULL ? on_default_wait : NULL;
    taking.also = also;
    progress_begin(&taking.progress, NULL, progress);
    for (int i = 0; i < count && sound; i++) {
        taking.progress.name = paths[i];
        sound = traces_add(traces, paths[i]);
        if (!sound)
            fprintf(stderr, "%s: %s: no memory for the trace\n", verb, paths[i]);
    }
    progress_end(&taking.progress);
    traces->watch = NULL;
    taking.watch.call = NULL;
    taking.watch.default_wait = NULL;
    traces_order(traces);
    taking.progress.name = traces->list.count == 1 ? paths[0] : verb;
    for (size_t i = 0; i < traces->list.count; i++) {
        traces->list.items[i]->report.walks = &taking.watch;
        open_traces_say_damage(verb, &traces->list.items[i]->report.trace);
    }
    return sound;
}

bool open_traces(struct traces *traces, char *verb, char **paths, int count, bool progress)
{
    return take(traces, verb, paths, count, progress, false, NULL);
}

bool open_traces_watched(struct traces *traces, char *verb, char **paths, int count, bool progress,
                         struct report_watch *also)
{
    return take(traces, verb, paths, count, progress, false, also);
}

bool open_traces_unmade(struct traces *traces, char *verb, char **paths, int count, bool progress)
{
    return take(traces, verb, paths, count, progress, true, NULL);
}

void open_traces_say_damage(const char *verb, const struct trace *trace)
{
    if (trace->damaged == 0)
        return;
    unsigned long long offset = trace->damages.count != 0 ? trace->damages.items[0].offset : 0;
    fprintf(stderr, "%s: %s: offset %llu: damaged: %s", verb, trace->source.name, offset,
            trace->damages.count != 0 ? trace->damages.items[0].text : "no memory for more");
    if (trace->damaged > 1)
        fprintf(stderr, " (the first of %llu places)", (unsigned long long)trace->damaged);
    fprintf(stderr, "; what follows is of the rest\n");
}

bool open_traces_any_damage(const struct traces *traces)
{
    for (size_t i = 0; i < traces->list.count; i++)
        if (traces->list.items[i]->report.trace.damaged != 0)
            return true;
    return false;
}

bool open_traces_are_many(char **paths, int count)
{
    struct stat status;
    return count > 1 || (count == 1 && stat(paths[0], &status) == 0 && S_ISDIR(status.st_mode));
}

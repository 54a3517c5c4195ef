/* SPDX-License-Identifier: Apache-2.0
 *
 * Which calls a report is about. Called by report/pass/pass_over_calls.c; asking for something that the trace does not have
 * is an error, never an empty report.
 */
#include "analysis/trace/selection.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool selection_is_all(const struct selection *selection)
{
    return selection == NULL ||
           (selection->thread == NULL && selection->stream == 0 && !selection->has_from && !selection->has_to);
}

static bool add_thread(struct selected *selected, uint32_t uid)
{
    if (!TABLE_ADD(&selected->threads))
        return false;
    *TABLE_LAST(&selected->threads) = uid;
    return true;
}

/* Threads that made calls but were never defined have no name, only their uid. */
static bool made_calls(const struct trace *trace, uint32_t uid)
{
    for (size_t i = 0; i < trace->chunks.count; i++)
        if (trace->chunks.items[i].thread == uid)
            return true;
    return false;
}

static bool find_threads(struct selected *selected, const struct trace *trace)
{
    const char *asked = selected->asked->thread;
    char *end;
    unsigned long uid = strtoul(asked, &end, 10);
    if (asked[0] >= '0' && asked[0] <= '9' && *end == 0 && uid <= UINT32_MAX)
        return (definitions_thread(&trace->defs, (uint32_t)uid) != NULL || made_calls(trace, (uint32_t)uid)) &&
               add_thread(selected, (uint32_t)uid);
    for (size_t i = 0; i < trace->defs.threads.count; i++) {
        const struct thread_def *thread = &trace->defs.threads.items[i];
        if (thread->text != NULL && strcmp(thread->text, asked) == 0 && !add_thread(selected, thread->id))
            return false;
    }
    return selected->threads.count != 0;
}

static int no_thread(const struct trace *trace, const char *asked, char *error)
{
    int used = snprintf(error, TRACE_ERROR_SIZE, "%s: no thread \"%.60s\"; there are:", trace->source.name, asked);
    for (size_t i = 0; i < trace->defs.threads.count && used > 0 && used < TRACE_ERROR_SIZE - 60; i++) {
        const struct thread_def *thread = &trace->defs.threads.items[i];
        used += snprintf(error + used, (size_t)(TRACE_ERROR_SIZE - used), "%s %u (%.30s)", i != 0 ? "," : "", thread->id,
                         thread->text != NULL ? thread->text : "");
    }
    return -1;
}

int selection_begin(struct selected *selected, const struct selection *selection, const struct trace *trace, uint64_t start,
                    char *error)
{
    *selected = (struct selected){.asked = selection_is_all(selection) ? NULL : selection, .trace = trace, .start = start};
    if (selected->asked == NULL)
        return 0;
    if (selection->thread != NULL && !find_threads(selected, trace))
        return no_thread(trace, selection->thread, error);
    if (selection->stream != 0 && definitions_stream(&trace->defs, selection->stream) == NULL) {
        snprintf(error, TRACE_ERROR_SIZE, "%s: no stream %" PRIu32 "; the reports name streams by #number",
                 trace->source.name, selection->stream);
        return -1;
    }
    if ((selection->has_from || selection->has_to) && !trace_has_time(trace)) {
        snprintf(error, TRACE_ERROR_SIZE, "%s: a range of time was asked for, but this trace's clock cannot be converted",
                 trace->source.name);
        return -1;
    }
    return 0;
}

static bool has_thread(const struct selected *selected, uint32_t uid)
{
    for (size_t i = 0; i < selected->threads.count; i++)
        if (selected->threads.items[i] == uid)
            return true;
    return false;
}

bool selection_has_at(const struct selected *selected, uint32_t thread, uint32_t stream, uint64_t enter)
{
    const struct selection *asked = selected->asked;
    if (asked == NULL)
        return true;
    if (asked->thread != NULL && !has_thread(selected, thread))
        return false;
    if (asked->stream != 0 && stream != asked->stream)
        return false;
    if (!asked->has_from && !asked->has_to)
        return true;
    uint64_t at = enter > selected->start ? trace_ns(selected->trace, enter - selected->start) : 0;
    return (!asked->has_from || at >= asked->from_ns) && (!asked->has_to || at < asked->to_ns);
}

bool selection_has_call(const struct selected *selected, const struct call *call)
{
    return selection_has_at(selected, call->thread, call->r.stream, call->r.enter) ||
           (call->r.target != call->r.stream && selection_has_at(selected, call->thread, call->r.target, call->r.enter));
}

void selection_end(struct selected *selected)
{
    free(selected->threads.items);
    *selected = (struct selected){0};
}

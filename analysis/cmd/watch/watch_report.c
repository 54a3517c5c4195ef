/* SPDX-License-Identifier: Apache-2.0
 *
 * Who waits for whom, told while it lasts: each call that has not returned for too long, what it can be waiting for by its
 * kind and by what was submitted, and where the other threads are. Called by the loop in watch.c when that has changed.
 * What is pending is knowledge, not observation (model.h), and is said so.
 */
#include "analysis/cmd/watch/watch_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/base/text.h"
#include "analysis/cmd/watch/watch.h"
#include "analysis/findings/finding.h"
#include "analysis/model/model.h"
#include "analysis/report/report.h"
#include "analysis/symbols/symbolizer.h"
#include "analysis/trace/frames.h"
#include "analysis/trace/in_flight.h"
#include "analysis/trace/merge.h"
#include "analysis/views/report_words.h"

enum { FRAMES_SHOWN = 8, FRAME_COLUMNS = 110 };

struct telling {
    const struct watch_view *view;
    struct report *report; /* for names: nothing but its trace is filled */
    struct site_namer *namer;
    struct model model;
};

static void put_thread(const struct telling *telling, uint32_t uid)
{
    const struct thread_def *thread = definitions_thread(&telling->report->trace.defs, uid);
    if (thread == NULL)
        fprintf(stderr, "thread uid %u", uid);
    else if (thread->text != NULL && thread->text[0] != 0)
        fprintf(stderr, "thread %u \"%s\"", thread->tid, thread->text);
    else
        fprintf(stderr, "thread %u", thread->tid);
}

static void put_age(const struct telling *telling, const struct ptds_now *now)
{
    if (telling->view->elsewhere)
        fprintf(stderr, "had not returned when its file was read");
    else if (telling->view->ended)
        fprintf(stderr, "had not returned when the process ended");
    else
        fprintf(stderr, "has not returned for %s", text_ns(watch_age(telling->view, now)).text);
}

static void put_stack(const struct telling *telling, const struct ptds_now *now)
{
    const struct stack_def *stack = now->stack != 0 ? definitions_stack(&telling->report->trace.defs, now->stack) : NULL;
    char frame[512];
    if (stack == NULL && now->caller == 0) {
        fprintf(stderr, "ptds:     (call site not recorded)\n");
        return;
    }
    if (stack == NULL) {
        report_words_frame(telling->report, telling->namer, now->caller, frame, sizeof frame);
        fprintf(stderr, "ptds:     at %s\n", frame);
        return;
    }
    for (uint32_t n = 0, i; (i = frames_nth_shown(stack, n, FRAMES_SHOWN)) < stack->count; n++) {
        report_words_frame(telling->report, telling->namer, stack->pc[i], frame, sizeof frame);
        fprintf(stderr, "ptds:     %s %.*s\n", n == 0 ? "at" : "by", FRAME_COLUMNS, frame);
    }
}

static void put_pending(const struct telling *telling, uint32_t slot)
{
    const struct model_stream *stream = &telling->model.streams.items[slot];
    char text[512];
    report_words_id(telling->report, FINDING_STREAMS, stream->uid, text, sizeof text);
    fprintf(stderr, "ptds:     %s, last work: ", text);
    if (stream->last_object != 0) {
        report_words_id(telling->report, FINDING_KERNELS, stream->last_object, text, sizeof text);
        fprintf(stderr, "kernel %s", text);
    } else {
        fprintf(stderr, "no kernel");
    }
    fprintf(stderr, ", put there by ");
    put_thread(telling, stream->last_thread);
    if (report_words_site(telling->report, telling->namer, stream->last_stack, text, sizeof text))
        fprintf(stderr, " at %s", text);
    fputc('\n', stderr);
}

static const char *scope_words(enum wait_scope scope)
{
    switch (scope) {
    case WAIT_CONTEXT: return "it waits for everything in its context";
    case WAIT_STREAM: return "it waits for its stream and what that waits for";
    case WAIT_EVENT: return "it waits for an event";
    default: return "it is not known to wait for any stream's work: a lock, or the system";
    }
}

static void put_waits(struct telling *telling, const struct in_flight *flight)
{
    struct call call = in_flight_call(flight->thread, &flight->now);
    struct call_view view;
    uint64_t last = telling->report->trace.last_ticks;
    if (last > call.r.enter)
        call.r.enter = call.r.leave = last; /* what is known by now counts */
    if (!model_enter(&telling->model, &call, &view)) {
        fprintf(stderr, "ptds:   what it waits for is unknown: no memory\n");
        return;
    }
    fprintf(stderr, "ptds:   %s; ", scope_words(view.scope));
    if (view.waits.count == 0)
        fprintf(stderr, "nothing there is known to be pending\n");
    else
        fprintf(stderr, "not known to be complete there:\n");
    for (uint32_t i = 0; i < view.waits.count && i < PENDING_KEPT; i++)
        put_pending(telling, view.waits.slot[i]);
    if (view.waits.count > PENDING_KEPT)
        fprintf(stderr, "ptds:     and %u more streams\n", view.waits.count - PENDING_KEPT);
}

static bool is_overdue(const struct watch_view *view, const struct ptds_now *now)
{
    return view->ended || watch_age(view, now) >= view->after_ns;
}

static void put_overdue(struct telling *telling, const struct in_flight *flight)
{
    fprintf(stderr, "ptds: watch: %s%s of ", definitions_api_name(&telling->report->trace.defs, flight->now.api),
            flight->now.twin ? " (per-thread entry)" : "");
    put_thread(telling, flight->thread);
    fputc(' ', stderr);
    put_age(telling, &flight->now);
    fputc('\n', stderr);
    put_stack(telling, &flight->now);
    put_waits(telling, flight);
}

static void put_others(const struct telling *telling)
{
    const struct flights *flights = telling->view->flights;
    unsigned shown = 0;
    char text[512];
    for (size_t i = 0; i < flights->list.count; i++) {
        const struct in_flight *flight = &flights->list.items[i];
        if (is_overdue(telling->view, &flight->now))
            continue;
        fprintf(stderr, "ptds:   meanwhile ");
        put_thread(telling, flight->thread);
        fprintf(stderr, " is in %s%s", definitions_api_name(&telling->report->trace.defs, flight->now.api),
                flight->now.twin ? " (per-thread entry)" : "");
        if (report_words_site(telling->report, telling->namer, flight->now.stack, text, sizeof text))
            fprintf(stderr, " at %s", text);
        fputc('\n', stderr);
        shown++;
    }
    if (shown == 0)
        fprintf(stderr, "ptds:   no other thread is in a call that may block\n");
}

/* Everything that was submitted goes through the model, so that it knows what is pending. */
static bool feed(struct telling *telling)
{
    struct merge merge;
    const struct call *call;
    struct call_view view;
    bool begun = merge_begin(&merge, &telling->report->trace) == 0;
    while (begun && (call = merge_next(&merge)) != NULL)
        if (model_enter(&telling->model, call, &view))
            model_leave(&telling->model, &view);
    merge_end(&merge);
    return begun;
}

static void tell(struct telling *telling)
{
    const struct flights *flights = telling->view->flights;
    if (!feed(telling))
        fprintf(stderr, "ptds: watch: no memory to look at what is pending\n");
    for (size_t i = 0; i < flights->list.count; i++)
        if (is_overdue(telling->view, &flights->list.items[i].now))
            put_overdue(telling, &flights->list.items[i]);
    put_others(telling);
    if (telling->report->trace.header.recycled != 0 || telling->report->trace.lost != 0)
        fprintf(stderr, "ptds:   old detail was dropped: more may be pending than is listed\n");
}

void watch_report(const struct watch_view *view)
{
    char error[TRACE_ERROR_SIZE];
    struct telling telling = {.view = view, .report = calloc(1, sizeof *telling.report), .namer = symbolizer_begin()};
    if (telling.report == NULL || trace_read(&telling.report->trace, view->source, error) != 0) {
        fprintf(stderr, "ptds watch: %s\n", telling.report == NULL ? "no memory" : error);
    } else {
        model_begin(&telling.model, &telling.report->trace);
        tell(&telling);
        model_end(&telling.model);
    }
    fflush(stderr);
    symbolizer_end(telling.namer);
    if (telling.report != NULL)
        trace_close(&telling.report->trace);
    free(telling.report);
}

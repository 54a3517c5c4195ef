/* SPDX-License-Identifier: Apache-2.0
 *
 * Hands the calls of several traces to a timeline each. Called for each call of each trace, one trace after the other, so
 * it must stay cheap.
 */
#include "analysis/views/html/timelines.h"

#include <stdlib.h>

#include "analysis/views/html/timeline.h"

static struct timeline *open_one(struct timelines *timelines, const struct report *report)
{
    struct timeline *made = malloc(sizeof *made);
    if (made == NULL || !TABLE_ADD(&timelines->list)) {
        free(made);
        return NULL;
    }
    timeline_begin(made, timelines->most);
    *TABLE_LAST(&timelines->list) = (struct timeline_of){.report = report, .timeline = made};
    return made;
}

/* The timeline of the trace at hand; NULL: it has none yet. */
static struct timeline *at_hand(const struct timelines *timelines, const struct report *report)
{
    const struct timeline_of *last = timelines->list.count != 0 ? TABLE_LAST(&timelines->list) : NULL;
    return last != NULL && last->report == report ? last->timeline : NULL;
}

static void mark_wait(struct report_watch *watch, const struct report *report, uint32_t thread, uint64_t enter)
{
    struct timeline *timeline = at_hand((struct timelines *)watch, report);
    if (timeline != NULL)
        timeline->watch.default_wait(&timeline->watch, report, thread, enter);
}

static void take(struct report_watch *watch, const struct report *report, const struct call_view *view, uint32_t serial)
{
    struct timelines *timelines = (struct timelines *)watch;
    struct timeline *timeline = at_hand(timelines, report);
    if (timeline == NULL)
        timeline = open_one(timelines, report);
    if (timeline != NULL)
        timeline->watch.call(&timeline->watch, report, view, serial);
}

void timelines_begin(struct timelines *timelines, size_t traces)
{
    enum { LEAST = 64 * TIMELINE_BLOCKS };
    size_t most = TIMELINE_MOST / (traces != 0 ? traces : 1);
    *timelines = (struct timelines){.watch = {.call = take, .default_wait = mark_wait},
                                    .most = most > LEAST ? (uint32_t)most : LEAST};
}

void timelines_decide(struct timelines *timelines)
{
    for (size_t i = 0; i < timelines->list.count; i++)
        timeline_decide(timelines->list.items[i].timeline);
}

const struct timeline *timelines_of(const struct timelines *timelines, const struct report *report)
{
    for (size_t i = 0; i < timelines->list.count; i++)
        if (timelines->list.items[i].report == report)
            return timelines->list.items[i].timeline;
    return NULL;
}

void timelines_end(struct timelines *timelines)
{
    for (size_t i = 0; i < timelines->list.count; i++) {
        timeline_end(timelines->list.items[i].timeline);
        free(timelines->list.items[i].timeline);
    }
    free(timelines->list.items);
    *timelines = (struct timelines){0};
}

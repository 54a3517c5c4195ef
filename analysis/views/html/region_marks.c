/* SPDX-License-Identifier: Apache-2.0
 *
 * The regions that the program marks (ptds.h, NVTX), for the page's lanes. Called by columns.c, for one trace. Memory is
 * bounded: what is beyond MARKS_KEPT, or nested deeper than there are lanes, is counted and not kept.
 */
#include "analysis/views/html/region_marks.h"

#include <stdlib.h>

#include "analysis/base/id_map.h"
#include "analysis/trace/records.h"
#include "analysis/views/html/page_tables.h"

struct finding_marks {
    struct marks *marks;
    uint64_t from, to;
    uint32_t thread;             /* whose open regions `open` has */
    TABLE_OF(struct mark) open;  /* outermost first */
    TABLE_OF(struct mark) range; /* of the process, ended or not */
    struct id_map ranges;        /* where in `range`, by number */
};

static void keep(struct finding_marks *finding, const struct mark *mark)
{
    struct marks *marks = finding->marks;
    if (mark->begin > finding->to || mark->end < finding->from)
        return;
    if (marks->kept.count == MARKS_KEPT || !TABLE_ADD(&marks->kept)) {
        marks->dropped++;
        return;
    }
    struct mark *kept = TABLE_LAST(&marks->kept);
    *kept = *mark;
    if (kept->begin < finding->from)
        kept->flags |= MARK_EARLIER;
    if (kept->end > finding->to)
        kept->flags |= MARK_LATER;
    kept->begin = kept->begin < finding->from ? finding->from : kept->begin;
    kept->end = kept->end > finding->to ? finding->to : kept->end;
}

/* What was begun and is not ended in the trace goes on to the end of what is drawn. */
static void leave_open(struct finding_marks *finding)
{
    for (size_t i = 0; i < finding->open.count; i++) {
        finding->open.items[i].end = finding->to;
        finding->open.items[i].flags |= MARK_OPEN;
        keep(finding, &finding->open.items[i]);
    }
    finding->open.count = 0;
}

static void begin(struct finding_marks *finding, const struct ptds_rec_REGION *record)
{
    struct mark mark = {.begin = record->ticks, .thread = finding->thread, .name = record->name, .domain = record->domain};
    if (TABLE_ADD(&finding->open))
        *TABLE_LAST(&finding->open) = mark;
    else
        finding->marks->dropped++;
}

/* The innermost of the domain; where there is none its beginning is lost. */
static void end(struct finding_marks *finding, const struct ptds_rec_REGION *record)
{
    size_t at = finding->open.count;
    while (at > 0 && finding->open.items[at - 1].domain != record->domain)
        at--;
    if (at == 0)
        return;
    struct mark ended = finding->open.items[at - 1];
    ended.end = record->ticks;
    keep(finding, &ended);
    for (; at < finding->open.count; at++)
        finding->open.items[at - 1] = finding->open.items[at];
    finding->open.count--;
}

/* It may be ended in another thread, and so be read before its beginning is. */
static void range(struct finding_marks *finding, const struct ptds_rec_REGION *record)
{
    uint32_t at;
    if (!id_map_get(&finding->ranges, record->range, &at)) {
        at = (uint32_t)finding->range.count;
        if (!TABLE_ADD(&finding->range) || !id_map_put(&finding->ranges, record->range, at)) {
            finding->marks->dropped++;
            return;
        }
        finding->range.items[at] = (struct mark){.begin = UINT64_MAX, .end = UINT64_MAX};
    }
    struct mark *mark = &finding->range.items[at];
    if (record->name == 0) {
        mark->end = record->ticks;
    } else {
        mark->begin = record->ticks;
        mark->name = record->name;
    }
}

static void take(void *data, uint32_t thread, uint16_t kind, const void *fixed)
{
    struct finding_marks *finding = data;
    const struct ptds_rec_REGION *record = fixed;
    (void)kind;
    if (thread != finding->thread)
        leave_open(finding);
    finding->thread = thread;
    if (record->range != 0)
        range(finding, record);
    else if (record->name != 0)
        begin(finding, record);
    else
        end(finding, record);
}

static void keep_ranges(struct finding_marks *finding)
{
    for (size_t i = 0; i < finding->range.count; i++) {
        struct mark *mark = &finding->range.items[i];
        if (mark->begin == UINT64_MAX)
            continue;
        if (mark->end == UINT64_MAX) {
            mark->end = finding->to;
            mark->flags |= MARK_OPEN;
        }
        keep(finding, mark);
    }
}

/* By thread, then by time, those around others first. */
static int order(const void *a, const void *b)
{
    const struct mark *one = a, *two = b;
    if (one->thread != two->thread)
        return one->thread < two->thread ? -1 : 1;
    if (one->begin != two->begin)
        return one->begin < two->begin ? -1 : 1;
    return one->end > two->end ? -1 : one->end < two->end;
}

/* The first lane of its thread that is free: what is nested lies below what it is nested in, and domains that cross do not
 * cover each other. */
static void put_in_lanes(struct marks *marks)
{
    uint64_t until[MARK_LANES] = {0};
    uint32_t thread = UINT32_MAX;
    size_t count = 0;
    for (size_t i = 0; i < marks->kept.count; i++) {
        struct mark *mark = &marks->kept.items[i];
        unsigned lane = 0;
        for (unsigned j = 0; j < MARK_LANES && mark->thread != thread; j++)
            until[j] = 0;
        thread = mark->thread;
        while (lane < MARK_LANES && until[lane] > mark->begin)
            lane++;
        if (lane == MARK_LANES) {
            marks->dropped++;
            continue;
        }
        until[lane] = mark->end > mark->begin ? mark->end : mark->begin + 1;
        mark->lane = (uint8_t)lane;
        marks->kept.items[count++] = *mark;
    }
    marks->kept.count = count;
}

void region_marks_find(struct marks *marks, const struct report *report, uint64_t from, uint64_t to)
{
    struct finding_marks finding = {.marks = marks, .from = from, .to = to};
    *marks = (struct marks){0};
    records_each(&report->trace, 1u << PTDS_REC_REGION, take, &finding);
    leave_open(&finding);
    keep_ranges(&finding);
    if (marks->kept.count != 0)
        qsort(marks->kept.items, marks->kept.count, sizeof *marks->kept.items, order);
    put_in_lanes(marks);
    free(finding.open.items);
    free(finding.range.items);
    id_map_free(&finding.ranges);
}

void region_marks_free(struct marks *marks)
{
    free(marks->kept.items);
    *marks = (struct marks){0};
}

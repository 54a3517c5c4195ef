/* SPDX-License-Identifier: Apache-2.0
 *
 * Regions (ptds.h, NVTX) as slices. Called by export_perfetto.c, between the calls of a thread, so that calls lie in the
 * regions that they were made in. Must write nothing that does not nest on its track: domains are ended in any order, so
 * each but the default one has a track of its own below the thread's; ranges of the process overlap, and take the first
 * free track. What never ended has no end: Perfetto shows that.
 */
#include "analysis/views/export/perfetto/perfetto_regions.h"

#include <stdlib.h>

#include "analysis/base/id_map.h"
#include "analysis/trace/records.h"
#include "analysis/views/export/perfetto/perfetto_event.h"
#include "analysis/views/export/perfetto/perfetto_writer.h"

static void take(void *data, uint32_t thread, uint16_t kind, const void *fixed)
{
    struct writer *writer = data;
    struct region_slices *regions = &writer->regions;
    const struct ptds_rec_REGION *record = fixed;
    (void)kind;
    bool first = regions->events.count == 0 || TABLE_LAST(&regions->events)->thread != thread;
    if (!TABLE_ADD(&regions->events) || (first && !TABLE_ADD(&regions->threads))) {
        writer->packets.broken = true;
        return;
    }
    *TABLE_LAST(&regions->events) = (struct region_event){
        .ticks = record->ticks, .range = record->range, .thread = thread, .name = record->name, .domain = record->domain};
    struct region_thread *state = TABLE_LAST(&regions->threads);
    if (first) {
        *state = (struct region_thread){.next = regions->events.count - 1};
        writer->packets.broken |= !id_map_put(&regions->by_thread, thread, (uint32_t)regions->threads.count - 1);
    }
    state->end = regions->events.count;
}

void perfetto_regions_begin(struct writer *writer)
{
    records_each(&writer->report->trace, 1u << PTDS_REC_REGION, take, writer);
}

static void describe_domain(struct writer *writer, const struct region_event *event, uint32_t id)
{
    const char *domain = definitions_string(&writer->report->trace.defs, event->domain);
    char name[160];
    snprintf(name, sizeof name, "regions of %.140s", domain != NULL ? domain : "an unnamed domain");
    struct perfetto_packets_track track = {.uuid = perfetto_writer_uuid(writer, TRACK_DOMAIN, id),
                                           .parent = perfetto_writer_track(writer, TRACK_HOST_THREAD, event->thread),
                                           .name = name};
    perfetto_packets_track(&writer->packets, &track);
}

/* A thread's regions of one domain: the position of how many are open. */
static bool line_of(struct writer *writer, const struct region_event *event, uint32_t *line)
{
    struct region_slices *regions = &writer->regions;
    uint64_t key = (uint64_t)event->thread << 32 | event->domain;
    if (id_map_get(&regions->lines, key, line))
        return true;
    *line = (uint32_t)regions->open.count;
    if (!id_map_put(&regions->lines, key, *line) || !TABLE_ADD(&regions->open)) {
        writer->packets.broken = true;
        return false;
    }
    *TABLE_LAST(&regions->open) = 0;
    if (event->domain != 0)
        describe_domain(writer, event, *line);
    return true;
}

static void put_name(struct writer *writer, enum packet_event type, uint64_t track, uint64_t time, uint32_t name)
{
    bool fresh;
    perfetto_event_begin(&writer->packets, type, track, time);
    perfetto_event_category(&writer->packets, "region");
    uint32_t number = perfetto_packets_name(&writer->packets, NAMES_EVENT, key_of(TEXT_REGION, name), &fresh);
    const char *text = definitions_string(&writer->report->trace.defs, name);
    if (fresh)
        perfetto_packets_define(&writer->packets, NAMES_EVENT, number,
                                text != NULL && text[0] != 0 ? text : "(unnamed region)");
    perfetto_event_name(&writer->packets, number);
    perfetto_event_end(&writer->packets);
}

/* One that was begun or ended while its thread was inside a call is put after the call: slices may not cross. */
static void put_region(struct writer *writer, struct region_thread *state, const struct region_event *event)
{
    uint32_t line;
    if (event->range != 0 || !line_of(writer, event, &line))
        return;
    uint64_t track = event->domain == 0 ? perfetto_writer_track(writer, TRACK_HOST_THREAD, event->thread)
                                        : perfetto_writer_uuid(writer, TRACK_DOMAIN, line);
    uint64_t time = perfetto_writer_time(writer, event->ticks);
    state->least = time > state->least ? time : state->least;
    if (event->name != 0) {
        writer->regions.open.items[line]++;
        put_name(writer, EVENT_BEGIN, track, state->least, event->name);
    } else if (writer->regions.open.items[line] != 0) { /* else its beginning is lost */
        writer->regions.open.items[line]--;
        perfetto_writer_end_slice(writer, track, state->least);
    }
}

static struct region_thread *thread_of(struct region_slices *regions, uint32_t thread)
{
    uint32_t at;
    return id_map_get(&regions->by_thread, thread, &at) ? &regions->threads.items[at] : NULL;
}

void perfetto_regions_before_call(struct writer *writer, const struct call *call)
{
    struct region_thread *state = thread_of(&writer->regions, call->thread);
    while (state != NULL && state->next < state->end && writer->regions.events.items[state->next].ticks <= call->r.enter)
        put_region(writer, state, &writer->regions.events.items[state->next++]);
}

void perfetto_regions_after_call(struct writer *writer, const struct call *call, uint64_t time)
{
    struct region_thread *state = thread_of(&writer->regions, call->thread);
    if (state != NULL && time > state->least)
        state->least = time;
}

/* The ranges of the process, by time. */
static int by_time(const void *a, const void *b)
{
    const struct region_event *one = a, *two = b;
    if (one->ticks != two->ticks)
        return one->ticks < two->ticks ? -1 : 1;
    return one->range < two->range ? -1 : one->range > two->range;
}

static size_t only_ranges(struct region_slices *regions)
{
    size_t count = 0;
    for (size_t i = 0; i < regions->events.count; i++)
        if (regions->events.items[i].range != 0)
            regions->events.items[count++] = regions->events.items[i];
    if (count != 0)
        qsort(regions->events.items, count, sizeof *regions->events.items, by_time);
    return count;
}

/* Programs forget to end ranges; beyond so many at a time they are instants. */
enum { RANGE_TRACKS = 256 };

/* The first track on which no range is open; `open` says which are. */
static bool free_track(struct writer *writer, uint32_t *at)
{
    struct region_slices *regions = &writer->regions;
    for (*at = 0; *at < regions->open.count && regions->open.items[*at] != 0;)
        ++*at;
    if (*at < regions->open.count)
        return true;
    if (*at == RANGE_TRACKS)
        return false;
    if (!TABLE_ADD(&regions->open)) {
        writer->packets.broken = true;
        return false;
    }
    struct perfetto_packets_track track = {.uuid = perfetto_writer_uuid(writer, TRACK_RANGE, *at),
                                           .parent = perfetto_writer_uuid(writer, TRACK_SELF, 0),
                                           .name = "ranges"};
    perfetto_packets_track(&writer->packets, &track);
    return true;
}

static void put_ranges(struct writer *writer)
{
    struct region_slices *regions = &writer->regions;
    struct id_map tracks = {0}; /* by range, plus one; 0: ended */
    size_t count = only_ranges(regions);
    regions->open.count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct region_event *event = &regions->events.items[i];
        uint32_t at = 0;
        bool known = id_map_get(&tracks, event->range, &at);
        uint64_t time = perfetto_writer_time(writer, event->ticks);
        if (event->name == 0 && known && at != 0) {
            perfetto_writer_end_slice(writer, perfetto_writer_uuid(writer, TRACK_RANGE, at - 1), time);
            regions->open.items[at - 1] = 0;
            id_map_put(&tracks, event->range, 0);
        } else if (event->name != 0 && !known && free_track(writer, &at)) {
            regions->open.items[at] = 1;
            put_name(writer, EVENT_BEGIN, perfetto_writer_uuid(writer, TRACK_RANGE, at), time, event->name);
            writer->packets.broken |= !id_map_put(&tracks, event->range, at + 1);
        } else if (event->name != 0 && !known && regions->open.count != 0) {
            put_name(writer, EVENT_INSTANT, perfetto_writer_uuid(writer, TRACK_RANGE, 0), time, event->name);
        }
    }
    id_map_free(&tracks);
}

void perfetto_regions_end(struct writer *writer)
{
    struct region_slices *regions = &writer->regions;
    for (size_t i = 0; i < regions->threads.count; i++)
        for (struct region_thread *state = &regions->threads.items[i]; state->next < state->end; state->next++)
            put_region(writer, state, &regions->events.items[state->next]);
    put_ranges(writer);
    free(regions->events.items);
    free(regions->threads.items);
    free(regions->open.items);
    id_map_free(&regions->by_thread);
    id_map_free(&regions->lines);
}

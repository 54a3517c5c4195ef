/* SPDX-License-Identifier: Apache-2.0
 *
 * Tracks and times of the Perfetto export.
 */
#include "analysis/views/export/perfetto/perfetto_writer.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "analysis/base/id_map.h"
#include "analysis/report/many/traced.h"
#include "analysis/symbols/symbolizer.h"
#include "analysis/views/export/export_formats.h"
#include "analysis/views/export/perfetto/perfetto_event.h"
#include "analysis/views/verdict_words.h"

/* Counted up, so that they are short. */
uint64_t perfetto_writer_uuid(struct writer *writer, enum track_kind kind, uint32_t id)
{
    uint32_t number = 0;
    if (!id_map_get(&writer->uuids, key_of(kind, id), &number)) {
        number = ++writer->uuids_used;
        writer->packets.broken |= !id_map_put(&writer->uuids, key_of(kind, id), number);
    }
    return number;
}

static void describe_thread(struct writer *writer, uint32_t uid, struct perfetto_packets_track *track, char *name,
                            size_t room)
{
    const struct thread_def *thread = definitions_thread(&writer->report->trace.defs, uid);
    uint32_t other;
    report_words_thread(writer->report, uid, name, room);
    if (thread == NULL || thread->tid == 0 || !writer->own_pid || id_map_get(&writer->tids, thread->tid, &other))
        return; /* a plain track: the viewer would merge two threads of one number */
    id_map_put(&writer->tids, thread->tid, uid);
    track->is_thread = true;
    track->pid = writer->report->trace.header.pid;
    track->tid = thread->tid;
}

static void describe(struct writer *writer, enum track_kind kind, uint32_t id)
{
    char name[160];
    struct perfetto_packets_track track = {.uuid = perfetto_writer_uuid(writer, kind, id),
                                           .parent = perfetto_writer_uuid(writer, TRACK_SELF, 0),
                                           .name = name};
    if (kind == TRACK_HOST_THREAD) {
        describe_thread(writer, id, &track, name, sizeof name);
    } else if (kind == TRACK_PENDING) {
        snprintf(name, sizeof name, "streams with pending work, context %u", id);
        track.is_counter = true;
    } else {
        char stream[100];
        report_words_id(writer->report, FINDING_STREAMS, id, stream, sizeof stream);
        snprintf(name, sizeof name, "%s%s", kind == TRACK_ASKED ? "" : "sent to ", stream);
        track.parent = perfetto_writer_uuid(writer, kind == TRACK_ASKED ? TRACK_GROUP_ASKED : TRACK_GROUP_SENT, 0);
    }
    perfetto_packets_track(&writer->packets, &track);
}

uint64_t perfetto_writer_track(struct writer *writer, enum track_kind kind, uint32_t id)
{
    uint32_t there;
    if (!id_map_get(&writer->tracks, key_of(kind, id), &there)) {
        writer->packets.broken |= !id_map_put(&writer->tracks, key_of(kind, id), 1);
        describe(writer, kind, id);
    }
    return perfetto_writer_uuid(writer, kind, id);
}

uint64_t perfetto_writer_time(const struct writer *writer, uint64_t ticks)
{
    return traced_time(writer->traced, writer->base, ticks);
}

void perfetto_writer_end_slice(struct writer *writer, uint64_t track, uint64_t time)
{
    perfetto_event_begin(&writer->packets, EVENT_END, track, time);
    perfetto_event_end(&writer->packets);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the Perfetto export share. For export_perfetto.c, perfetto_names.c and perfetto_regions.c.
 */
#ifndef PTDS_ANALYSIS_VIEWS_EXPORT_PERFETTO_PERFETTO_WRITER_H
#define PTDS_ANALYSIS_VIEWS_EXPORT_PERFETTO_PERFETTO_WRITER_H

#include "analysis/base/id_map.h"
#include "analysis/report/many/traced.h"
#include "analysis/trace/device_runs.h"
#include "analysis/views/export/export_job.h"
#include "analysis/views/export/perfetto/perfetto_packets.h"

enum track_kind {
    TRACK_SELF = 1,
    TRACK_HOST_THREAD,
    TRACK_ASKED,
    TRACK_SENT,
    TRACK_PENDING,
    TRACK_GROUP_ASKED,
    TRACK_GROUP_SENT,
    TRACK_NOTES,
    TRACK_DOMAIN, /* a thread's regions of one NVTX domain */
    TRACK_RANGE   /* ranges of the process, no two at a time */
};

/* What a number of NAMES_EVENT or NAMES_VALUE belongs to; the other half of the key is an id of the trace. */
enum text_kind {
    TEXT_API = 1,
    TEXT_KERNEL,
    TEXT_COPY,
    TEXT_OP,
    TEXT_RECORD,
    TEXT_WAIT,
    TEXT_GRAPH,
    TEXT_STREAM,
    TEXT_SITE,
    TEXT_EDGE,
    TEXT_NOTE,
    TEXT_PENDING,
    TEXT_REGION
};

struct region_event {
    uint64_t ticks, range;
    uint32_t thread, name, domain;
};

/* A thread's regions that are not written yet, and the time that the next one may not be before. */
struct region_thread {
    size_t next, end;
    uint64_t least;
};

struct region_slices {
    TABLE_OF(struct region_event) events; /* by thread, and in its order */
    TABLE_OF(struct region_thread) threads;
    TABLE_OF(uint32_t) open; /* slices on a track */
    struct id_map by_thread, lines;
};

struct writer {
    struct packets packets;
    struct export_job *job;
    struct traced *traced;
    const struct report *report;
    uint64_t base;                       /* CLOCK_REALTIME of time 0 */
    uint64_t process;                    /* from 1 */
    bool own_pid;                        /* no other process here has this pid */
    struct id_map uuids;                 /* of tracks, by key_of(kind, id) */
    uint32_t uuids_used;                 /* in the whole file */
    struct id_map tracks, tids, pending; /* described; taken; the counters' last values */
    uint64_t flows;
    struct region_slices regions;
};

static inline uint64_t key_of(unsigned kind, uint32_t id)
{
    return (uint64_t)kind << 32 | id;
}

/* The id of a track, unlike any other of the file. */
uint64_t perfetto_writer_uuid(struct writer *writer, enum track_kind kind, uint32_t id);
/* The same; describes the track when it is first asked for. */
uint64_t perfetto_writer_track(struct writer *writer, enum track_kind kind, uint32_t id);
uint64_t perfetto_writer_time(const struct writer *writer, uint64_t ticks);
void perfetto_writer_end_slice(struct writer *writer, uint64_t track, uint64_t time);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Packets of a Perfetto trace: track descriptors, and track events with names and texts that are written once and numbered.
 * One packet sequence a process. Events may be written in any order of time. What was written is in the file when
 * packets_end returns.
 */
#ifndef PTDS_ANALYSIS_VIEWS_EXPORT_PERFETTO_PACKETS_H
#define PTDS_ANALYSIS_VIEWS_EXPORT_PERFETTO_PACKETS_H

#include <stdio.h>

#include "analysis/views/export/protobuf.h"
#include "analysis/base/table.h"

enum packet_event { EVENT_BEGIN = 1, EVENT_END = 2, EVENT_INSTANT = 3, EVENT_COUNTER = 4 };

/* What is numbered, each from 1. */
enum packet_names { NAMES_CATEGORY, NAMES_EVENT, NAMES_KEY, NAMES_VALUE, NAMES_KINDS };

struct packets {
    FILE *out;
    uint32_t sequence;
    bool begun;  /* the sequence's first packet is written */
    bool broken; /* no memory, or out could not be written */
    struct id_map names[NAMES_KINDS];
    uint32_t counts[NAMES_KINDS];
    struct protobuf packet, event, interned;
    struct protobuf block; /* packets that are not written yet */
    uint64_t time;
};

void packets_begin(struct packets *packets, FILE *out, uint32_t sequence);
void packets_end(struct packets *packets); /* look at `broken` after it */

/* One track; pid, tid 0: not a process's or thread's own; parent 0: none. */
struct packet_track {
    uint64_t uuid, parent;
    const char *name;
    uint32_t pid, tid;
    bool is_process, is_thread, is_counter;
};
void packet_track(struct packets *packets, const struct packet_track *track);

/* The number of a name under a key of the caller's choice; *fresh: it has none yet and packet_define must follow within the
 * same event. */
uint32_t packet_name(struct packets *packets, enum packet_names kind, uint64_t key, bool *fresh);
void packet_define(struct packets *packets, enum packet_names kind, uint32_t number, const char *text);

/* An event: begin, any of the others, end. */
void event_begin(struct packets *packets, enum packet_event type, uint64_t track, uint64_t time);
void event_category(struct packets *packets, const char *name); /* a literal: known by its address */
void event_name(struct packets *packets, uint32_t number);
void event_counter(struct packets *packets, uint64_t value);
void event_flow(struct packets *packets, uint64_t flow, bool last);
void event_number(struct packets *packets, const char *key, uint64_t value);  /* key: a literal */
void event_text(struct packets *packets, const char *key, uint32_t number);   /* a NAMES_VALUE */
void event_words(struct packets *packets, const char *key, const char *text); /* both literals */
void event_end(struct packets *packets);

#endif

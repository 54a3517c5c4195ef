/* SPDX-License-Identifier: Apache-2.0
 *
 * Packets of a Perfetto trace: track descriptors, and track events with names and texts that are written once and numbered.
 * One packet sequence a process. Events may be written in any order of time. What was written is in the file when
 * perfetto_packets_end returns.
 */
#ifndef PTDS_ANALYSIS_VIEWS_EXPORT_PERFETTO_PERFETTO_PACKETS_H
#define PTDS_ANALYSIS_VIEWS_EXPORT_PERFETTO_PERFETTO_PACKETS_H

#include <stdio.h>

#include "analysis/base/id_map.h"
#include "analysis/views/export/perfetto/protobuf.h"
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

void perfetto_packets_begin(struct packets *packets, FILE *out, uint32_t sequence);
void perfetto_packets_end(struct packets *packets); /* look at `broken` after it */

/* One track; pid, tid 0: not a process's or thread's own; parent 0: none. */
struct perfetto_packets_track {
    uint64_t uuid, parent;
    const char *name;
    uint32_t pid, tid;
    bool is_process, is_thread, is_counter;
};
void perfetto_packets_track(struct packets *packets, const struct perfetto_packets_track *track);

/* The number of a name under a key of the caller's choice; *fresh: it has none yet and perfetto_packets_define must follow
 * within the same event. */
uint32_t perfetto_packets_name(struct packets *packets, enum packet_names kind, uint64_t key, bool *fresh);
void perfetto_packets_define(struct packets *packets, enum packet_names kind, uint32_t number, const char *text);

/* The fields of a packet, by the numbers of the protocol. */
enum {
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_COMPRESSED = 50,
    PACKET_TRACK = 60
};

/* Opens the packet at hand: writes the fields that every packet of the sequence has. */
void perfetto_packets_open(struct packets *packets);
/* Ends the packet at hand and empties it; writes a block to the file where one is full. Failures are in `broken`. */
void perfetto_packets_write(struct packets *packets);

#endif

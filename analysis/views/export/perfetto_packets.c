/* SPDX-License-Identifier: Apache-2.0
 *
 * Encodes Perfetto's TracePacket, TrackDescriptor, TrackEvent and InternedData. Called by perfetto.c. The numbers are those
 * of Perfetto's public protocol, which never change there. Packets are written many at a time, compressed.
 */
#include "analysis/views/export/perfetto_packets.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "analysis/base/text.h"

enum { TRACE_PACKET = 1 };
enum {
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_COMPRESSED = 50,
    PACKET_TRACK = 60
};
/* Readers take a block apart in memory. More of a level costs more time than it saves. */
enum { BLOCK_BYTES = 256 << 10, BLOCK_LEVEL = 3 };
enum { FLAG_CLEARED = 1, FLAG_NEEDS_STATE = 2 };
enum {
    EVENT_FIELD_CATEGORY = 3,
    EVENT_FIELD_ANNOTATION = 4,
    EVENT_FIELD_TYPE = 9,
    EVENT_FIELD_NAME = 10,
    EVENT_FIELD_TRACK = 11,
    EVENT_FIELD_COUNTER = 30,
    EVENT_FIELD_FLOW = 47,
    EVENT_FIELD_LAST_FLOW = 48
};
enum { ANNOTATION_NAME = 1, ANNOTATION_UINT = 3, ANNOTATION_STRING_NUMBER = 17 };
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4, TRACK_PARENT = 5, TRACK_COUNTER = 8 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6, THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum { COUNTER_UNIT = 3, UNIT_COUNT = 2, INTERNED_NUMBER = 1, INTERNED_TEXT = 2 };

/* InternedData's field of each kind. */
static const uint32_t interned_fields[NAMES_KINDS] = {1, 2, 3, 29};

void packets_begin(struct packets *packets, FILE *out, uint32_t sequence)
{
    *packets = (struct packets){.out = out, .sequence = sequence};
}

/* The packets so far, as one that holds them. */
static void write_block(struct packets *packets)
{
    struct protobuf outer = {0}, whole = {0};
    uLongf size = compressBound(packets->block.used);
    unsigned char *bytes = packets->block.failed ? NULL : malloc(size);
    if (packets->block.used != 0) {
        packets->broken |=
            bytes == NULL || compress2(bytes, &size, packets->block.bytes, packets->block.used, BLOCK_LEVEL) != Z_OK;
        protobuf_bytes(&outer, PACKET_COMPRESSED, bytes, bytes != NULL ? size : 0);
        protobuf_bytes(&whole, TRACE_PACKET, outer.bytes, outer.used);
        packets->broken |= outer.failed || whole.failed || fwrite(whole.bytes, 1, whole.used, packets->out) != whole.used;
    }
    free(bytes);
    protobuf_free(&outer);
    protobuf_free(&whole);
    protobuf_clear(&packets->block);
}

void packets_end(struct packets *packets)
{
    write_block(packets);
    for (unsigned i = 0; i < NAMES_KINDS; i++)
        id_map_free(&packets->names[i]);
    protobuf_free(&packets->packet);
    protobuf_free(&packets->block);
    protobuf_free(&packets->event);
    protobuf_free(&packets->interned);
}

static void clean_text(struct protobuf *to, uint32_t field, const char *text)
{
    char clean[1024];
    text_clean(clean, sizeof clean, text, strlen(text));
    protobuf_text(to, field, clean);
}

/* As an element of the trace, which is itself a message. */
static void write_packet(struct packets *packets)
{
    protobuf_bytes(&packets->block, TRACE_PACKET, packets->packet.bytes, packets->packet.used);
    packets->broken |= packets->block.failed || packets->packet.failed;
    protobuf_clear(&packets->packet);
    if (packets->block.used >= BLOCK_BYTES)
        write_block(packets);
}

static void begin_packet(struct packets *packets)
{
    protobuf_uint(&packets->packet, PACKET_SEQUENCE, packets->sequence);
    protobuf_uint(&packets->packet, PACKET_FLAGS, packets->begun ? FLAG_NEEDS_STATE : FLAG_CLEARED);
    packets->begun = true;
}

void packet_track(struct packets *packets, const struct packet_track *track)
{
    struct protobuf *packet = &packets->packet;
    begin_packet(packets);
    size_t body = protobuf_begin(packet, PACKET_TRACK);
    protobuf_uint(packet, TRACK_UUID, track->uuid);
    if (track->parent != 0)
        protobuf_uint(packet, TRACK_PARENT, track->parent);
    if (!track->is_process && !track->is_thread)
        clean_text(packet, TRACK_NAME, track->name);
    if (track->is_process || track->is_thread) {
        size_t inner = protobuf_begin(packet, track->is_process ? TRACK_PROCESS : TRACK_THREAD);
        protobuf_uint(packet, track->is_process ? PROCESS_PID : THREAD_PID, track->pid);
        if (track->is_thread)
            protobuf_uint(packet, THREAD_TID, track->tid);
        clean_text(packet, track->is_process ? PROCESS_NAME : THREAD_NAME, track->name);
        protobuf_end(packet, inner);
    }
    if (track->is_counter) {
        size_t inner = protobuf_begin(packet, TRACK_COUNTER);
        protobuf_uint(packet, COUNTER_UNIT, UNIT_COUNT);
        protobuf_end(packet, inner);
    }
    protobuf_end(packet, body);
    write_packet(packets);
}

uint32_t packet_name(struct packets *packets, enum packet_names kind, uint64_t key, bool *fresh)
{
    uint32_t number = 0;
    *fresh = !id_map_get(&packets->names[kind], key, &number);
    if (*fresh) {
        number = ++packets->counts[kind];
        packets->broken |= !id_map_put(&packets->names[kind], key, number);
    }
    return number;
}

void packet_define(struct packets *packets, enum packet_names kind, uint32_t number, const char *text)
{
    size_t body = protobuf_begin(&packets->interned, interned_fields[kind]);
    protobuf_uint(&packets->interned, INTERNED_NUMBER, number);
    clean_text(&packets->interned, INTERNED_TEXT, text);
    protobuf_end(&packets->interned, body);
}

static uint32_t literal(struct packets *packets, enum packet_names kind, const char *text)
{
    bool fresh;
    uint32_t number = packet_name(packets, kind, (uintptr_t)text, &fresh);
    if (fresh)
        packet_define(packets, kind, number, text);
    return number;
}

void event_begin(struct packets *packets, enum packet_event type, uint64_t track, uint64_t time)
{
    packets->time = time;
    protobuf_clear(&packets->event);
    protobuf_clear(&packets->interned);
    protobuf_uint(&packets->event, EVENT_FIELD_TYPE, type);
    protobuf_uint(&packets->event, EVENT_FIELD_TRACK, track);
}

void event_category(struct packets *packets, const char *name)
{
    protobuf_uint(&packets->event, EVENT_FIELD_CATEGORY, literal(packets, NAMES_CATEGORY, name));
}

void event_name(struct packets *packets, uint32_t number)
{
    protobuf_uint(&packets->event, EVENT_FIELD_NAME, number);
}

void event_counter(struct packets *packets, uint64_t value)
{
    protobuf_uint(&packets->event, EVENT_FIELD_COUNTER, value);
}

void event_flow(struct packets *packets, uint64_t flow, bool last)
{
    protobuf_fixed64(&packets->event, last ? EVENT_FIELD_LAST_FLOW : EVENT_FIELD_FLOW, flow);
}

static size_t begin_annotation(struct packets *packets, const char *key)
{
    uint32_t number = literal(packets, NAMES_KEY, key);
    size_t body = protobuf_begin(&packets->event, EVENT_FIELD_ANNOTATION);
    protobuf_uint(&packets->event, ANNOTATION_NAME, number);
    return body;
}

void event_number(struct packets *packets, const char *key, uint64_t value)
{
    size_t body = begin_annotation(packets, key);
    protobuf_uint(&packets->event, ANNOTATION_UINT, value);
    protobuf_end(&packets->event, body);
}

void event_text(struct packets *packets, const char *key, uint32_t number)
{
    size_t body = begin_annotation(packets, key);
    protobuf_uint(&packets->event, ANNOTATION_STRING_NUMBER, number);
    protobuf_end(&packets->event, body);
}

void event_words(struct packets *packets, const char *key, const char *text)
{
    event_text(packets, key, literal(packets, NAMES_VALUE, text));
}

void event_end(struct packets *packets)
{
    begin_packet(packets);
    protobuf_uint(&packets->packet, PACKET_TIMESTAMP, packets->time);
    packets->packet.failed |= packets->interned.failed || packets->event.failed;
    if (packets->interned.used != 0)
        protobuf_bytes(&packets->packet, PACKET_INTERNED, packets->interned.bytes, packets->interned.used);
    protobuf_bytes(&packets->packet, PACKET_EVENT, packets->event.bytes, packets->event.used);
    write_packet(packets);
}

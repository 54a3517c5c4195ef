/* SPDX-License-Identifier: Apache-2.0
 *
 * Encodes Perfetto's TracePacket, TrackDescriptor, TrackEvent and InternedData. Called by export_perfetto.c. The numbers
 * are those of Perfetto's public protocol, which never change there. Packets are written many at a time, compressed.
 */
#include "analysis/views/export/perfetto/perfetto_packets.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "analysis/base/id_map.h"
#include "analysis/base/text.h"

enum { TRACE_PACKET = 1 };
/* Readers take a block apart in memory. More of a level costs more time than it saves. */
enum { BLOCK_BYTES = 256 << 10, BLOCK_LEVEL = 3 };
enum { FLAG_CLEARED = 1, FLAG_NEEDS_STATE = 2 };
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4, TRACK_PARENT = 5, TRACK_COUNTER = 8 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6, THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum { COUNTER_UNIT = 3, UNIT_COUNT = 2, INTERNED_NUMBER = 1, INTERNED_TEXT = 2 };

/* InternedData's field of each kind. */
static const uint32_t interned_fields[NAMES_KINDS] = {1, 2, 3, 29};

void perfetto_packets_begin(struct packets *packets, FILE *out, uint32_t sequence)
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

void perfetto_packets_end(struct packets *packets)
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

void perfetto_packets_write(struct packets *packets)
{
    protobuf_bytes(&packets->block, TRACE_PACKET, packets->packet.bytes, packets->packet.used);
    packets->broken |= packets->block.failed || packets->packet.failed;
    protobuf_clear(&packets->packet);
    if (packets->block.used >= BLOCK_BYTES)
        write_block(packets);
}

void perfetto_packets_open(struct packets *packets)
{
    protobuf_uint(&packets->packet, PACKET_SEQUENCE, packets->sequence);
    protobuf_uint(&packets->packet, PACKET_FLAGS, packets->begun ? FLAG_NEEDS_STATE : FLAG_CLEARED);
    packets->begun = true;
}

void perfetto_packets_track(struct packets *packets, const struct perfetto_packets_track *track)
{
    struct protobuf *packet = &packets->packet;
    perfetto_packets_open(packets);
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
    perfetto_packets_write(packets);
}

uint32_t perfetto_packets_name(struct packets *packets, enum packet_names kind, uint64_t key, bool *fresh)
{
    uint32_t number = 0;
    *fresh = !id_map_get(&packets->names[kind], key, &number);
    if (*fresh) {
        number = ++packets->counts[kind];
        packets->broken |= !id_map_put(&packets->names[kind], key, number);
    }
    return number;
}

void perfetto_packets_define(struct packets *packets, enum packet_names kind, uint32_t number, const char *text)
{
    size_t body = protobuf_begin(&packets->interned, interned_fields[kind]);
    protobuf_uint(&packets->interned, INTERNED_NUMBER, number);
    clean_text(&packets->interned, INTERNED_TEXT, text);
    protobuf_end(&packets->interned, body);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Track events of a Perfetto trace. Called by the writer of the Perfetto export.
 */

#include "analysis/views/export/perfetto/perfetto_event.h"

#include "analysis/views/export/perfetto/perfetto_packets.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "analysis/base/id_map.h"
#include "analysis/base/text.h"

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

static uint32_t literal(struct packets *packets, enum packet_names kind, const char *text)
{
    bool fresh;
    uint32_t number = perfetto_packets_name(packets, kind, (uintptr_t)text, &fresh);
    if (fresh)
        perfetto_packets_define(packets, kind, number, text);
    return number;
}

void perfetto_event_begin(struct packets *packets, enum packet_event type, uint64_t track, uint64_t time)
{
    packets->time = time;
    protobuf_clear(&packets->event);
    protobuf_clear(&packets->interned);
    protobuf_uint(&packets->event, EVENT_FIELD_TYPE, type);
    protobuf_uint(&packets->event, EVENT_FIELD_TRACK, track);
}

void perfetto_event_category(struct packets *packets, const char *name)
{
    protobuf_uint(&packets->event, EVENT_FIELD_CATEGORY, literal(packets, NAMES_CATEGORY, name));
}

void perfetto_event_name(struct packets *packets, uint32_t number)
{
    protobuf_uint(&packets->event, EVENT_FIELD_NAME, number);
}

void perfetto_event_counter(struct packets *packets, uint64_t value)
{
    protobuf_uint(&packets->event, EVENT_FIELD_COUNTER, value);
}

void perfetto_event_flow(struct packets *packets, uint64_t flow, bool last)
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

void perfetto_event_number(struct packets *packets, const char *key, uint64_t value)
{
    size_t body = begin_annotation(packets, key);
    protobuf_uint(&packets->event, ANNOTATION_UINT, value);
    protobuf_end(&packets->event, body);
}

void perfetto_event_text(struct packets *packets, const char *key, uint32_t number)
{
    size_t body = begin_annotation(packets, key);
    protobuf_uint(&packets->event, ANNOTATION_STRING_NUMBER, number);
    protobuf_end(&packets->event, body);
}

void perfetto_event_words(struct packets *packets, const char *key, const char *text)
{
    perfetto_event_text(packets, key, literal(packets, NAMES_VALUE, text));
}

void perfetto_event_end(struct packets *packets)
{
    perfetto_packets_open(packets);
    protobuf_uint(&packets->packet, PACKET_TIMESTAMP, packets->time);
    packets->packet.failed |= packets->interned.failed || packets->event.failed;
    if (packets->interned.used != 0)
        protobuf_bytes(&packets->packet, PACKET_INTERNED, packets->interned.bytes, packets->interned.used);
    protobuf_bytes(&packets->packet, PACKET_EVENT, packets->event.bytes, packets->event.used);
    perfetto_packets_write(packets);
}

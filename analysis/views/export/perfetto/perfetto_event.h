/* SPDX-License-Identifier: Apache-2.0
 *
 * Track events of a Perfetto trace: begin, any of the others, end.
 */
#ifndef PTDS_ANALYSIS_VIEWS_EXPORT_PERFETTO_PERFETTO_EVENT_H
#define PTDS_ANALYSIS_VIEWS_EXPORT_PERFETTO_PERFETTO_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/views/export/perfetto/perfetto_packets.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An event: begin, any of the others, end. */
void perfetto_event_begin(struct packets *packets, enum packet_event type, uint64_t track, uint64_t time);

void perfetto_event_category(struct packets *packets, const char *name); /* a literal: known by its address */

void perfetto_event_name(struct packets *packets, uint32_t number);

void perfetto_event_counter(struct packets *packets, uint64_t value);

void perfetto_event_flow(struct packets *packets, uint64_t flow, bool last);

void perfetto_event_number(struct packets *packets, const char *key, uint64_t value); /* key: a literal */

void perfetto_event_text(struct packets *packets, const char *key, uint32_t number); /* a NAMES_VALUE */

void perfetto_event_words(struct packets *packets, const char *key, const char *text); /* both literals */

void perfetto_event_end(struct packets *packets);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the protobuf wire format: varints, fixed 64-bit numbers, texts and nested messages, into one growing buffer.
 */
#ifndef PTDS_ANALYSIS_VIEWS_EXPORT_PERFETTO_PROTOBUF_H
#define PTDS_ANALYSIS_VIEWS_EXPORT_PERFETTO_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct protobuf {
    unsigned char *bytes;
    size_t used, room;
    bool failed; /* no memory; what is in the buffer is worth nothing */
};

void protobuf_uint(struct protobuf *to, uint32_t field, uint64_t value);
void protobuf_fixed64(struct protobuf *to, uint32_t field, uint64_t value);
void protobuf_bytes(struct protobuf *to, uint32_t field, const void *bytes, size_t size);
void protobuf_text(struct protobuf *to, uint32_t field, const char *text);

/* Begins a nested message in this field: everything written until protobuf_end belongs to it. Returns the number that
 * protobuf_end takes. */
size_t protobuf_begin(struct protobuf *to, uint32_t field);
void protobuf_end(struct protobuf *to, size_t begun);

void protobuf_clear(struct protobuf *to); /* keeps the memory */
void protobuf_free(struct protobuf *to);

#ifdef __cplusplus
}
#endif
#endif

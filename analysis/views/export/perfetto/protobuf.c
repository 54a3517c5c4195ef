/* SPDX-License-Identifier: Apache-2.0
 *
 * The protobuf wire format. Called by export_perfetto.c. Knows nothing of any schema.
 */
#include "analysis/views/export/perfetto/protobuf.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/table.h"

enum { VARINT = 0, FIXED64 = 1, LENGTH = 2, VARINT_MOST = 10 };

/* Room for `size` more bytes behind what is used; NULL without memory. */
static inline unsigned char *room_for(struct protobuf *to, size_t size)
{
    if (to->bytes == NULL || to->room - to->used < size) {
        unsigned char *bytes = to->failed ? NULL : table_grow(to->bytes, &to->room, to->used + size, 1);
        to->failed |= bytes == NULL;
        if (to->failed)
            return NULL;
        to->bytes = bytes;
    }
    return to->bytes + to->used;
}

static inline size_t encode(uint64_t value, unsigned char *bytes)
{
    size_t size = 0;
    for (; value >= 128; value >>= 7)
        bytes[size++] = (unsigned char)(value | 128);
    bytes[size++] = (unsigned char)value;
    return size;
}

static inline size_t encode_key(uint32_t field, unsigned type, unsigned char *bytes)
{
    return encode((uint64_t)field << 3 | type, bytes);
}

void protobuf_uint(struct protobuf *to, uint32_t field, uint64_t value)
{
    unsigned char *at = room_for(to, 2 * VARINT_MOST);
    if (at == NULL)
        return;
    size_t size = encode_key(field, VARINT, at);
    to->used += size + encode(value, at + size);
}

void protobuf_fixed64(struct protobuf *to, uint32_t field, uint64_t value)
{
    unsigned char *at = room_for(to, VARINT_MOST + 8);
    if (at == NULL)
        return;
    size_t size = encode_key(field, FIXED64, at);
    for (unsigned i = 0; i < 8; i++)
        at[size + i] = (unsigned char)(value >> 8 * i);
    to->used += size + 8;
}

void protobuf_bytes(struct protobuf *to, uint32_t field, const void *bytes, size_t size)
{
    unsigned char *at = room_for(to, 2 * VARINT_MOST + size);
    if (at == NULL)
        return;
    size_t head = encode_key(field, LENGTH, at);
    head += encode(size, at + head);
    if (size != 0)
        memcpy(at + head, bytes, size);
    to->used += head + size;
}

void protobuf_text(struct protobuf *to, uint32_t field, const char *text)
{
    protobuf_bytes(to, field, text, strlen(text));
}

/* Room for a length of one byte, which nearly all have. */
size_t protobuf_begin(struct protobuf *to, uint32_t field)
{
    unsigned char *at = room_for(to, VARINT_MOST + 1);
    if (at != NULL)
        to->used += encode_key(field, LENGTH, at) + 1;
    return to->used;
}

void protobuf_end(struct protobuf *to, size_t begun)
{
    unsigned char length[VARINT_MOST];
    size_t size = to->used - begun, bytes = encode(size, length);
    if (to->failed || room_for(to, bytes) == NULL)
        return;
    if (bytes > 1)
        memmove(to->bytes + begun - 1 + bytes, to->bytes + begun, size);
    memcpy(to->bytes + begun - 1, length, bytes);
    to->used += bytes - 1;
}

void protobuf_clear(struct protobuf *to)
{
    to->used = 0;
}

void protobuf_free(struct protobuf *to)
{
    free(to->bytes);
    *to = (struct protobuf){0};
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * The protobuf wire format. Called by perfetto.c. Knows nothing of any schema.
 */
#include "analysis/views/export/protobuf.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/table.h"

enum { VARINT = 0, FIXED64 = 1, LENGTH = 2, VARINT_MOST = 10 };

static unsigned char *reserve(struct protobuf *to, size_t size)
{
    unsigned char *bytes = to->failed ? NULL : table_grow(to->bytes, &to->room, to->used + size, 1);
    if (bytes == NULL) {
        to->failed = true;
        return NULL;
    }
    to->bytes = bytes;
    to->used += size;
    return bytes + to->used - size;
}

static size_t encode(uint64_t value, unsigned char *bytes)
{
    size_t size = 0;
    for (; value >= 128; value >>= 7)
        bytes[size++] = (unsigned char)(value | 128);
    bytes[size++] = (unsigned char)value;
    return size;
}

static void varint(struct protobuf *to, uint64_t value)
{
    unsigned char bytes[VARINT_MOST];
    size_t size = encode(value, bytes);
    unsigned char *at = reserve(to, size);
    if (at != NULL)
        memcpy(at, bytes, size);
}

static void key(struct protobuf *to, uint32_t field, unsigned type)
{
    varint(to, (uint64_t)field << 3 | type);
}

void protobuf_uint(struct protobuf *to, uint32_t field, uint64_t value)
{
    key(to, field, VARINT);
    varint(to, value);
}

void protobuf_fixed64(struct protobuf *to, uint32_t field, uint64_t value)
{
    key(to, field, FIXED64);
    unsigned char *at = reserve(to, 8);
    for (unsigned i = 0; at != NULL && i < 8; i++)
        at[i] = (unsigned char)(value >> 8 * i);
}

void protobuf_bytes(struct protobuf *to, uint32_t field, const void *bytes, size_t size)
{
    key(to, field, LENGTH);
    varint(to, size);
    unsigned char *at = size != 0 ? reserve(to, size) : NULL;
    if (at != NULL)
        memcpy(at, bytes, size);
}

void protobuf_text(struct protobuf *to, uint32_t field, const char *text)
{
    protobuf_bytes(to, field, text, strlen(text));
}

/* Room for a length of one byte, which nearly all have. */
size_t protobuf_begin(struct protobuf *to, uint32_t field)
{
    key(to, field, LENGTH);
    reserve(to, 1);
    return to->used;
}

void protobuf_end(struct protobuf *to, size_t begun)
{
    unsigned char length[VARINT_MOST];
    size_t size = to->used - begun, bytes = encode(size, length);
    if (bytes > 1)
        reserve(to, bytes - 1);
    if (to->failed)
        return;
    if (bytes > 1)
        memmove(to->bytes + begun - 1 + bytes, to->bytes + begun, size);
    memcpy(to->bytes + begun - 1, length, bytes);
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

/* SPDX-License-Identifier: Apache-2.0
 *
 * LZ4 blocks. Called for compressed images, once a module. Never writes outside `to` and never reads outside `packed`.
 */
#include "interpose/code/unpack.h"

#include <string.h>

/* A length of 15 goes on in the bytes that follow, until one that is not 255. 0: it does not end. */
static int read_length(size_t *length, const uint8_t **at, const uint8_t *end)
{
    uint8_t more = 255;
    if (*length != 15)
        return 1;
    while (more == 255) {
        if (*at == end)
            return 0;
        more = *(*at)++;
        *length += more;
    }
    return 1;
}

int unpack_lz4(uint8_t *to, size_t size, const uint8_t *packed, size_t packed_size)
{
    const uint8_t *at = packed, *end = packed + packed_size;
    size_t made = 0;
    while (at < end) {
        uint8_t token = *at++;
        size_t literals = token >> 4, match = token & 15;
        if (!read_length(&literals, &at, end) || literals > (size_t)(end - at) || literals > size - made)
            return 0;
        memcpy(to + made, at, literals);
        made += literals;
        at += literals;
        if (at == end)
            return made == size;
        if (end - at < 2)
            return 0;
        size_t distance = (size_t)(at[0] | at[1] << 8);
        at += 2;
        if (!read_length(&match, &at, end))
            return 0;
        match += 4;
        if (!distance || distance > made || match > size - made)
            return 0;
        for (size_t i = 0; i < match; i++, made++)
            to[made] = to[made - distance];
    }
    return 0;
}

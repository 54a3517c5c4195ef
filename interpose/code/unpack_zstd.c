/* SPDX-License-Identifier: Apache-2.0
 *
 * Zstandard (RFC 8878) without dictionaries, into a buffer that holds all of it. Called for compressed images, once a
 * module. Never writes outside `to`, never reads outside `packed`. Checksums are not looked at.
 */
#include "interpose/code/unpack.h"

#include <string.h>

#include "interpose/base/memory.h"
#include "interpose/code/entropy.h"

enum { BLOCK_MOST = 128 << 10, FRAME_MAGIC = (int)0xfd2fb528 };
enum { LITERAL_LENGTH, OFFSET, MATCH_LENGTH };

struct decoder {
    uint8_t *to;
    size_t size, made;
    struct huffman huffman;
    struct fse fse[3];
    uint8_t has[3]; /* that table was made */
    uint32_t offset[3];
    size_t literal_count;
    uint8_t literals[BLOCK_MOST];
};

/* What is left to read. */
struct input {
    const uint8_t *at;
    size_t left;
};

static const uint8_t *take(struct input *in, size_t size)
{
    const uint8_t *taken = in->at;
    if (size > in->left)
        return NULL;
    in->at += size;
    in->left -= size;
    return taken;
}

static uint64_t number(const uint8_t *bytes, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

/* Four streams behind their sizes, or one. */
static int huffman_literals(struct decoder *d, struct input in, int streams)
{
    if (streams == 1)
        return huffman_decode(&d->huffman, d->literals, d->literal_count, in.at, in.left);
    const uint8_t *sizes = take(&in, 6);
    size_t each = (d->literal_count + 3) / 4;
    if (!sizes || each * 3 > d->literal_count)
        return 0;
    for (size_t i = 0; i < 4; i++) {
        size_t packed = i < 3 ? number(sizes + 2 * i, 2) : in.left;
        const uint8_t *bytes = take(&in, packed);
        if (!bytes ||
            !huffman_decode(&d->huffman, d->literals + i * each, i < 3 ? each : d->literal_count - 3 * each, bytes, packed))
            return 0;
    }
    return 1;
}

static int packed_literals(struct decoder *d, struct input *in, int type, int format)
{
    static const uint8_t header_sizes[] = {3, 3, 4, 5}, widths[] = {10, 10, 14, 18};
    const uint8_t *header = take(in, header_sizes[format]);
    if (!header)
        return 0;
    uint64_t value = number(header, header_sizes[format]) >> 4;
    d->literal_count = value & ((1u << widths[format]) - 1);
    struct input packed = {NULL, value >> widths[format]};
    packed.at = take(in, packed.left);
    if (!packed.at || d->literal_count > BLOCK_MOST)
        return 0;
    if (type == 2) {
        size_t described = huffman_read(&d->huffman, packed.at, packed.left);
        if (!described || !take(&packed, described))
            return 0;
    }
    return huffman_literals(d, packed, format ? 4 : 1);
}

/* Types 0 to 3: as they are, one byte repeated, packed with a new code, packed with the last one. */
static int read_literals(struct decoder *d, struct input *in)
{
    static const uint8_t header_sizes[] = {1, 2, 1, 3}, shifts[] = {3, 4, 3, 4};
    if (!in->left)
        return 0;
    int type = in->at[0] & 3, format = in->at[0] >> 2 & 3;
    if (type >= 2)
        return packed_literals(d, in, type, format);
    const uint8_t *header = take(in, header_sizes[format]);
    if (!header)
        return 0;
    d->literal_count = number(header, header_sizes[format]) >> shifts[format];
    const uint8_t *bytes = take(in, type ? 1 : d->literal_count);
    if (!bytes || d->literal_count > BLOCK_MOST)
        return 0;
    if (type)
        memset(d->literals, *bytes, d->literal_count);
    else
        memcpy(d->literals, bytes, d->literal_count);
    return 1;
}

/* The three tables that there are without any having been sent. */
static const int16_t usual_literal_lengths[] = {4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1,  1,  2,  2,
                                                2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1};
static const int16_t usual_offsets[] = {1, 1, 1, 1, 1, 1, 2, 2, 2, 1,  1,  1,  1,  1, 1,
                                        1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1};
static const int16_t usual_match_lengths[] = {1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1,  1,  1,  1,  1,  1,  1, 1,
                                              1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1,  1,  1,  1,  1,  1, 1,
                                              1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1};
static const struct {
    const int16_t *counts;
    uint8_t symbols, log, largest_log, largest_symbol;
} codes[] = {{usual_literal_lengths, 36, 6, 9, 35}, {usual_offsets, 29, 5, 8, 31}, {usual_match_lengths, 53, 6, 9, 52}};

/* Modes: the usual table, one symbol, a new one, the last one. */
static int read_table(struct decoder *d, struct input *in, int which, int mode)
{
    const uint8_t *symbol;
    size_t described;
    if (mode == 3)
        return d->has[which];
    d->has[which] = 1;
    switch (mode) {
    case 0: return fse_make(&d->fse[which], codes[which].counts, codes[which].symbols, codes[which].log);
    case 1:
        symbol = take(in, 1);
        if (!symbol || *symbol > codes[which].largest_symbol)
            return 0;
        fse_make_constant(&d->fse[which], *symbol);
        return 1;
    default:
        described = fse_read(&d->fse[which], in->at, in->left, codes[which].largest_log, codes[which].largest_symbol);
        return described && take(in, described);
    }
}

/* Codes of lengths: where the values of a code begin, and how many bits more there are. */
static uint32_t read_literal_length(struct bits *bits, unsigned code)
{
    static const uint32_t base[] = {16, 18, 20, 22, 24, 28, 32, 40, 48, 64};
    static const uint8_t more[] = {1, 1, 1, 1, 2, 2, 3, 3, 4, 6};
    if (code < 16)
        return code;
    if (code < 26)
        return base[code - 16] + (uint32_t)bits_read(bits, more[code - 16]);
    return (1u << (code - 19)) + (uint32_t)bits_read(bits, code - 19);
}

static uint32_t read_match_length(struct bits *bits, unsigned code)
{
    static const uint32_t base[] = {35, 37, 39, 41, 43, 47, 51, 59, 67, 83, 99};
    static const uint8_t more[] = {1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5};
    if (code < 32)
        return code + 3;
    if (code < 43)
        return base[code - 32] + (uint32_t)bits_read(bits, more[code - 32]);
    return (1u << (code - 36)) + 3 + (uint32_t)bits_read(bits, code - 36);
}

/* The small values mean one of the last three offsets, another one where no literals come before. */
static uint32_t real_offset(struct decoder *d, uint64_t value, uint32_t literals)
{
    uint32_t *last = d->offset, found;
    if (value > 3) {
        found = (uint32_t)(value - 3);
        last[2] = last[1];
    } else {
        unsigned which = (unsigned)value - 1 + (literals == 0);
        if (which == 0)
            return last[0];
        found = which < 3 ? last[which] : last[0] - 1;
        if (which > 1)
            last[2] = last[1];
    }
    last[1] = last[0];
    last[0] = found;
    return found;
}

static int put_literals(struct decoder *d, size_t *used, size_t count)
{
    if (count > d->literal_count - *used || count > d->size - d->made)
        return 0;
    memcpy(d->to + d->made, d->literals + *used, count);
    d->made += count;
    *used += count;
    return 1;
}

static int put_match(struct decoder *d, uint32_t offset, uint32_t length)
{
    if (!offset || offset > d->made || length > d->size - d->made)
        return 0;
    for (uint8_t *to = d->to + d->made, *end = to + length; to < end; to++)
        *to = to[-(ptrdiff_t)offset];
    d->made += length;
    return 1;
}

static unsigned next_state(const struct fse *fse, unsigned state, struct bits *bits)
{
    return fse->state[state].base + (unsigned)bits_read(bits, fse->state[state].bits);
}

static int run_sequences(struct decoder *d, struct input in, unsigned count, size_t *used)
{
    struct bits bits;
    unsigned state[3];
    if (!bits_begin(&bits, in.at, in.left))
        return 0;
    for (int i = 0; i < 3; i++)
        state[i] = (unsigned)bits_read(&bits, d->fse[i].log);
    while (count--) {
        unsigned code = d->fse[OFFSET].state[state[OFFSET]].symbol;
        uint64_t value = (UINT64_C(1) << code) + bits_read(&bits, code);
        uint32_t match = read_match_length(&bits, d->fse[MATCH_LENGTH].state[state[MATCH_LENGTH]].symbol);
        uint32_t literals = read_literal_length(&bits, d->fse[LITERAL_LENGTH].state[state[LITERAL_LENGTH]].symbol);
        if (bits.position < 0 || !put_literals(d, used, literals) || !put_match(d, real_offset(d, value, literals), match))
            return 0;
        if (count) {
            state[LITERAL_LENGTH] = next_state(&d->fse[LITERAL_LENGTH], state[LITERAL_LENGTH], &bits);
            state[MATCH_LENGTH] = next_state(&d->fse[MATCH_LENGTH], state[MATCH_LENGTH], &bits);
            state[OFFSET] = next_state(&d->fse[OFFSET], state[OFFSET], &bits);
        }
    }
    return bits.position == 0;
}

static int read_sequence_count(struct input *in, unsigned *count)
{
    const uint8_t *first = take(in, 1), *more;
    if (!first)
        return 0;
    *count = *first;
    if (*first < 128)
        return 1;
    more = take(in, *first < 255 ? 1 : 2);
    if (more)
        *count = *first < 255 ? (*first - 128u) << 8 | *more : (unsigned)number(more, 2) + 0x7f00;
    return more != NULL;
}

static int unpack_block(struct decoder *d, struct input in)
{
    unsigned count = 0;
    size_t used = 0;
    if (!read_literals(d, &in) || !read_sequence_count(&in, &count))
        return 0;
    if (count) {
        const uint8_t *modes = take(&in, 1);
        if (!modes || (*modes & 3))
            return 0;
        for (int i = 0; i < 3; i++)
            if (!read_table(d, &in, i, *modes >> (6 - 2 * i) & 3))
                return 0;
        if (!run_sequences(d, in, count, &used))
            return 0;
    }
    return put_literals(d, &used, d->literal_count - used);
}

/* Types: bytes as they are, one repeated, packed. */
static int read_block(struct decoder *d, struct input *in, int *last)
{
    const uint8_t *header = take(in, 3), *bytes;
    if (!header)
        return 0;
    uint64_t value = number(header, 3), size = value >> 3;
    unsigned type = value >> 1 & 3;
    *last = value & 1;
    bytes = take(in, type == 1 ? 1 : size);
    if (!bytes || type == 3)
        return 0;
    if (type == 2)
        return size <= BLOCK_MOST && unpack_block(d, (struct input){bytes, size});
    if (size > d->size - d->made)
        return 0;
    if (type == 1)
        memset(d->to + d->made, *bytes, size);
    else
        memcpy(d->to + d->made, bytes, size);
    d->made += size;
    return 1;
}

/* The sizes in a frame's header are the caller's to know. */
static int skip_header(struct input *in, int *checksum)
{
    static const uint8_t dictionary_sizes[] = {0, 1, 2, 4}, content_sizes[] = {0, 2, 4, 8};
    const uint8_t *magic = take(in, 4), *about = take(in, 1);
    if (!magic || !about || number(magic, 4) != (uint32_t)FRAME_MAGIC || (*about & 8))
        return 0;
    int single = *about >> 5 & 1, content = *about >> 6;
    *checksum = *about >> 2 & 1;
    const uint8_t *rest = take(in, !single + dictionary_sizes[*about & 3] + (content ? content_sizes[content] : single));
    return rest && !(*about & 3);
}

static int unpack_frame(struct decoder *d, struct input *in)
{
    int last = 0, checksum = 0;
    d->huffman.log = 0;
    memset(d->has, 0, sizeof d->has);
    d->offset[0] = 1;
    d->offset[1] = 4;
    d->offset[2] = 8;
    if (!skip_header(in, &checksum))
        return 0;
    while (!last) {
        if (!read_block(d, in, &last))
            return 0;
    }
    return take(in, checksum ? 4 : 0) != NULL;
}

int unpack_zstd(uint8_t *to, size_t size, const uint8_t *packed, size_t packed_size)
{
    struct decoder *d = memory_pages(sizeof *d);
    struct input in = {packed, packed_size};
    if (!d)
        return 0;
    d->to = to;
    d->size = size;
    int whole = packed_size > 0;
    while (whole && in.left)
        whole = unpack_frame(d, &in);
    whole = whole && d->made == size;
    memory_pages_free(d, sizeof *d);
    return whole;
}

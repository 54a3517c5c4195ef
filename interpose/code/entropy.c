/* SPDX-License-Identifier: Apache-2.0
 *
 * FSE and Huffman decoding. Called by the Zstandard decoder. Whatever the bytes are, nothing outside them is read and no
 * table is left half made and used.
 */
#include "interpose/code/entropy.h"

#include <string.h>

static unsigned high_bit(uint64_t value)
{
    return 63 - (unsigned)__builtin_clzll(value);
}

/* The highest bit that is set in the last byte marks the end. */
int bits_begin(struct bits *bits, const uint8_t *bytes, size_t size)
{
    if (!size || !bytes[size - 1])
        return 0;
    *bits = (struct bits){bytes, size, (int64_t)(size - 1) * 8 + high_bit(bytes[size - 1])};
    return 1;
}

uint64_t bits_peek(const struct bits *bits, unsigned count)
{
    int64_t begin = bits->position - count;
    uint64_t word = 0;
    if (begin >= 0 && (size_t)begin / 8 + 8 <= bits->size) {
        memcpy(&word, bits->bytes + begin / 8, sizeof word);
        return word >> begin % 8 & ((UINT64_C(1) << count) - 1);
    }
    for (unsigned i = 0; i < count; i++) {
        int64_t at = begin + i;
        if (at >= 0 && (size_t)at / 8 < bits->size)
            word |= (uint64_t)(bits->bytes[at / 8] >> at % 8 & 1) << i;
    }
    return word;
}

/* The symbols that are less likely than one state in all take the last states, one each; the others are spread. */
int fse_make(struct fse *fse, const int16_t *counts, unsigned symbols, unsigned log)
{
    unsigned size = 1u << log, high = size, at = 0, step = (size >> 1) + (size >> 3) + 3;
    uint16_t next[256];
    for (unsigned i = 0; i < symbols; i++) {
        next[i] = counts[i] < 0 ? 1 : (uint16_t)counts[i];
        if (counts[i] < 0)
            fse->state[--high].symbol = (uint8_t)i;
    }
    for (unsigned i = 0; i < symbols; i++) {
        for (int left = counts[i]; left > 0; left--) {
            fse->state[at].symbol = (uint8_t)i;
            do
                at = (at + step) & (size - 1);
            while (at >= high);
        }
    }
    if (at != 0)
        return 0;
    for (unsigned i = 0; i < size; i++) {
        unsigned value = next[fse->state[i].symbol]++, bits = log - high_bit(value);
        fse->state[i].bits = (uint8_t)bits;
        fse->state[i].base = (uint16_t)((value << bits) - size);
    }
    fse->log = log;
    return 1;
}

void fse_make_constant(struct fse *fse, uint8_t symbol)
{
    fse->log = 0;
    fse->state[0] = (struct fse_state){0, 0, symbol};
}

/* Reads onwards; bits behind the end are 0, and it is seen afterwards that they were read. */
static unsigned read_forward(const uint8_t *bytes, size_t size, size_t *position, unsigned count)
{
    unsigned value = 0;
    for (unsigned i = 0; i < count; i++, ++*position) {
        if (*position / 8 < size)
            value |= (unsigned)(bytes[*position / 8] >> *position % 8 & 1) << i;
    }
    return value;
}

/* A count, in as few bits as what is left of the states allows: one fewer for small values. */
static int read_count(const uint8_t *bytes, size_t size, size_t *position, int left)
{
    unsigned bits = high_bit((unsigned)left + 1) + 1, value = read_forward(bytes, size, position, bits);
    unsigned low = (1u << (bits - 1)) - 1, threshold = (1u << bits) - 1 - ((unsigned)left + 1);
    if ((value & low) < threshold) {
        --*position;
        value &= low;
    } else if (value > low) {
        value -= threshold;
    }
    return (int)value - 1;
}

size_t fse_read(struct fse *fse, const uint8_t *bytes, size_t size, unsigned largest_log, unsigned largest_symbol)
{
    size_t position = 0;
    int16_t counts[256] = {0};
    unsigned symbol = 0, log = read_forward(bytes, size, &position, 4) + 5;
    if (log > largest_log)
        return 0;
    int left = 1 << log;
    while (left > 0 && symbol <= largest_symbol && position <= size * 8) {
        int count = read_count(bytes, size, &position, left);
        left -= count < 0 ? 1 : count;
        counts[symbol++] = (int16_t)count;
        unsigned more = count ? 0 : 3;
        while (more == 3 && position <= size * 8) {
            more = read_forward(bytes, size, &position, 2);
            if (symbol + more > largest_symbol + 1)
                return 0;
            symbol += more;
        }
    }
    if (left != 0 || position > size * 8 || !fse_make(fse, counts, symbol, log))
        return 0;
    return (position + 7) / 8;
}

/* Weights in two streams of states, one after the other in turn, until the bits are used up. 0: damaged. */
static unsigned read_weights(uint8_t *weights, const uint8_t *bytes, size_t size)
{
    struct fse fse;
    struct bits bits;
    size_t described = fse_read(&fse, bytes, size, 6, 255);
    unsigned state[2], count = 0;
    if (!described || !bits_begin(&bits, bytes + described, size - described))
        return 0;
    state[0] = (unsigned)bits_read(&bits, fse.log);
    state[1] = (unsigned)bits_read(&bits, fse.log);
    if (bits.position < 0)
        return 0;
    for (unsigned which = 0; count < 254; which = !which) {
        const struct fse_state *at = &fse.state[state[which]];
        weights[count++] = at->symbol;
        state[which] = at->base + (unsigned)bits_read(&bits, at->bits);
        if (bits.position < 0) {
            weights[count++] = fse.state[state[!which]].symbol;
            return count;
        }
    }
    return 0;
}

/* Weights become lengths of codes; the last symbol's is what is left. Long codes come first. */
static int make_codes(struct huffman *huffman, uint8_t *weights, unsigned count)
{
    uint32_t sum = 0, from[HUFFMAN_LARGEST + 2] = {0};
    for (unsigned i = 0; i < count; i++) {
        if (weights[i] > HUFFMAN_LARGEST)
            return 0;
        sum += weights[i] ? 1u << (weights[i] - 1) : 0;
    }
    if (!sum)
        return 0;
    unsigned log = high_bit(sum) + 1;
    uint32_t left = (1u << log) - sum;
    if (log > HUFFMAN_LARGEST || (left & (left - 1)))
        return 0;
    weights[count++] = (uint8_t)(high_bit(left) + 1);
    for (unsigned i = 0; i < count; i++)
        from[weights[i] + 1] += weights[i] ? 1u << (weights[i] - 1) : 0;
    for (unsigned i = 2; i <= log + 1 && i <= HUFFMAN_LARGEST + 1; i++)
        from[i] += from[i - 1];
    for (unsigned i = 0; i < count; i++) {
        for (uint32_t codes = weights[i] ? 1u << (weights[i] - 1) : 0; codes; codes--) {
            uint32_t at = from[weights[i]]++;
            huffman->code[at].symbol = (uint8_t)i;
            huffman->code[at].bits = (uint8_t)(log + 1 - weights[i]);
        }
    }
    huffman->log = log;
    return 1;
}

size_t huffman_read(struct huffman *huffman, const uint8_t *bytes, size_t size)
{
    uint8_t weights[256];
    unsigned count;
    size_t described;
    huffman->log = 0;
    if (!size)
        return 0;
    if (bytes[0] < 128) {
        described = 1u + bytes[0];
        count = described <= size ? read_weights(weights, bytes + 1, bytes[0]) : 0;
    } else {
        count = bytes[0] - 127u;
        described = 1 + (count + 1) / 2;
        for (unsigned i = 0; i < count && described <= size; i++)
            weights[i] = i % 2 ? bytes[1 + i / 2] & 15 : bytes[1 + i / 2] >> 4;
    }
    return described <= size && count && make_codes(huffman, weights, count) ? described : 0;
}

int huffman_decode(const struct huffman *huffman, uint8_t *to, size_t size, const uint8_t *bytes, size_t packed_size)
{
    struct bits bits;
    if (!huffman->log || !bits_begin(&bits, bytes, packed_size))
        return 0;
    for (size_t i = 0; i < size && bits.position >= 0; i++) {
        uint64_t code = bits_peek(&bits, huffman->log);
        to[i] = huffman->code[code].symbol;
        bits.position -= huffman->code[code].bits;
    }
    return bits.position == 0;
}

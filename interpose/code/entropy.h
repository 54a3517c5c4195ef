/* SPDX-License-Identifier: Apache-2.0
 *
 * The two codes of Zstandard (RFC 8878, section 4): FSE and Huffman tables, and the bits that they are read with.
 */
#ifndef PTDS_ENTROPY_H
#define PTDS_ENTROPY_H

#include <stddef.h>
#include <stdint.h>

/* A stream that is read from its end to its beginning. Bits before the beginning are 0; position says how many there were.
 */
struct bits {
    const uint8_t *bytes;
    size_t size;
    int64_t position; /* bits left */
};

int bits_begin(struct bits *bits, const uint8_t *bytes, size_t size);
uint64_t bits_peek(const struct bits *bits, unsigned count); /* up to 32 */
static inline uint64_t bits_read(struct bits *bits, unsigned count)
{
    uint64_t value = bits_peek(bits, count);
    bits->position -= count;
    return value;
}

enum { FSE_LARGEST = 9, HUFFMAN_LARGEST = 11 };

struct fse {
    unsigned log; /* 1 << log states */
    struct fse_state {
        uint16_t base;
        uint8_t bits, symbol;
    } state[1 << FSE_LARGEST];
};

/* From a table's description: how many bytes that was; 0 it is damaged. */
size_t fse_read(struct fse *fse, const uint8_t *bytes, size_t size, unsigned largest_log, unsigned largest_symbol);
int fse_make(struct fse *fse, const int16_t *counts, unsigned symbols, unsigned log);
void fse_make_constant(struct fse *fse, uint8_t symbol);

struct huffman {
    unsigned log; /* 0: there is none yet */
    struct {
        uint8_t symbol, bits;
    } code[1 << HUFFMAN_LARGEST];
};

size_t huffman_read(struct huffman *huffman, const uint8_t *bytes, size_t size);

/* Exactly `size` symbols out of exactly these bits. */
int huffman_decode(const struct huffman *huffman, uint8_t *to, size_t size, const uint8_t *bytes, size_t packed_size);

#endif

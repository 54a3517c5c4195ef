/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers, deflated and in base64, to a sink. Called by columns.c for each value of each column, so it must stay cheap.
 */
#include "analysis/views/html/packer.h"

#include "analysis/base/sink.h"

bool packer_begin(struct packer *packer, struct text_sink *sink)
{
    *packer = (struct packer){.sink = sink};
    packer->z.next_out = packer->out;
    packer->z.avail_out = sizeof packer->out;
    return deflateInit(&packer->z, 6) == Z_OK;
}

static void put_base64(struct packer *packer, const unsigned char *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char text[4 << 12];
    size_t used = 0;
    for (size_t i = 0; i < size; i += 3) {
        unsigned left = size - i < 3 ? (unsigned)(size - i) : 3;
        uint32_t three =
            (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) | (left > 2 ? bytes[i + 2] : 0);
        text[used++] = digits[three >> 18];
        text[used++] = digits[three >> 12 & 63];
        text[used++] = left > 1 ? digits[three >> 6 & 63] : '=';
        text[used++] = left > 2 ? digits[three & 63] : '=';
    }
    packer->sink->write(packer->sink, text, used);
}

/* The output buffer holds a multiple of three bytes, so that only the last piece has a filler. */
static void deflate_some(struct packer *packer, int flush)
{
    packer->z.next_in = packer->in;
    packer->z.avail_in = (uInt)packer->used;
    int status;
    do {
        status = deflate(&packer->z, flush);
        if (packer->z.avail_out == 0 || status == Z_STREAM_END) {
            put_base64(packer, packer->out, sizeof packer->out - packer->z.avail_out);
            packer->z.next_out = packer->out;
            packer->z.avail_out = sizeof packer->out;
        }
    } while (flush == Z_FINISH ? status != Z_STREAM_END : packer->z.avail_in != 0);
    packer->used = 0;
}

void packer_put(struct packer *packer, uint32_t value, unsigned bytes)
{
    if (packer->used + 4 > sizeof packer->in)
        deflate_some(packer, Z_NO_FLUSH);
    for (unsigned i = 0; i < bytes; i++)
        packer->in[packer->used++] = (unsigned char)(value >> 8 * i);
}

void packer_end(struct packer *packer)
{
    deflate_some(packer, Z_FINISH);
    deflateEnd(&packer->z);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Compressed images of device code, by the archives of liblz4 and libzstd. Called by images.c, once an image. It must never
 * call malloc, which the program may have replaced by a function that calls CUDA, and never write outside of `to`.
 */
#include "interpose/code/unpack.h"

#include <limits.h>
#define ZSTD_STATIC_LINKING_ONLY /* a decoder in memory of the caller's */
#include <lz4.h>
#include <zstd.h>

#include "interpose/base/pages.h"

/* libzstd refers to these weakly, and the program may define functions of such names. */
unsigned long long ZSTD_trace_decompress_begin(const ZSTD_DCtx *decoder);
void ZSTD_trace_decompress_end(unsigned long long trace, const void *what);

unsigned long long ZSTD_trace_decompress_begin(const ZSTD_DCtx *decoder)
{
    (void)decoder;
    return 0; /* do not trace */
}

void ZSTD_trace_decompress_end(unsigned long long trace, const void *what)
{
    (void)trace;
    (void)what;
}

int unpack_lz4(uint8_t *to, size_t size, const uint8_t *packed, size_t packed_size)
{
    if (size > INT_MAX || packed_size > INT_MAX)
        return 0;
    return LZ4_decompress_safe((const char *)packed, (char *)to, (int)packed_size, (int)size) == (int)size;
}

int unpack_zstd(uint8_t *to, size_t size, const uint8_t *packed, size_t packed_size)
{
    const size_t room = ZSTD_estimateDCtxSize(); /* some 96 KB */
    void *pages = pages_map(room);
    if (!pages)
        return 0;
    int whole = ZSTD_decompressDCtx(ZSTD_initStaticDCtx(pages, room), to, size, packed, packed_size) == size;
    pages_unmap(pages, room);
    return whole;
}

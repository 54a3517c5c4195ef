/* SPDX-License-Identifier: Apache-2.0
 *
 * See chunk_pages.h. Called by the store, some hundred records apart. Must not allocate.
 */
#include "interpose/record/file/chunk_pages.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "interpose/base/pages.h"
#include "interpose/record/file/trace_file.h"

#define PAGE ((uintptr_t)getpagesize())

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

void chunk_pages_populate(struct ptds_chunk *chunk)
{
    uint8_t *rest = (uint8_t *)chunk + PAGES_SMALLEST; /* the header's page is there */
    size_t size = PTDS_CHUNK_SIZE - PAGES_SMALLEST;
    if (madvise(rest, size, MADV_POPULATE_WRITE) == 0 || errno != EINVAL)
        return;
    for (size_t at = 0; at < size; at += PAGES_SMALLEST) /* Linux before 5.14, or larger pages */
        __atomic_store_n(rest + at, 0, __ATOMIC_RELAXED);
}

void chunk_pages_clear(struct ptds_chunk *chunk)
{
    if (trace_file_path())
        memset(chunk + 1, 0, PTDS_CHUNK_SIZE - sizeof *chunk);
    else
        pages_clear(chunk + 1, PTDS_CHUNK_SIZE - sizeof *chunk);
}

void chunk_pages_let_go(const void *from, const struct ptds_chunk *chunk)
{
    uintptr_t first = ((uintptr_t)from + PAGE - 1) & ~(PAGE - 1), last = (uintptr_t)chunk + PTDS_CHUNK_SIZE;
    int saved = errno;
    if (first < last)
        madvise((void *)first, last - first, MADV_DONTNEED);
    errno = saved;
}

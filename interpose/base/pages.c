/* SPDX-License-Identifier: Apache-2.0
 *
 * Page allocation and a bump arena for small things that are never freed. Cold paths only.
 */
#include "interpose/base/pages.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "interpose/base/lock.h"

#define ARENA_SIZE (256u << 10)

void *pages_map(size_t size)
{
    int saved = errno;
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = saved;
    return pages == MAP_FAILED ? NULL : pages;
}

void pages_unmap(void *pages, size_t size)
{
    int saved = errno;
    munmap(pages, size);
    errno = saved;
}

void pages_clear(void *at, size_t size)
{
    int saved = errno;
    uintptr_t from = (uintptr_t)at, to = from + size, page = (uintptr_t)getpagesize();
    uintptr_t first = (from + page - 1) & ~(page - 1), last = to & ~(page - 1);
    if (first < last && madvise((void *)first, last - first, MADV_DONTNEED) == 0) {
        memset(at, 0, first - from);
        memset((void *)last, 0, to - last);
    } else {
        memset(at, 0, size);
    }
    errno = saved;
}

static struct lock lock;
static uint8_t *arena;
static size_t left;

void pages_after_fork(void)
{
    lock.held = 0;
}

void *pages_keep(size_t size)
{
    size = (size + 15u) & ~(size_t)15u;
    if (size > ARENA_SIZE / 4)
        return pages_map(size);
    lock_take(&lock);
    if (size > left) {
        uint8_t *fresh = pages_map(ARENA_SIZE);
        if (fresh) {
            arena = fresh;
            left = ARENA_SIZE;
        }
    }
    void *kept = NULL;
    if (size <= left) {
        kept = arena;
        arena += size;
        left -= size;
    }
    lock_drop(&lock);
    return kept;
}

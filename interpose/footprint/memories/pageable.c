/* SPDX-License-Identifier: Apache-2.0
 *
 * Looks whether a word may be an address in memory of the process that no call told the driver of. Called by launches and
 * by copies of small tables, only where a device reads such memory. Must lose no errno, and never touch the memory itself.
 */
#include "interpose/footprint/memories/pageable.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "interpose/driver/driver.h"
#include "interpose/footprint/memories/lookup.h"

/* How many bits of address a system gives a program that does not ask for more: 47 on x86-64, where the other half is the
 * system's own. */
#if defined(__x86_64__)
enum { PAGEABLE_BITS = 47 };
#else
enum { PAGEABLE_BITS = 48 };
#endif

/* How often the system is asked about one copy, some 150 ns each. */
enum { QUESTIONS_MOST = 256 };

uint32_t pageable_read;

void pageable_ask(void)
{
    CUdevice device;
    int can = 0;
    if (!pageable_read && driver.cuCtxGetDevice && driver.cuDeviceGetAttribute &&
        driver.cuCtxGetDevice(&device) == CUDA_SUCCESS &&
        driver.cuDeviceGetAttribute(&can, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, device) == CUDA_SUCCESS && can)
        __atomic_store_n(&pageable_read, 1, __ATOMIC_RELAXED);
}

/* Below are pages that no program gets (mmap_min_addr), above is the kernel's half. */
static int is_address(uint64_t word)
{
    return word >= 1u << 16 && !(word >> PAGEABLE_BITS);
}

static uint64_t untagged(uint64_t word)
{
#if defined(__aarch64__)
    word &= UINT64_MAX >> 8; /* the highest byte may be a tag */
#endif
    return word;
}

/* Whether something is mapped at the page's address. Any answer but "nothing is mapped" counts as mapped: a filter may have
 * refused the question. */
static int is_mapped(uint64_t page, uint64_t page_size)
{
    unsigned char resident;
    int saved = errno;
    int mapped = mincore((void *)page, page_size, &resident) == 0 || errno != ENOMEM;
    errno = saved;
    return mapped;
}

int pageable_is(uint64_t word)
{
    uint64_t page_size = getauxval(AT_PAGESZ);
    word = untagged(word);
    return is_address(word) && is_mapped(word & -page_size, page_size);
}

int pageable_among(struct thread *thread, const uint8_t *bytes, size_t at, size_t size)
{
    uint64_t page_size = getauxval(AT_PAGESZ), asked = 0;
    int questions = 0;
    for (; at + sizeof(uint64_t) <= size; at += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, bytes + at, sizeof word);
        word = untagged(word);
        if (!is_address(word) || (word & -page_size) == asked || lookup_range(thread, word).memory)
            continue;
        asked = word & -page_size;
        if (++questions > QUESTIONS_MOST || is_mapped(asked, page_size))
            return 1;
    }
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that no call told the driver of: what malloc gives. Some devices read it all the same (HMM, ATS, Grace).
 */
#ifndef PTDS_PAGEABLE_H
#define PTDS_PAGEABLE_H

#include <stddef.h>
#include <stdint.h>

struct thread;

/* 1: kernels may be given pointers to it. */
extern uint32_t pageable_read;
static inline int pageable_is_read(void)
{
    return __builtin_expect(__atomic_load_n(&pageable_read, __ATOMIC_RELAXED) != 0, 0);
}

/* Asks the device that is current; once it is 1 it stays. Not while a capture is open. */
void pageable_ask(void);

/* Whether the program may have memory at that address. */
int pageable_is(uint64_t word);

/* Whether a word of the bytes, every eight from `at` on, may be such an address, and lies in no memory that is known. */
int pageable_among(struct thread *thread, const uint8_t *bytes, size_t at, size_t size);

#endif

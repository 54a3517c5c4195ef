/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that no call told the driver of: what malloc gives. Some devices read it all the same (HMM, ATS, Grace).
 */
#ifndef PTDS_PAGEABLE_H
#define PTDS_PAGEABLE_H

#include <stddef.h>
#include <stdint.h>

struct thread;

/* Not 0: a device reads such memory, so kernels may be given pointers to it. */
extern uint32_t pageable_read;
static inline int pageable_is_read(void)
{
    return __builtin_expect(__atomic_load_n(&pageable_read, __ATOMIC_RELAXED) != 0, 0);
}

/* Asks the driver whether the current device reads such memory; once a device does, that stays. Must not be called while a
 * capture is open. */
void pageable_ask(void);

/* Whether the program may have memory at that address. Asks the system; keeps errno. */
int pageable_is(uint64_t word);

/* Whether one of the words at `at`, at + 8, ... of the `size` bytes may be such an address, and lies in no memory that is
 * known. Asks the system, a bounded number of times; keeps errno. */
int pageable_among(struct thread *thread, const uint8_t *bytes, size_t at, size_t size);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * The trace's clock. The time-stamp counter where the kernel itself trusts it (15 ns a read on the measured machine against
 * 27 for clock_gettime), else CLOCK_MONOTONIC in nanoseconds.
 */
#ifndef PTDS_CLOCK_H
#define PTDS_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "interpose/trace/format.h"

extern enum ptds_clock clock_source; /* set by clock_start; CLOCK_MONOTONIC until then */

/* Chooses the source. Once, before the first record: two choices need not be the same. */
void clock_start(void);

/* The clocks at one moment: ticks, and the kernel's two in nanoseconds. */
struct clock_reading {
    uint64_t ticks, monotonic, realtime;
};
struct clock_reading clock_read(void);

static inline uint64_t clock_nanoseconds(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t clock_ticks(void)
{
#if defined(__x86_64__)
    if (__builtin_expect(clock_source == PTDS_CLOCK_TSC, 1))
        return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    if (__builtin_expect(clock_source == PTDS_CLOCK_CNTVCT, 1)) {
        uint64_t ticks;
        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
        return ticks;
    }
#endif
    return clock_nanoseconds(CLOCK_MONOTONIC);
}

#endif

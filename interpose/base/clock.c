/* SPDX-License-Identifier: Apache-2.0
 *
 * Chooses the trace's clock, once at start, and reads all clocks together, for who must turn one's times into another's.
 */
#include "interpose/base/clock.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum ptds_clock clock_source = PTDS_CLOCK_MONOTONIC;

#if defined(__x86_64__)
#include <cpuid.h>

/* Invariant by CPUID 0x80000007 EDX bit 8, and the same on all processors. The kernel checks the second where it uses the
 * counter itself; a guest with another clock source (kvm-clock) still reads one that its host keeps synchronised. */
static int counter_is_invariant(void)
{
    unsigned eax, ebx, ecx, edx;
    return __get_cpuid(0x80000007u, &eax, &ebx, &ecx, &edx) && (edx & (1u << 8));
}

static int kernel_rejected_counter(void)
{
    char sources[256] = "";
    int file = open("/sys/devices/system/clocksource/clocksource0/available_clocksource", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    ssize_t size = read(file, sources, sizeof sources - 1);
    close(file);
    return size > 0 && !strstr(sources, "tsc") && !strstr(sources, "kvm-clock");
}
#endif

void clock_start(void)
{
#if defined(__x86_64__)
    if (counter_is_invariant() && !kernel_rejected_counter())
        clock_source = PTDS_CLOCK_TSC;
#elif defined(__aarch64__)
    clock_source = PTDS_CLOCK_CNTVCT;
#endif
}

/* Interrupted between two clocks, a reading is of two moments: the quickest of some is taken. */
struct clock_reading clock_read(void)
{
    enum { READINGS = 4 };
    struct clock_reading best = {0};
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < READINGS; i++) {
        uint64_t began = clock_ticks();
        uint64_t monotonic = clock_nanoseconds(CLOCK_MONOTONIC), realtime = clock_nanoseconds(CLOCK_REALTIME);
        uint64_t took = clock_ticks() - began;
        if (took >= least)
            continue;
        least = took;
        best = (struct clock_reading){began + took / 2, monotonic, realtime};
    }
    return best;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Chooses the trace's clock. Called once at start.
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

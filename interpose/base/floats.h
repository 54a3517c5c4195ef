/* SPDX-License-Identifier: Apache-2.0
 *
 * The thread's floating-point state: a program may round its own way, ask which exceptions occurred, or have them end it
 * (feenableexcept, gfortran's -ffpe-trap). Whoever calculates with floating-point numbers in its threads holds it
 * meanwhile. Not feholdexcept(3), which is libm's.
 */
#ifndef PTDS_FLOATS_H
#define PTDS_FLOATS_H

#include <stdint.h>

struct floats {
    uint64_t control, status; /* x86-64 has both in one */
};

#if defined(__x86_64__)

/* Nothing is trapped, and rounding is to the nearest, until floats_back. The x87 unit stays as it is: nothing of ours uses
 * it. */
static inline struct floats floats_hold(void)
{
    const uint32_t at_start = 0x1f80; /* as a process begins */
    uint32_t before;
    __asm__ volatile("stmxcsr %0\n\tldmxcsr %1" : "=m"(before) : "m"(at_start) : "memory");
    return (struct floats){.control = before};
}

static inline void floats_back(const struct floats *floats)
{
    uint32_t before = (uint32_t)floats->control;
    __asm__ volatile("ldmxcsr %0" ::"m"(before) : "memory");
}

#elif defined(__aarch64__)

static inline struct floats floats_hold(void)
{
    struct floats floats;
    __asm__ volatile("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(floats.control), "=r"(floats.status)::"memory");
    __asm__ volatile("msr fpcr, %0" ::"r"(UINT64_C(0)) : "memory");
    return floats;
}

static inline void floats_back(const struct floats *floats)
{
    __asm__ volatile("msr fpcr, %0\n\tmsr fpsr, %1" ::"r"(floats->control), "r"(floats->status) : "memory");
}

#else
#error "which register says what floating-point exceptions do?"
#endif

#endif

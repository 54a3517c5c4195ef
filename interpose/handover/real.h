/* SPDX-License-Identifier: Apache-2.0
 *
 * libc's own functions behind those of functions.def.
 */
#ifndef PTDS_HANDOVER_REAL_H
#define PTDS_HANDOVER_REAL_H

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

/* The versions that programs refer to them by. */
#if defined(__x86_64__)
#define GLIBC_FIRST "GLIBC_2.2.5"
#define GLIBC_CONDITIONS "GLIBC_2.3.2" /* an earlier kind of condition has the same names in 2.2.5 */
#define GLIBC_JOINS "GLIBC_2.3.3"
#elif defined(__aarch64__)
#define GLIBC_FIRST "GLIBC_2.17"
#define GLIBC_CONDITIONS GLIBC_FIRST
#define GLIBC_JOINS GLIBC_FIRST
#endif
#define GLIBC_2_30 "GLIBC_2.30"
#define GLIBC_2_31 "GLIBC_2.31"

enum real {
#define FUNCTION(name, ...) REAL_##name,
#include "interpose/handover/functions.def"
    REAL_pthread_create,
    REAL_pthread_exit,
    REAL_COUNT
};

/* The function, from the next object after this one that has it: another preloaded hook, or libc. NULL: this libc has none.
 * Any thread, also before constructors and inside malloc. */
void *real_find(enum real function);

extern void *real_found[REAL_COUNT];

static inline void *real_get(enum real function)
{
    void *found = __atomic_load_n(&real_found[function], __ATOMIC_RELAXED);
    return __builtin_expect(found != NULL, 1) ? found : real_find(function);
}

#define REAL_LIBC(name) ((__typeof__(&name))real_get(REAL_##name))

#endif

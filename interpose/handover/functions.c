/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of functions.def as the shim exports them. Called by everybody, from before the first constructor to after
 * the last destructor. Until a thread may have work to hand over they only go on to libc; must never change a result, lose
 * errno, or hold anything across the real call, where a thread may be cancelled.
 */
#include "interpose/handover/handover.h"
#include "interpose/handover/real.h"

#define EXPORT __attribute__((visibility("default")))
#define NOTHING ((void)0)

/* Absent: found here by a program that looked whether libc has it. sem_* say so by errno. */
static int absent(const char *name)
{
    errno = ENOSYS;
    return name[0] == 's' ? -1 : ENOSYS;
}

#define FUNCTION(name, version, python_counts, params, args, before, after) \
    EXPORT int name params \
    { \
        __typeof__(&name) const real = REAL_LIBC(name); \
        if (__builtin_expect(!real, 0)) \
            return absent(#name); \
        if (__builtin_expect(!__atomic_load_n(&handover_on, __ATOMIC_RELAXED), 1)) \
            return real args; \
        if (!handover_counts(__builtin_return_address(0), python_counts)) \
            return real args; \
        before; \
        const int result = real args; \
        after; \
        return result; \
    }
#include "interpose/handover/functions.def"

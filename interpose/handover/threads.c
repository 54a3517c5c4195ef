/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread's creation and end as hand-overs. Called by everybody, like functions.c. A new thread knows what its creator
 * knew; whoever joins it knows what it knew at its end. Must give the program the results of the real call.
 */
#include "interpose/handover/handover.h"
#include "interpose/handover/real.h"

#define EXPORT __attribute__((visibility("default")))

static void *begin(void *data)
{
    struct handover_start start = *(struct handover_start *)data;
    handover_start_drop(data);
    handover_begin(&start.known);
    void *result = start.routine(start.argument);
    handover_ending();
    return result;
}

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*routine)(void *), void *argument)
{
    __typeof__(&pthread_create) const real = REAL_LIBC(pthread_create);
    if (!real)
        return EAGAIN;
    int on = __atomic_load_n(&handover_on, __ATOMIC_RELAXED) && handover_counts(__builtin_return_address(0), 1);
    struct handover_start *start = on ? handover_start_make(routine, argument) : NULL;
    if (!start)
        return real(thread, attributes, routine, argument);
    handover_copy(&start->known);
    int result = real(thread, attributes, begin, start);
    if (result != 0)
        handover_start_drop(start);
    return result;
}

EXPORT void pthread_exit(void *result)
{
    if (__atomic_load_n(&handover_on, __ATOMIC_RELAXED))
        handover_ending();
    REAL_LIBC(pthread_exit)(result);
    __builtin_unreachable();
}

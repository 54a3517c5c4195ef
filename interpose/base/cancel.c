/* SPDX-License-Identifier: Apache-2.0
 *
 * Called around driver calls of the shim's own and around system calls under a lock. A program without libpthread has
 * nobody to cancel.
 */
#include "interpose/base/cancel.h"

#include <pthread.h>

/* Bound to the version that every glibc has. */
#if defined(__x86_64__)
#define FIRST_GLIBC "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define FIRST_GLIBC "GLIBC_2.17"
#endif
__asm__(".symver pthread_setcancelstate,pthread_setcancelstate@" FIRST_GLIBC);
#pragma weak pthread_setcancelstate

int cancel_off(void)
{
    int before = PTHREAD_CANCEL_ENABLE;
    if (pthread_setcancelstate)
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

void cancel_back(int before)
{
    if (pthread_setcancelstate && before == PTHREAD_CANCEL_ENABLE)
        pthread_setcancelstate(before, &before);
}

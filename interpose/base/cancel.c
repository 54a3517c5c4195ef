/* SPDX-License-Identifier: Apache-2.0
 *
 * Called around driver calls of the shim's own and around system calls under a lock. In a program without libpthread no
 * thread can be cancelled.
 */
#include "interpose/base/cancel.h"

#include <pthread.h>

#include "interpose/base/first_glibc.h"

OF_FIRST_GLIBC(pthread_setcancelstate);
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

/* SPDX-License-Identifier: Apache-2.0
 *
 * Asks libpthread, which has noted the stack of each thread that it made. Called once a thread, where its first call stack
 * is taken. Of the first thread libpthread would read a file, so it is not asked. Must not refer to its functions by name,
 * since old systems have them in a library that the program may do without.
 */
#include "interpose/base/own_stack.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "interpose/base/specific.h"

static int (*getattr)(pthread_t, pthread_attr_t *), (*destroy)(pthread_attr_t *);
static int (*getstack)(const pthread_attr_t *, void **, size_t *);
static pthread_t (*self)(void);
static uint32_t looked; /* 1 they are there, 2 they are not */

/* Threads that look at the same time find the same. */
static int are_there(void)
{
    uint32_t state = __atomic_load_n(&looked, __ATOMIC_ACQUIRE);
    if (state)
        return state == 1;
    void *functions[] = {specific_function("pthread_getattr_np"), specific_function("pthread_attr_destroy"),
                         specific_function("pthread_attr_getstack"), specific_function("pthread_self")};
    __atomic_store_n(&getattr, (__typeof__(getattr))functions[0], __ATOMIC_RELAXED);
    __atomic_store_n(&destroy, (__typeof__(destroy))functions[1], __ATOMIC_RELAXED);
    __atomic_store_n(&getstack, (__typeof__(getstack))functions[2], __ATOMIC_RELAXED);
    __atomic_store_n(&self, (__typeof__(self))functions[3], __ATOMIC_RELAXED);
    state = functions[0] && functions[1] && functions[2] && functions[3] ? 1 : 2;
    __atomic_store_n(&looked, state, __ATOMIC_RELEASE);
    return state == 1;
}

int own_stack(const void **low, const void **high)
{
    pthread_attr_t about;
    void *at = NULL;
    size_t size = 0;
    int saved = errno, known = 0;
    if (syscall(SYS_gettid) != syscall(SYS_getpid) && are_there() && getattr(self(), &about) == 0) {
        known = getstack(&about, &at, &size) == 0 && size != 0;
        destroy(&about);
    }
    *low = at;
    *high = (const uint8_t *)at + size;
    errno = saved;
    return known;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Thread-specific data, where the process has it: before glibc 2.34 it is libpthread's, which a program without threads
 * need not have loaded. No reference names these functions: before 2.30 the loader looks for a version's symbols up to the
 * library that the linker found them in and no further, and ends the program where they are not there, weak or not.
 */
#ifndef PTDS_SPECIFIC_H
#define PTDS_SPECIFIC_H

#include <pthread.h>

/* 1 where there is such data; then the others may be called. Any thread, outside of signal handlers; asks anew as long as
 * there is none, since libpthread may be loaded later. */
int specific_there(void);

/* As pthread_key_create, pthread_setspecific, pthread_getspecific. */
int specific_make(pthread_key_t *key, void (*end)(void *));
void specific_set(pthread_key_t key, const void *data);
void *specific_get(pthread_key_t key);

/* Any function of libc's or libpthread's; NULL: it is not there. */
void *specific_function(const char *name);

#endif

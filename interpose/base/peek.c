/* SPDX-License-Identifier: Apache-2.0
 *
 * Called where pointers of the program's are followed: into its host memory, and to frames of an interpreter. Must never
 * fault, allocate or lose errno.
 */
#include "interpose/base/peek.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

int peek(uint64_t address, void *into, size_t bytes)
{
    return peek_places(&address, 1, into, bytes);
}

int peek_places(const uint64_t *address, int count, void *into, size_t bytes)
{
    struct iovec local = {into, bytes * (size_t)count}, there[PEEK_PLACES];
    int saved = errno;
    for (int i = 0; i < count; i++)
        there[i] = (struct iovec){(void *)(uintptr_t)address[i], bytes};
    ssize_t got = process_vm_readv(getpid(), &local, 1, there, (unsigned long)count, 0);
    errno = saved;
    return got == (ssize_t)(bytes * (size_t)count);
}

int peek_word_and(uint64_t address, uint64_t *word, uint64_t block, void *into, size_t bytes)
{
    struct iovec local[] = {{word, sizeof *word}, {into, bytes}};
    struct iovec there[] = {{(void *)(uintptr_t)address, sizeof *word}, {(void *)(uintptr_t)block, bytes}};
    int saved = errno;
    ssize_t got = process_vm_readv(getpid(), local, 2, there, 2, 0);
    errno = saved;
    return (got >= (ssize_t)sizeof *word) + (got == (ssize_t)(sizeof *word + bytes));
}

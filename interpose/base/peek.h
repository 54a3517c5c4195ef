/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads memory that may not be there.
 */
#ifndef PTDS_PEEK_H
#define PTDS_PEEK_H

#include <stddef.h>
#include <stdint.h>

/* Copies `bytes` bytes by way of the kernel: another thread may be freeing the memory at this moment; then this fails, and
 * nothing faults. 1: all bytes were there. Keeps errno. */
int peek(uint64_t address, void *into, size_t bytes);

/* Several places in one system call, each `bytes` bytes, one behind the other into `into`. 1: all are there. */
enum { PEEK_PLACES = 16 };
int peek_places(const uint64_t *address, int count, void *into, size_t bytes);

/* A word and, in the same system call, a block elsewhere. Returns how many of the two were there: 0, 1 (the word) or 2. */
int peek_word_and(uint64_t address, uint64_t *word, uint64_t block, void *into, size_t bytes);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads memory that may not be there.
 */
#ifndef PTDS_PEEK_H
#define PTDS_PEEK_H

#include <stddef.h>
#include <stdint.h>

/* By way of the kernel, since another thread may be freeing the memory at this moment: then this fails, and nothing faults.
 * 1: all bytes are there. Keeps errno. */
int peek(uint64_t address, void *into, size_t bytes);

/* Several places in one system call, each `bytes` bytes, one behind the other into `into`. 1: all are there. */
enum { PEEK_PLACES = 16 };
int peek_places(const uint64_t *address, int count, void *into, size_t bytes);

/* A word and, in the same system call, a block elsewhere. How many of the two are there: the block may be missing. */
int peek_word_and(uint64_t address, uint64_t *word, uint64_t block, void *into, size_t bytes);

#endif

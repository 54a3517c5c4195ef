/* SPDX-License-Identifier: Apache-2.0
 *
 * Which pointers come into a memory with bytes that the host has.
 */
#ifndef PTDS_SCAN_HOST_MEMORY_H
#define PTDS_SCAN_HOST_MEMORY_H

#include <stddef.h>
#include <stdint.h>

struct memory;
struct thread;

/* From now on `memory` holds these `size` bytes at its own address `begin`: keeps which of their words may be pointers, and
 * to what. `bytes` is the program's, and must be readable. Takes the tables' lock where some word may be a pointer. Where a
 * word can't be told, or there is no memory to keep it, the memory's pointers are incomplete. */
void scan_host_memory(struct thread *thread, struct memory *memory, uint64_t begin, const uint8_t *bytes, size_t size);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * What ptx_memory.c has for ptx_atomic.c and ptx_texture.c.
 */
#ifndef PTDS_TESTS_SIM_PTX_MEMORY_H
#define PTDS_TESTS_SIM_PTX_MEMORY_H

#include "tests/sim/ptx_body.h"

/* The bytes of i's space at an address. */
unsigned char *ptx_reach(struct ptx_thread *t, const struct ptx_instruction *i, uint64_t address, size_t size, bool writes);
/* The thread has looked there and seen that: if it sees nothing else in the next round, it waits. */
void ptx_polled(struct ptx_thread *t, uint64_t address, uint64_t value);
unsigned memory_space(struct statement *s);
bool memory_order(struct statement *s); /* others may look while it happens */

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * The shim's own memory: pages from the kernel, never malloc, because the shim runs inside malloc hooks and constructors.
 */
#ifndef PTDS_MEMORY_H
#define PTDS_MEMORY_H

#include <stddef.h>

#define MEMORY_PAGE 4096u /* the smallest that there is */

/* Zeroed memory that lives as long as the process, 16-byte aligned; NULL when the kernel has none. Any thread. */
void *memory_keep(size_t size);

/* Zeroed pages; NULL when the kernel has none. Keeps errno. */
void *memory_pages(size_t size);
void memory_pages_free(void *pages, size_t size);

/* Zeroes memory that came from here and gives its whole pages back to the kernel until they are written to. Keeps errno. */
void memory_clear(void *at, size_t size);

/* In a forked child: another thread may have held the lock. */
void memory_after_fork(void);

#endif

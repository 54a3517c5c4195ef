/* SPDX-License-Identifier: Apache-2.0
 *
 * The shim's own memory: pages from the kernel, never malloc, because the shim runs inside malloc hooks and constructors.
 */
#ifndef PTDS_PAGES_H
#define PTDS_PAGES_H

#include <stddef.h>

#define PAGES_SMALLEST 4096u /* the smallest that there is */

/* Zeroed memory that lives as long as the process, 16-byte aligned; NULL when the kernel has none. Any thread. */
void *pages_keep(size_t size);

/* Zeroed pages; NULL when the kernel has none. Keeps errno. */
void *pages_map(size_t size);
void pages_unmap(void *pages, size_t size);

/* Zeroes memory that came from here and gives its whole pages back to the kernel until they are written to. Keeps errno. */
void pages_clear(void *at, size_t size);

/* In a forked child: another thread may have held the lock. */
void pages_after_fork(void);

#endif

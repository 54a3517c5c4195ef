/* SPDX-License-Identifier: Apache-2.0
 *
 * Variables that somebody has set for the library and that it does not know.
 */
#ifndef PTDS_UNKNOWN_H
#define PTDS_UNKNOWN_H

#include <stddef.h>

/* Calls each(name, size, nearest) for every variable of the environment whose name begins with PTDS_ and is none of the
 * library's, and for those that are spelt like one of them but for the beginning (TDS_LANES). nearest: the name that it is
 * like; NULL: none. `name` ends at `size`. Takes no lock, allocates nothing. */
void unknown_each(void (*each)(const char *name, size_t size, const char *nearest, void *context), void *context);

/* Says so of each, in a line on stderr: for the library. */
void unknown_say(void);

#endif

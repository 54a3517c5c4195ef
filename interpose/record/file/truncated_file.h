/* SPDX-License-Identifier: Apache-2.0
 *
 * Somebody may cut the trace's file while the program runs, or its disk may fail: then the mapping has no pages any more,
 * and the next record would be a SIGBUS in the program. It gets pages of memory instead.
 */
#ifndef PTDS_TRUNCATED_FILE_H
#define PTDS_TRUNCATED_FILE_H

#include <stddef.h>

/* The part of the trace that an address lies in, page-aligned, and its size; NULL: it is none of the trace. Any thread, in
 * a signal handler. */
typedef void *truncated_file_part(const void *address, size_t *size);

/* From now on. Where the program has a handler for SIGBUS of its own, that stays, and this does nothing. */
void truncated_file_watch(truncated_file_part *part);

/* Whether that has happened: some records are zeros now. */
int truncated_file_seen(void);

void truncated_file_after_fork(void);

#endif

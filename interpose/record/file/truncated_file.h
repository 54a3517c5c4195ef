/* SPDX-License-Identifier: Apache-2.0
 *
 * Another process may cut the trace's file while the program runs, or the disk may fail: then the mapping has no pages any
 * more, and the next record would be a SIGBUS in the program. A handler gives the mapping pages of memory instead.
 */
#ifndef PTDS_TRUNCATED_FILE_H
#define PTDS_TRUNCATED_FILE_H

#include <stddef.h>

/* The part of the trace that an address lies in, page-aligned, and its size in bytes; NULL: the address is outside of the
 * trace. Any thread, in a signal handler. */
typedef void *truncated_file_part(const void *address, size_t *size);

/* Installs the handler; `part` tells which addresses are the trace's. Where the program has a handler for SIGBUS, that
 * stays, and this does nothing. */
void truncated_file_watch(truncated_file_part *part);

/* 1: the file was cut, or its disk has failed, and some records are zeros now. */
int truncated_file_seen(void);

void truncated_file_after_fork(void);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * The trace's file: found or made, locked, grown and mapped. What is there already and is no trace stays as it is, and so
 * does a finished trace of another run, under another name.
 */
#ifndef PTDS_TRACE_FILE_H
#define PTDS_TRACE_FILE_H

#include <stddef.h>
#include <sys/types.h>

/* Finds or makes the file that the pattern names. 0: it can't be had, which has been said. */
int trace_file_open(const char *pattern);

/* The file's bytes [offset, offset + size), real and mapped; NULL if the disk refuses, or the file is not what it was. */
void *trace_file_map(off_t offset, size_t size);

/* Where it is; NULL: there is none. */
const char *trace_file_path(void);

/* Nothing could be kept in the file: it is as if it had never been opened. */
void trace_file_give_up(void);

/* 1: the file has less than `size` bytes, since another process has cut it. */
int trace_file_is_truncated(off_t size);

/* Forgets it without touching it: it belongs to the parent process. */
void trace_file_after_fork(void);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * File names from the environment's patterns: %h host, %p process, %r rank, %% a percent sign; and what tells one process
 * from another.
 */
#ifndef PTDS_PATH_H
#define PTDS_PATH_H

#include <stddef.h>
#include <stdint.h>

/* Expands into out, cut to its size. An unknown letter stays as it stands. */
void path_expand(const char *pattern, char *out, size_t size);

/* Appends .PID. */
void path_append_pid(char *path, size_t size);

/* Puts .NUMBER at `at`, where what is there ends or such a number begins. */
void path_append_number(char *path, size_t at, size_t size, uint64_t number);

/* Decimal digits of a number; returns how many. out holds at least 21 bytes; terminated. */
size_t path_decimal(uint64_t number, char *out);

/* When this process began, in clock ticks since boot (proc(5), field 22 of stat); the same after exec. 0 unknown. */
uint64_t path_process_born(void);

/* The rank and number of ranks that a launcher set (Open MPI, PMIx, Slurm, torchrun); -1 if none did. */
int path_rank(void);
int path_ranks(void);

#endif

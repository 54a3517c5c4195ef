/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the shim's own words go: the program's stderr, or a file. Any thread, any time, also after main; keeps errno.
 */
#ifndef PTDS_OUTPUT_H
#define PTDS_OUTPUT_H

#include <stddef.h>
#include <stdint.h>

/* A descriptor, and the file that it was of when it was noted: the program may close any descriptor, and then get the same
 * number for a file of its own. */
struct output {
    int file; /* -1: nowhere */
    uint64_t device, inode;
};

/* The process's stderr as it was at start. */
const struct output *output_stderr(void);

/* Another descriptor of an open file, with a high number, or with any but 0 to 2 where there is no high one to be had; -1.
 */
int output_again(int file);

/* Gives an open file such a number, if there is one to be had, and returns it: a program that closes 0 to 2 takes what it
 * opens next for its stdin and stdout, and one that closes every descriptor it doesn't know starts from the low ones. */
int output_out_of_the_way(int file);

/* Opens PATH for writing, anew or at its end, under a high number; 0 with errno where that fails, as for a FIFO without a
 * reader. */
int output_open(struct output *output, const char *path, int flags);

/* Writes all of the text, or as much as there is room for within a second (once that was not enough, later calls do not
 * wait); nothing where the descriptor is not what it was. Raises no signal. 1: all was written. */
int output_write(const struct output *output, const char *text, size_t size);

/* 0 where nothing would be written. */
int output_is_there(const struct output *output);

void output_close(struct output *output);

#endif

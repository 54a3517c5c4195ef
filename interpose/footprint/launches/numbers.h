/* SPDX-License-Identifier: Apache-2.0
 *
 * Words of a launch in the place of a pointer that lead to no memory which a kernel may touch.
 */
#ifndef PTDS_NUMBERS_H
#define PTDS_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

/* How far such a word leads from 0, in bytes; UINT64_MAX: it may be an address. A small number, of either sign, and one of
 * which only the highest bits are set (1.0 as a double), which are no part of an address. */
uint64_t numbers_size(uint64_t word);

/* Whether no memory is known within 4 GiB of so many bytes from 0. */
int numbers_are_nowhere(uint64_t sizes);

/* Whether the word is an address in the program's own memory, which the device does not read. Asks the system; keeps errno.
 */
int numbers_are_host(uint64_t word);

/* Whether the word, or the word shifted, is an address in memory that is known. */
int numbers_may_lead(uint64_t word);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays that the program gives a call. The driver may refuse the call without ever looking at them, so they may not be
 * there: what is read before the driver has the call has to be asked about first.
 */
#ifndef PTDS_PROGRAM_ARRAY_H
#define PTDS_PROGRAM_ARRAY_H

#include <stddef.h>
#include <stdint.h>

/* Whether an array of pointers, or a structure with some, may lie there, by the address alone: for calls that are too
 * frequent to ask more. */
static inline int program_array_may_be(const void *array)
{
    const uint64_t page = 4096, end = UINT64_C(1) << 47;
    uint64_t address = (uint64_t)(uintptr_t)array;
    return ((address >> 3) | (address << 61)) - page / 8 < (end - page) / 8;
}

/* Whether `count` elements of `element` bytes each can be read; 0 for an array of more than 64 MiB, which no driver takes.
 * One system call for some pages each; keeps errno. */
int program_array_is_readable(const void *array, size_t element, size_t count);

#endif

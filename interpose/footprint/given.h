/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays that the program gives a call. The driver may refuse the call without ever looking at them, so they may not be
 * there: what is read before the driver has the call has to be asked about first.
 */
#ifndef PTDS_GIVEN_H
#define PTDS_GIVEN_H

#include <stddef.h>
#include <stdint.h>

/* Whether that may be an array of pointers, or a structure with some, by its address alone: for calls that are too frequent
 * to ask more. */
static inline int given_may_be(const void *given)
{
    const uint64_t page = 4096, end = UINT64_C(1) << 47;
    uint64_t address = (uint64_t)(uintptr_t)given;
    return ((address >> 3) | (address << 61)) - page / 8 < (end - page) / 8;
}

/* Whether `count` elements can be read. Of more than any driver takes none can. A system call for some pages each; keeps
 * errno. */
int given_list(const void *list, size_t element, size_t count);

#endif

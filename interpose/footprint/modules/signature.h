/* SPDX-License-Identifier: Apache-2.0
 *
 * What a kernel's mangled name says of its parameters.
 */
#ifndef PTDS_SIGNATURE_H
#define PTDS_SIGNATURE_H

#include <stdint.h>

enum { SIGNATURE_MOST = 128 };

enum signature_flag {
    SIGNATURE_READS = 1,  /* a pointer to const: nothing is written through it */
    SIGNATURE_POINTS = 2, /* what it points to may hold pointers: it is itself a pointer, or a class */
    SIGNATURE_UNKNOWN = 4 /* pointers of unknown types may lie in it: a class by value; any, without a name */
};

/* Fills in the flags of each parameter. Returns their number; -1: the name is not mangled, not understood in full, or there
 * is no memory. */
int signature_of(const char *name, uint8_t flags[SIGNATURE_MOST]);

/* Reads a function's name and its parameters at the parser's place, for names inside others. Returns the number of
 * parameters, -1 if it is not understood. flags: filled in; NULL: not wanted. outermost: it is the whole name. */
struct mangled_parser;
int signature_read(struct mangled_parser *p, uint8_t *flags, int outermost);

#endif

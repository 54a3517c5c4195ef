/* SPDX-License-Identifier: Apache-2.0
 *
 * Types in a mangled name.
 */
#ifndef PTDS_MANGLED_TYPES_H
#define PTDS_MANGLED_TYPES_H

#include "interpose/footprint/modules/mangled_parser.h"

/* Reads one type at the parser's place. Its number; 0: it is not understood. */
unsigned mangled_types_read(struct mangled_parser *p);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Names, files and lines of Python functions, from the interpreter's objects. For python*.c alone.
 */
#ifndef PTDS_PYTHON_CODE_H
#define PTDS_PYTHON_CODE_H

#include "interpose/record/stacks/python_layout.h"

/* The SOURCE of a place in a function, as the pc of a stack; 0: what lies there is no function's code, UINT64_MAX: it is
 * code that the interpreter made for itself. Defines it the first time. Reads nothing but by peek(). */
uint64_t python_code_source(const struct python_layout *layout, uint64_t code, uint64_t instr);

/* The line of the instruction `offset` bytes after the first one, by the function's own table; 0: it does not say. */
int python_code_line(uint64_t table, uint64_t bytes, int first, uint64_t offset);

/* Text as UTF-8, cut off where there is no more room; 0: it is no text. */
int python_code_text(const struct python_layout *layout, uint64_t text, char *out, size_t room);

void python_code_after_fork(void);

#endif

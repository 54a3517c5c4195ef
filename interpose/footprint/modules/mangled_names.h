/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of classes and functions in a mangled name. Each function reads one thing at the parser's place, and returns its
 * number among the types; 0: it is not understood.
 */
#ifndef PTDS_MANGLED_NAMES_H
#define PTDS_MANGLED_NAMES_H

#include "interpose/footprint/modules/mangled_parser.h"

/* The name of a class, or with `function` of a function. *templated: its last part has arguments. */
unsigned mangled_names_read(struct mangled_parser *p, int function, int *templated);

/* S_, S0_, St, ...: a part of the name that was there before, or a part of std. */
unsigned mangled_names_substitution(struct mangled_parser *p);

/* T_, T0_, ...: a template argument of the function. */
unsigned mangled_names_template_parameter(struct mangled_parser *p);

#endif

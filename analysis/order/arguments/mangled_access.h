/* SPDX-License-Identifier: Apache-2.0
 *
 * The parameters of a kernel, from its mangled C++ name: for traces that do not have what its code says.
 */
#ifndef PTDS_ANALYSIS_ORDER_ARGUMENTS_MANGLED_ACCESS_H
#define PTDS_ANALYSIS_ORDER_ARGUMENTS_MANGLED_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum mangled_parameter {
    MANGLED_OTHER,           /* no pointer, or a class that may hold some */
    MANGLED_POINTER,         /* T * */
    MANGLED_CONST_POINTER,   /* const T * */
    MANGLED_POINTER_POINTER, /* T ** and deeper: what it leads to is not named by the launch */
};

/* How many parameters the name declares, each one's kind in `kinds`; -1 where any part of it is not surely understood (no
 * C++ name, more than `most`). */
int mangled_access_parameters(const char *name, uint8_t *kinds, uint32_t most);

#ifdef __cplusplus
}
#endif
#endif

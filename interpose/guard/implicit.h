/* SPDX-License-Identifier: Apache-2.0
 *
 * The asynchronous forms of calls whose stream is implicit.
 */
#ifndef PTDS_IMPLICIT_H
#define PTDS_IMPLICIT_H

#include <stdint.h>

/* 1 if this driver has the form that stands for the call on a named stream. */
int implicit_has_async_form(uint16_t api);

#endif

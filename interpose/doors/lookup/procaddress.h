/* SPDX-License-Identifier: Apache-2.0
 *
 * cuGetProcAddress's door.
 */
#ifndef PTDS_PROCADDRESS_H
#define PTDS_PROCADDRESS_H

#include "interpose/state/call.h"

/* After a cuGetProcAddress call that asked for `symbol`: replaces *function, the driver's answer, by the program's. */
void procaddress_answer(struct call *C, const char *symbol, void **function, int cuda_version, cuuint64_t flags);

#endif

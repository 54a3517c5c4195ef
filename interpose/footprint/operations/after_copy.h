/* SPDX-License-Identifier: Apache-2.0
 *
 * Which pointers lie in the destination of a copy or memset from now on. api.def's column `after`.
 */
#ifndef PTDS_AFTER_COPY_H
#define PTDS_AFTER_COPY_H

#include "interpose/state/call.h"

/* After the copy or memset, by what it touched. The host's bytes that it copied must be readable still. Takes the tables'
 * lock (pointers/pointer_tables.h). */
void after_copy_slow(struct call *C);
static inline void after_copy(struct call *C)
{
    if ((C->touched.count || C->touched.opaque) && C->result == CUDA_SUCCESS)
        after_copy_slow(C);
}

#endif

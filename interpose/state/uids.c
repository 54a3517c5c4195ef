/* SPDX-License-Identifier: Apache-2.0
 *
 * Counts uids. Called where an object is seen first, by any thread. Must not lock.
 */
#include "interpose/state/uids.h"

static uint32_t last[OBJECT_KINDS];

uint32_t uids_next(enum object_kind kind)
{
    return __atomic_add_fetch(&last[kind], 1, __ATOMIC_RELAXED);
}

uint32_t uids_last(enum object_kind kind)
{
    return __atomic_load_n(&last[kind], __ATOMIC_RELAXED);
}

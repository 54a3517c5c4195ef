/* SPDX-License-Identifier: Apache-2.0
 *
 * A memory of the device as the guard sees it, for tests that have no driver to allocate one.
 */
#ifndef PTDS_TESTS_GUARD_MEMORY_H
#define PTDS_TESTS_GUARD_MEMORY_H

extern "C" {
#include "interpose/state/touched.h"
}

inline struct memory make_memory(uint32_t uid)
{
    struct memory memory = {};
    memory.base = 0x7f0000000000 + uid * 0x10000;
    memory.bytes = 0x1000;
    memory.uid = uid;
    return memory;
}

#endif

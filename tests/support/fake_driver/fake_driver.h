/* SPDX-License-Identifier: Apache-2.0
 *
 * A driver library that the shim has never seen: every row of the table and its twin, each of which notes which entry was
 * reached with which stream, and answers success. It knows nothing of streams' semantics; tests/sim does.
 *
 * Environment: FAKE_LOG a file that gets a line for every call and look-up; FAKE_ERRNO what each call leaves in errno
 * (unset: nothing); FAKE_RESULT what each call of a function with a twin returns;
 * FAKE_NO_EVENTS: no event can be made;
 * FAKE_PENDING: streams have work that is not done, and unless it says "streams" it is before their events too.
 */
#ifndef PTDS_TESTS_FAKE_DRIVER_H
#define PTDS_TESTS_FAKE_DRIVER_H

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

extern "C" {
#include "interpose/api/api.h"

struct fake_entry {
    const char *symbol; /* the exported name that was entered */
    int streams;        /* how many of stream[] it was given */
    CUstream stream[2]; /* as passed, also inside a struct */
    CUevent event;      /* the event argument */
};

/* What was entered since the last time, oldest first. Only while a capture is open also the driver's queries that are no
 * rows of the table: they would invalidate it. */
size_t fake_log_take(struct fake_entry *out, size_t most);

/* The driver's own function of that name, past everybody's hooks. */
void *fake_address(const char *symbol);
}

/* Addresses of device memory, which are numbers only, and of pinned host memory begin here. */
constexpr uint64_t FAKE_DEVICE_MEMORY = 0xd00000000;
constexpr uint64_t FAKE_PINNED_MEMORY = 0xb00000000;

#endif

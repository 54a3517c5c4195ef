/* SPDX-License-Identifier: Apache-2.0
 *
 * Changes traces as fuzzing wants them changed: records stay records and chunks stay chunks, so that what is changed is
 * what they say. One in eight is damaged instead, wherever. What is made of the same bytes and seed is the same.
 */
#ifndef PTDS_TESTS_ANALYSIS_TRACE_MUTATOR_H
#define PTDS_TESTS_ANALYSIS_TRACE_MUTATOR_H

#include <cstddef>
#include <cstdint>

namespace ptds
{

/* Changes bytes in place without regard to what they mean; returns the new size, at most `room`. libFuzzer has one. */
using Damage = size_t (*)(uint8_t *bytes, size_t size, size_t room);

/* Returns the new size, at most `room`. */
size_t MutateTrace(uint8_t *bytes, size_t size, size_t room, unsigned seed, Damage damage);

/* The first trace with records or a chunk of the second. 0: it would have no room, or one of them is none. */
size_t CrossTraces(const uint8_t *one, size_t one_size, const uint8_t *two, size_t two_size, uint8_t *out, size_t room,
                   unsigned seed);

} // namespace ptds

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * The streams of programs over two threads, for what tries every program up to a length.
 */
#ifndef PTDS_TESTS_GUARD_TWO_THREADS_H
#define PTDS_TESTS_GUARD_TWO_THREADS_H

namespace ptds_test
{

/* Indices into the streams that World::add_domain makes for two threads. */
enum { kZero0, kPerThread0, kZero1, kPerThread1, kBlocking0, kBlocking1, kNonBlocking0, kNonBlocking1, kStreams };

/* Of two that differ by name alone the first comes first; `used`: a bit a stream. */
inline bool in_turn(int stream, unsigned used)
{
    switch (stream) {
    case kZero1:
    case kPerThread1: return used & (1u << kZero0 | 1u << kPerThread0);
    case kBlocking1: return used >> kBlocking0 & 1;
    case kNonBlocking1: return used >> kNonBlocking0 & 1;
    default: return true;
    }
}

} // namespace ptds_test

#endif

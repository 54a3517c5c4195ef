// SPDX-License-Identifier: Apache-2.0
//
// Draws a kernel k(pointer, n, m, w, log) by its seed: numbers of 32 and 64 bits made of thread and block numbers and of
// n, m and w, in ways that may pass the ends of 32 bits; comparisons, signed and unsigned; branches; loops up and down,
// with the test before or behind, of which some have none that helps; and accesses.
#ifndef PTDS_TESTS_CODE_EXTENTS_RANDOM_H
#define PTDS_TESTS_CODE_EXTENTS_RANDOM_H

#include <cstdint>
#include <random>
#include <string>
#include <vector>

struct RandomAccess {
    int offset, bytes;
};

struct RandomKernel {
    unsigned seed;
    std::string text;
    uint64_t pointer, w;
    uint32_t n, m;
    uint32_t threads[3], blocks[3];
    std::vector<RandomAccess> accesses;
};

RandomKernel DrawKernel(unsigned seed);

#endif

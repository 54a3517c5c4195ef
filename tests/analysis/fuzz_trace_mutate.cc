// SPDX-License-Identifier: Apache-2.0
//
// How libFuzzer changes traces.
#include "tests/analysis/fuzz.h"

#include "tests/analysis/trace_mutator.h"

extern "C" {
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t room);

__attribute__((visibility("default"))) size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t room,
                                                                      unsigned seed)
{
    return ptds::MutateTrace(bytes, size, room, seed, LLVMFuzzerMutate);
}

__attribute__((visibility("default"))) size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t one_size,
                                                                        const uint8_t *two, size_t two_size, uint8_t *out,
                                                                        size_t room, unsigned seed)
{
    return ptds::CrossTraces(one, one_size, two, two_size, out, room, seed);
}
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * What libFuzzer calls, and fuzz_seeds_test with the seeds. Nothing may crash, hang, or grow.
 */
#ifndef PTDS_TESTS_ANALYSIS_FUZZ_H
#define PTDS_TESTS_ANALYSIS_FUZZ_H

#include <cstddef>
#include <cstdint>

extern "C" __attribute__((visibility("default"))) int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases that nothing orders, not even the default stream: R-c, R-d. The wrong value is what they are right about: a gate
 * makes the race end the same way every time. Run by kit.c.
 */
#include "tests/kit/kit.h"

/* Computed on a non-blocking stream, copied to the host on the default stream. */
void kit_R_c(void)
{
    CUstream compute = kit_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr result = kit_words(1);
    uint32_t *landing = kit_pinned(0), *gate = kit_gate(compute);
    kit_fill(compute, result, 5);
    CU(cuMemcpyDtoH(landing, result, KIT_BYTES));
    kit_is("the copy did not wait", !kit_is_open(gate));
    kit_is("the copy has the old value", landing[0] == 1 && landing[KIT_WORDS - 1] == 1);
    kit_open(gate);
    CU(cuStreamSynchronize(compute));
    kit_check("the result in the end", result, 5);
}

/* A copy of pageable memory returns before the bytes are there; the reader's stream is non-blocking. */
void kit_R_d(void)
{
    CUstream reader = kit_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr input = kit_words(1), copy = kit_words(0);
    uint32_t pageable[KIT_WORDS], *gate = kit_gate(NULL);
    for (unsigned i = 0; i < KIT_WORDS; i++)
        pageable[i] = 5;
    CU(cuMemcpyHtoDAsync(input, pageable, KIT_BYTES, NULL));
    kit_copy(reader, copy, input);
    CU(cuStreamSynchronize(reader));
    kit_is("the copy returned before the gate was open", !kit_is_open(gate));
    kit_open(gate);
    kit_all_done();
    kit_check("what the reader saw", copy, 1);
    kit_check("the input in the end", input, 5);
}

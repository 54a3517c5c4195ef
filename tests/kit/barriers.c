/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases where the default stream stands between streams that have nothing to do with each other (S1, S9, S19), and where it
 * stands between streams that rely on it (R-b, R-e, R-q). Run by kit.c; only the gates decide what has run when.
 */
#include "tests/kit/kit.h"

/* Two streams of the program's, each with data of its own; between them somebody clears a buffer on the default stream. */
void kit_S1(void)
{
    CUstream a = kit_stream(CU_STREAM_DEFAULT), b = kit_stream(CU_STREAM_DEFAULT);
    CUdeviceptr left = kit_words(10), right = kit_words(20), scratch = kit_words(0);
    uint32_t *gate = kit_gate(a);
    kit_add_one(a, left);
    kit_fill(NULL, scratch, 7);
    kit_add_one(b, right);
    kit_open(gate);
    kit_all_done();
    kit_check("left", left, 11);
    kit_check("right", right, 21);
    kit_check("scratch", scratch, 7);
}

/* A stream that was meant to run beside everything else, but was created without CU_STREAM_NON_BLOCKING. */
void kit_S9(void)
{
    CUstream side = kit_stream(CU_STREAM_DEFAULT);
    CUdeviceptr x = kit_words(1), y = kit_words(2);
    uint32_t *gate = kit_gate(side);
    kit_add_one(side, x);
    kit_add_one(NULL, y);
    kit_open(gate);
    kit_all_done();
    kit_check("on the side", x, 2);
    kit_check("on the default stream", y, 3);
}

/* The caller passes its stream to a library, which clears its scratch memory elsewhere: on the default stream. */
void kit_S19(void)
{
    const struct kit_library *library = kit_library();
    CUstream users = kit_stream(CU_STREAM_DEFAULT);
    CUdeviceptr x = kit_words(1), y = kit_words(5), scratch = kit_words(0);
    uint32_t *gate = kit_gate(users);
    kit_add_one(users, x);
    library->helper(kit_add_one_function(), y, scratch, KIT_WORDS, users);
    kit_open(gate);
    kit_all_done();
    kit_check("the user's", x, 2);
    kit_check("the library's", y, 6);
    kit_check("scratch", scratch, 3);
}

/* Two groups each fill a part; an empty kernel on the default stream joins them; then each reads the other's part. */
void kit_R_b(void)
{
    CUstream a = kit_stream(CU_STREAM_DEFAULT), b = kit_stream(CU_STREAM_DEFAULT);
    CUdeviceptr part_a = kit_words(0), part_b = kit_words(0), out_a = kit_words(0), out_b = kit_words(0);
    uint32_t *gate_a = kit_gate(a), *gate_b = kit_gate(b);
    kit_fill(a, part_a, 3);
    kit_fill(b, part_b, 4);
    CU(kit_empty(NULL));
    kit_copy(a, out_a, part_b);
    kit_copy(b, out_b, part_a);
    kit_open_soon(gate_a);
    kit_open_soon(gate_b);
    kit_all_done();
    kit_check("a's copy of b's part", out_a, 4);
    kit_check("b's copy of a's part", out_b, 3);
}

/* A block goes back to an arena while a kernel on the compute (default) stream still reads it; the copy stream gets it. */
void kit_R_e(void)
{
    CUstream copies = kit_stream(CU_STREAM_DEFAULT);
    CUdeviceptr block = kit_words(1), result = kit_words(0);
    uint32_t *next = kit_pinned(2), *gate = kit_gate(NULL);
    kit_copy(NULL, result, block);
    CU(cuMemcpyHtoDAsync(block, next, KIT_BYTES, copies));
    kit_open_soon(gate);
    kit_all_done();
    kit_check("what compute read", result, 1);
    kit_check("the block", block, 2);
}

/* Waiting for a blocking stream also waits for default-stream work that its own work came after. */
void kit_R_q(void)
{
    CUstream waited = kit_stream(CU_STREAM_DEFAULT), reader = kit_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr data = kit_words(0), other = kit_words(0), copy = kit_words(0);
    uint32_t *gate = kit_gate(NULL);
    kit_fill(NULL, data, 5);
    kit_add_one(waited, other);
    kit_open_soon(gate);
    CU(cuStreamSynchronize(waited));
    kit_is("the gate is open when the wait returns", kit_is_open(gate));
    kit_copy(reader, copy, data);
    kit_all_done();
    kit_check("the reader's copy", copy, 5);
}

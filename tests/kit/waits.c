/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases where the host waits for more than it needs, or without having asked to: S2, S3, S10, S11, S14, R-j. Run by kit.c.
 * A call that must be seen to wait is made with a gate closed that another thread opens a little later.
 */
#include "tests/kit/kernels.ptx.h"
#include "tests/kit/kit.h"

/* Thread 0 owns a stream that takes long; thread 1 works on the default stream and, because that is the default stream,
 * waits for the whole device. */
static struct {
    CUstream busy;
    CUdeviceptr theirs, mine;
    uint32_t *gate, *landing;
    uint32_t seen;
} s2;

static void s2_owner(void)
{
    kit_turn(0);
    s2.gate = kit_gate(s2.busy);
    kit_add_one(s2.busy, s2.theirs);
    kit_next();
    kit_turn(2);
    CU(cuStreamSynchronize(s2.busy));
}

static void s2_waiter(void)
{
    kit_turn(1);
    kit_add_one(NULL, s2.mine);
    kit_open_soon(s2.gate);
    CU(cuCtxSynchronize());
    kit_is("the gate is open when the wait returns", kit_is_open(s2.gate));
    CU(cuMemcpyDtoHAsync(s2.landing, s2.mine, KIT_BYTES, NULL));
    CU(cuStreamSynchronize(NULL));
    kit_next();
}

static void s2_thread(unsigned index, void *unused)
{
    (void)unused;
    if (index == 0)
        s2_owner();
    else
        s2_waiter();
}

void kit_S2(void)
{
    s2.busy = kit_stream(CU_STREAM_NON_BLOCKING);
    s2.theirs = kit_words(1);
    s2.mine = kit_words(5);
    s2.landing = kit_pinned(0);
    kit_threads(2, s2_thread);
    kit_is("what the waiter read", s2.landing[0] == 6);
    kit_check("the other thread's", s2.theirs, 2);
}

/* A library's filter has a stream of its own, and waits for the whole device all the same. */
void kit_S3(void)
{
    const struct kit_library *library = kit_library();
    CUstream users = kit_stream(CU_STREAM_NON_BLOCKING), filters = kit_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr frame = kit_words(1), filtered = kit_words(2);
    uint32_t *landing = kit_pinned(0), *gate = kit_gate(users);
    kit_add_one(users, frame);
    kit_open_soon(gate);
    library->filter(kit_add_one_function(), filtered, KIT_WORDS, filters);
    kit_is("the gate is open when the filter returns", kit_is_open(gate));
    CU(cuMemcpyDtoHAsync(landing, filtered, KIT_BYTES, filters));
    CU(cuStreamSynchronize(filters));
    CU(cuStreamSynchronize(users));
    kit_is("what the filter made", landing[0] == 3);
    kit_check("the user's", frame, 2);
}

/* Four bytes to a variable on the stack, asked for as an asynchronous copy; and a large one that really is. */
void kit_S10(void)
{
    CUstream stream = kit_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr x = kit_words(8), y = kit_words(9);
    uint32_t *landing = kit_pinned(0), scalar = 0;
    uint32_t *gate = kit_gate(stream);
    kit_add_one(stream, x);
    kit_open_soon(gate);
    CU(cuMemcpyDtoHAsync(&scalar, x, sizeof scalar, stream));
    kit_is("the gate is open when the copy returns", kit_is_open(gate));
    kit_is("the scalar", scalar == 9);
    gate = kit_gate(stream);
    CU(cuMemcpyDtoHAsync(landing, y, KIT_BYTES, stream));
    kit_is("the gate is closed when the large copy returns", !kit_is_open(gate));
    kit_open(gate);
    CU(cuStreamSynchronize(stream));
    kit_is("the large copy", landing[KIT_WORDS - 1] == 9);
}

/* A kernel that ends only when it is told to, and a thread that frees something else meanwhile. */
void kit_S11(void)
{
    CUstream stream = kit_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr work = kit_words(1), unrelated = kit_words(2);
    uint32_t *persistent = kit_gate(stream);
    kit_add_one(stream, work);
    kit_open_soon(persistent);
    CU(cuMemFree(unrelated));
    kit_is("the kernel was told to end when the free returns", kit_is_open(persistent));
    CU(cuStreamSynchronize(stream));
    kit_check("its work", work, 2);
}

/* Freeing memory as a barrier: nothing else puts the reader's stream after the writer's. */
void kit_R_j(void)
{
    CUstream writer = kit_stream(CU_STREAM_NON_BLOCKING), reader = kit_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr data = kit_words(0), copy = kit_words(0), temporary = kit_words(0);
    uint32_t *gate = kit_gate(writer);
    kit_fill(writer, data, 5);
    kit_open_soon(gate);
    CU(cuMemFree(temporary));
    kit_is("the gate is open when the free returns", kit_is_open(gate));
    kit_copy(reader, copy, data);
    kit_all_done();
    kit_check("the reader's copy", copy, 5);
}

/* Thread 0 loads a module while a kernel runs; thread 1 has a stream and data of its own and wants to copy. */
enum { S14_ROUNDS = 3 };
static struct {
    CUdeviceptr x, y;
    CUstream busy, own;
    uint32_t *gate, *source;
} s14;

static void s14_loader(unsigned round)
{
    CUmodule late;
    CUfunction f;
    kit_turn(2 * round);
    s14.gate = kit_gate(s14.busy);
    kit_add_one(s14.busy, s14.x);
    kit_open_soon(s14.gate);
    kit_next();
    CU(cuModuleLoadData(&late, kit_late_ptx));
    kit_is("the gate is open when the load returns", kit_is_open(s14.gate));
    CU(cuModuleGetFunction(&f, late, KIT_EMPTY));
    CU(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s14.busy, NULL, NULL));
    CU(cuStreamSynchronize(s14.busy));
}

static void s14_copy(void)
{
    CU(cuMemcpyHtoDAsync(s14.y, s14.source, KIT_BYTES, s14.own));
}

static void s14_victim(unsigned round)
{
    kit_turn(2 * round + 1);
    while (!kit_is_open(s14.gate)) {
        s14_copy();
        app_sleep_ms(1);
    }
    CU(cuStreamSynchronize(s14.own));
    kit_next();
}

static void s14_thread(unsigned index, void *unused)
{
    (void)unused;
    for (unsigned round = 0; round < S14_ROUNDS; round++) {
        if (index == 0)
            s14_loader(round);
        else
            s14_victim(round);
    }
}

void kit_S14(void)
{
    s14.busy = kit_stream(CU_STREAM_NON_BLOCKING);
    s14.own = kit_stream(CU_STREAM_NON_BLOCKING);
    s14.x = kit_words(1);
    s14.y = kit_words(0);
    s14.source = kit_pinned(4);
    for (unsigned i = 0; i < 20; i++) /* what a copy takes when nobody loads */
        s14_copy();
    CU(cuStreamSynchronize(s14.own));
    kit_threads(2, s14_thread);
    kit_check("the loader's", s14.x, 1 + S14_ROUNDS);
    kit_check("the other thread's", s14.y, 4);
}

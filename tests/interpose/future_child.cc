/* SPDX-License-Identifier: Apache-2.0
 *
 * A program for a simulated driver that has functions which the shim does not know (tests/sim/invented.def), and says in
 * lines what came of it, WRONG where that is not what the driver alone gives.
 *
 *     future_child dlsym WHERE     on which stream the unknown function is called, with work of the default stream
 *                                  before and after it; default: found by dlsym of RTLD_DEFAULT, proc: cuGetProcAddress
 *     future_child many            asks for more of them than there is room for, and calls all
 *     future_child threads         several threads at once, with streams that come and go, and captures
 */
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <ucontext.h>
#include <vector>

#include "tests/conformance/tables.ptx.h"
#include "tests/interpose/future.h"

namespace
{

using Mix = CUresult(CUdeviceptr, CUdeviceptr, size_t, float, double, unsigned, unsigned long long, double, float, double,
                     double, double, double, double, float, unsigned, unsigned, CUstream, unsigned);
using Nothing = CUresult(CUstream);

Mix *mix, *mix_twin;

/* All sixteen numbers are passed right where the sum is. */
const unsigned sum = 1 + 2 * 2 + 3 * 3 + 4 * 4 + 5 * 5 + 6 * 6 + 7 * 7 + 8 * 8 + 9 * 9 + 10 * 10 + 11 * 11 + 12 * 12 +
                     13 * 13 + 14 * 14 + 15 * 15;

void call(Mix *function, CUstream stream)
{
    errno = 77;
    CU(function(dst, src, WORDS, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, stream, 15));
    if (errno != 77)
        printf("WRONG: errno %d\n", errno);
}

void expect(const char *what, unsigned value)
{
    std::vector<unsigned> words(WORDS + 1);
    CU(cuMemcpyDtoH(words.data(), out, (WORDS + 1) * sizeof(unsigned)));
    expect_words(what, words, value);
    if (words[WORDS] != sum)
        printf("WRONG: %s: the sum of the arguments is %u, not %u\n", what, words[WORDS], sum);
}

/* The default stream before it, in another thread, too. */
void before(Mix *function, CUstream stream, CUevent joins, bool in_thread)
{
    auto fill = [] {
        slow(nullptr);
        CU(cuMemsetD32Async(src, 5, WORDS, nullptr));
    };
    reset();
    if (in_thread)
        std::thread([&] {
            CU(cuCtxSetCurrent(context));
            fill();
        }).join();
    else
        fill();
    if (joins) {
        CU(cuEventRecord(joins, nullptr));
        CU(cuStreamWaitEvent(stream, joins, 0));
    }
    call(function, stream);
    if (joins) {
        CU(cuEventRecord(joins, stream));
        CU(cuStreamWaitEvent(nullptr, joins, 0));
    }
    CU(cuMemcpyDtoDAsync(out, dst, (WORDS + 1) * sizeof(unsigned), nullptr));
    CU(cuStreamSynchronize(nullptr));
    expect(in_thread ? "after another thread's work" : "after work", 5);
}

/* And after it: what it does comes late, since its stream is busy. */
void after(Mix *function, CUstream stream, CUevent joins, bool in_thread)
{
    auto copy = [] {
        CU(cuMemcpyDtoDAsync(out, dst, (WORDS + 1) * sizeof(unsigned), nullptr));
        CU(cuStreamSynchronize(nullptr));
    };
    reset();
    for (int i = 0; i < 3; i++) /* so that the guard knows these for what the thread does all the time */
        copy();
    slow(stream);
    call(function, stream);
    if (joins) {
        CU(cuEventRecord(joins, stream));
        CU(cuStreamWaitEvent(nullptr, joins, 0));
    }
    if (in_thread)
        std::thread([&] {
            CU(cuCtxSetCurrent(context));
            copy();
        }).join();
    else
        copy();
    expect(in_thread ? "before another thread's work" : "before work", 1);
}

/* A host that waits for the default stream has waited for the call's work, too: it reads what that wrote. */
void then_host(Mix *function, CUstream stream)
{
    std::vector<unsigned> words(WORDS);
    CUdeviceptr kept = dst;
    void *pinned;
    CU(cuMemHostAlloc(&pinned, (WORDS + 1) * sizeof(unsigned), CU_MEMHOSTALLOC_DEVICEMAP));
    memset(pinned, 0, (WORDS + 1) * sizeof(unsigned));
    reset();
    CU(cuMemHostGetDevicePointer(&dst, pinned, 0));
    slow(stream);
    call(function, stream);
    CU(cuStreamSynchronize(nullptr));
    memcpy(words.data(), pinned, WORDS * sizeof(unsigned));
    expect_words("before the host's wait", words, 1);
    dst = kept;
    CU(cuMemFreeHost(pinned));
}

/* It records an event that another record was known of: who waits for it waits for what nobody knows. */
void records(CUstream stream, CUevent event)
{
    auto *record = reinterpret_cast<CUresult (*)(CUevent, CUstream)>(ask("dlsym", "cuFutureRecord", false));
    std::vector<unsigned> words(WORDS);
    reset();
    CU(cuEventRecord(event, nullptr));
    slow(stream);
    CU(cuMemsetD32Async(dst, 4, WORDS, stream));
    CU(record(event, stream));
    CU(cuStreamWaitEvent(nullptr, event, 0));
    std::thread([&] {
        CU(cuCtxSetCurrent(context));
        CU(cuMemcpyDtoDAsync(out, dst, WORDS * sizeof(unsigned), nullptr));
        CU(cuMemcpyDtoH(words.data(), out, WORDS * sizeof(unsigned)));
    }).join();
    expect_words("behind an event", words, 4);
}

/* Near the very end of a stack, behind which nothing may be read. */
ucontext_t back, coroutine;

void on_coroutine()
{
    call(mix, nullptr);
}

void at_edge()
{
    enum { PAGES = 16, PAGE = 4096 };
    auto *stack =
        static_cast<char *>(mmap(nullptr, (PAGES + 1) * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(stack + PAGES * PAGE, PAGE, PROT_NONE);
    reset();
    getcontext(&coroutine);
    coroutine.uc_stack.ss_sp = stack;
    coroutine.uc_stack.ss_size = PAGES * PAGE;
    coroutine.uc_link = &back;
    makecontext(&coroutine, on_coroutine, 0);
    swapcontext(&back, &coroutine);
    CU(cuMemcpyDtoDAsync(out, dst, (WORDS + 1) * sizeof(unsigned), nullptr));
    expect("at the end of a stack", 1);
}

/* In a capture it becomes a node, and the capture ends well. */
void captured(CUstream stream)
{
    CUgraph graph;
    CUgraphExec exec;
    reset();
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    call(mix, stream);
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    slow(nullptr);
    CU(cuMemsetD32Async(src, 6, WORDS, nullptr));
    CU(cuGraphLaunch(exec, nullptr));
    CU(cuMemcpyDtoDAsync(out, dst, (WORDS + 1) * sizeof(unsigned), nullptr));
    CU(cuStreamSynchronize(nullptr));
    expect("captured", 6);
    /* and beside one */
    CUstream other;
    CU(cuStreamCreate(&other, CU_STREAM_DEFAULT));
    reset();
    slow(other);
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    call(mix, other);
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuMemcpyDtoDAsync(out, dst, (WORDS + 1) * sizeof(unsigned), nullptr));
    CU(cuStreamSynchronize(nullptr));
    expect("beside a capture", 1);
    reset();
    slow(CU_STREAM_PER_THREAD);
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    call(mix, CU_STREAM_PER_THREAD);
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuMemcpyDtoDAsync(out, dst, (WORDS + 1) * sizeof(unsigned), nullptr));
    CU(cuStreamSynchronize(nullptr));
    expect("on the thread's own stream beside a capture", 1);
}

/* On a stream that nobody has seen at work, beside a capture in which the legacy stream can't stand for it. */
void first_beside_capture(CUstream captures, CUstream first)
{
    CUgraph graph;
    reset();
    slow(nullptr);
    CU(cuMemsetD32Async(src, 5, WORDS, nullptr));
    CU(cuStreamBeginCapture(captures, CU_STREAM_CAPTURE_MODE_RELAXED));
    std::thread([=] {
        CU(cuCtxSetCurrent(context));
        call(mix, first);
    }).join();
    CU(cuStreamEndCapture(captures, &graph));
    CU(cuCtxSynchronize());
    CU(cuMemcpyDtoDAsync(out, dst, (WORDS + 1) * sizeof(unsigned), nullptr));
    expect("beside a capture, as the stream's first work", 5);
}

void around(Mix *function, CUstream stream, CUevent joins)
{
    before(function, stream, joins, false);
    before(function, stream, joins, true);
    after(function, stream, joins, false);
    after(function, stream, joins, true);
    if (!joins)
        then_host(function, stream);
}

/* It brings a pointer that nobody has seen to where a kernel finds its memory. */
void brings_pointers(CUstream stream)
{
    CUmodule tables;
    CUfunction gather;
    CUdeviceptr table, moved, other, kept[] = {dst, src};
    unsigned one = 1, count = WORDS, word = 0;
    void *params[] = {&out, &table, &one, &count};
    CU(cuModuleLoadData(&tables, ptds_tables_ptx));
    CU(cuModuleGetFunction(&gather, tables, "gather"));
    reset();
    for (CUdeviceptr *memory : {&table, &moved, &other}) {
        CU(cuMemAlloc(memory, (WORDS + 1) * sizeof(unsigned)));
        CU(cuMemsetD32(*memory, 0, WORDS + 1));
    }
    CU(cuMemcpyHtoD(table, &src, sizeof src));
    CU(cuMemcpyHtoD(moved, &other, sizeof other));
    CU(cuLaunchKernel(gather, 1, 1, 1, WORDS, 1, 1, 0, nullptr, params, nullptr));
    dst = table, src = moved;
    call(mix, stream);
    dst = kept[0], src = kept[1];
    CU(cuStreamSynchronize(stream));
    in_other_thread(other, 6);
    CU(cuLaunchKernel(gather, 1, 1, 1, WORDS, 1, 1, 0, nullptr, params, nullptr));
    CU(cuMemcpyDtoH(&word, out, sizeof word));
    if (word != 6)
        printf("WRONG: through a pointer: %u, not 6\n", word);
}

int where(const std::string &which)
{
    CUstream blocking, free_running, unused;
    CUevent event;
    CU(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    CU(cuStreamCreate(&unused, CU_STREAM_DEFAULT));
    CU(cuStreamCreate(&free_running, CU_STREAM_NON_BLOCKING));
    CU(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    if (which == "blocking")
        around(mix, blocking, nullptr);
    else if (which == "twin")
        around(mix_twin, blocking, nullptr);
    else if (which == "free")
        around(mix, free_running, event);
    else if (which == "legacy")
        around(mix, nullptr, nullptr);
    else if (which == "own")
        around(mix, CU_STREAM_PER_THREAD, nullptr);
    else if (which == "event")
        records(free_running, event);
    else if (which == "pointers")
        brings_pointers(blocking);
    else if (which == "edge")
        at_edge();
    else if (which == "captured")
        captured(blocking);
    else if (which == "beside") {
        first_beside_capture(blocking, unused);
        first_beside_capture(blocking, CU_STREAM_PER_THREAD);
    } else if (which == "error")
        printf("%d\n", mix(0, 0, WORDS, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, blocking, 15));
    else
        return 2;
    return 0;
}

int many()
{
    int called = 0;
    for (int i = 0; i < 40; i++)
        for (bool twin : {false, true}) {
            const std::string name = "cuFutureNothing" + std::to_string(i / 10) + std::to_string(i % 10);
            auto *function = reinterpret_cast<Nothing *>(ask("proc", name.c_str(), twin));
            for (int times = 0; times <= i % 2; times++, called++)
                CU(function(nullptr));
        }
    printf("%d calls\n", called);
    return 0;
}

/* Other threads' streams come, capture and go while one calls. */
int threads()
{
    std::atomic<bool> ends{false};
    std::vector<std::thread> others;
    for (unsigned kind : {CU_STREAM_DEFAULT, CU_STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING})
        others.emplace_back([&ends, kind] {
            CU(cuCtxSetCurrent(context));
            while (!ends) {
                CUstream stream;
                CUgraph graph;
                CU(cuStreamCreate(&stream, kind));
                if (kind == CU_STREAM_NON_BLOCKING) {
                    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
                    CU(cuMemsetD32Async(out, 1, 1, stream));
                    CU(cuStreamEndCapture(stream, &graph));
                    CU(cuGraphDestroy(graph));
                }
                CU(cuMemsetD32Async(out, 1, 1, stream));
                CU(cuStreamDestroy(stream));
                usleep(200); /* streams that are gone are found out about where no capture is open */
            }
        });
    for (int i = 0; i < 500; i++)
        call(mix, nullptr);
    ends = true;
    for (std::thread &other : others)
        other.join();
    return 0;
}

} // namespace

int main(int argc, char **argv)
{
    const std::string how = argc > 1 ? argv[1] : "dlsym", which = argc > 2 ? argv[2] : "blocking";
    const std::string door = how == "default" || how == "proc" ? how : "dlsym";
    open_driver();
    mix = reinterpret_cast<Mix *>(ask(door, "cuFutureMix", false));
    mix_twin = reinterpret_cast<Mix *>(ask(door, "cuFutureMix", true));
    printf("without a context: %d\n",
           mix(0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, nullptr, 15) != CUDA_SUCCESS);
    start_with_memory();
    int result = how == "many" ? many() : how == "threads" ? threads() : where(which);
    CU(cuCtxSynchronize());
    printf("done\n");
    return result;
}

// SPDX-License-Identifier: Apache-2.0
//
// The SIM_... variables and the in-process test interface do what README.md says.
#include <signal.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <thread>

#include "interpose/api/cuda_abi.h"
#include "tests/sim/child.h"
#include "tests/sim/sim_test_api.h"

namespace
{

std::string Start(Library library)
{
    CUcontext ctx;
    REQUIRE(Symbol<CUresult(unsigned)>(library, "cuInit")(0) == CUDA_SUCCESS);
    REQUIRE(Symbol<CUresult(CUcontext *, CUdevice)>(library, "cuDevicePrimaryCtxRetain")(&ctx, 0) == CUDA_SUCCESS);
    REQUIRE(Symbol<CUresult(CUcontext)>(library, "cuCtxSetCurrent")(ctx) == CUDA_SUCCESS);
    return "";
}

TEST(Knobs, FailNthCall)
{
    InChild({{"SIM_FAIL", "cuMemAlloc_v2:2:2,cuStreamQuery_ptsz:1:999"}}, [](Library library) -> std::string {
        std::string wrong = Start(library);
        if (!wrong.empty())
            return wrong;
        auto *alloc = Symbol<CUresult(CUdeviceptr *, size_t)>(library, "cuMemAlloc_v2");
        CUdeviceptr p;
        REQUIRE(alloc(&p, 16) == CUDA_SUCCESS);
        REQUIRE(alloc(&p, 16) == CUDA_ERROR_OUT_OF_MEMORY);
        REQUIRE(alloc(&p, 16) == CUDA_SUCCESS);
        REQUIRE(Symbol<CUresult(CUstream)>(library, "cuStreamQuery")(nullptr) == CUDA_SUCCESS);
        REQUIRE(Symbol<CUresult(CUstream)>(library, "cuStreamQuery_ptsz")(nullptr) == CUDA_ERROR_UNKNOWN);
        Symbol<void(const char *, unsigned long, CUresult)>(library, "sim_fail")("cuMemAlloc_v2", 1, CUDA_ERROR_UNKNOWN);
        REQUIRE(alloc(&p, 16) == CUDA_ERROR_UNKNOWN);
        REQUIRE(alloc(&p, 16) == CUDA_SUCCESS);
        return "";
    });
}

TEST(Knobs, HideTakesASymbolAway)
{
    InChild({{"SIM_HIDE", "cuGetProcAddress_v2,cuMemAllocAsync"}}, [](Library library) -> std::string {
        REQUIRE(!dlsym(library, "cuGetProcAddress_v2"));
        REQUIRE(!dlsym(library, "cuMemAllocAsync"));
        REQUIRE(dlsym(library, "cuMemAllocAsync_ptsz"));
        REQUIRE(dlsym(library, "cuMemAlloc_v2"));
        void *found = nullptr;
        auto *get = Symbol<CUresult(const char *, void **, int, cuuint64_t)>(library, "cuGetProcAddress");
        REQUIRE(get("cuMemAllocAsync", &found, 12000, 0) == CUDA_ERROR_NOT_FOUND);
        return "";
    });
}

TEST(Knobs, CountersAndLastStreamTellBaseFromTwin)
{
    InChild({}, [](Library library) -> std::string {
        std::string wrong = Start(library);
        if (!wrong.empty())
            return wrong;
        auto *calls = Symbol<unsigned long(const char *)>(library, "sim_calls");
        auto *last = Symbol<uintptr_t(const char *)>(library, "sim_last_stream");
        Symbol<CUresult(CUstream)>(library, "cuStreamQuery")(CU_STREAM_PER_THREAD);
        REQUIRE(calls("cuStreamQuery") == 1 && calls("cuStreamQuery_ptsz") == 0 && last("cuStreamQuery") == 2);
        return "";
    });
}

TEST(Knobs, LogHasOneLineACall)
{
    std::string path = testing::TempDir() + "/sim.log." + std::to_string(getpid());
    InChild({{"SIM_LOG", path}}, [](Library library) -> std::string {
        std::string wrong = Start(library);
        if (!wrong.empty())
            return wrong;
        Symbol<CUresult(CUstream)>(library, "cuStreamSynchronize_ptsz")(CU_STREAM_LEGACY);
        return "";
    });
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    EXPECT_EQ("cuInit - 1\ncuDevicePrimaryCtxRetain - 1\ncuCtxSetCurrent - 1\ncuStreamSynchronize_ptsz 0x1 1\n",
              text.str());
    unlink(path.c_str());
}

TEST(Knobs, LogWithArguments)
{
    std::string path = testing::TempDir() + "/sim.log." + std::to_string(getpid());
    InChild({{"SIM_LOG", path}, {"SIM_LOG_ARGUMENTS", "1"}}, [](Library library) -> std::string {
        std::string wrong = Start(library);
        if (!wrong.empty())
            return wrong;
        Symbol<CUresult()>(library, "cuCtxSynchronize")();
        Symbol<CUresult(CUevent *, unsigned)>(library, "cuEventCreate")(nullptr, 3);
        Symbol<CUresult(CUstream, CUevent, unsigned)>(library, "cuStreamWaitEvent")(CU_STREAM_LEGACY, CUevent(0x20), 7);
        Symbol<CUresult(CUdeviceptr, unsigned char, size_t)>(library, "cuMemsetD8_v2")(0, 5, size_t{1} << 33);
        return "";
    });
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    const std::string all = text.str(), expected = "cuCtxSynchronize - 1\ncuEventCreate - 1 p0x0 n0x3\n"
                                                   "cuStreamWaitEvent 0x1 1 s0x1 e0x20 n0x7\n"
                                                   "cuMemsetD8_v2 - 1 d0x0 n0x5 n0x200000000\n";
    EXPECT_EQ(expected, all.substr(all.size() - std::min(expected.size(), all.size())));
    unlink(path.c_str());
}

TEST(Knobs, DelayAndDevices)
{
    InChild({{"SIM_DELAY", "cuDeviceGetCount:3000000"}, {"SIM_DEVICES", "5"}}, [](Library library) -> std::string {
        std::string wrong = Start(library);
        if (!wrong.empty())
            return wrong;
        struct timespec a, b;
        int count = 0;
        clock_gettime(CLOCK_MONOTONIC, &a);
        REQUIRE(Symbol<CUresult(int *)>(library, "cuDeviceGetCount")(&count) == CUDA_SUCCESS && count == 5);
        clock_gettime(CLOCK_MONOTONIC, &b);
        REQUIRE((b.tv_sec - a.tv_sec) * 1000000000LL + (b.tv_nsec - a.tv_nsec) >= 3000000);
        return "";
    });
}

int host_gate;

void WaitForGate(void *)
{
    while (!__atomic_load_n(&host_gate, __ATOMIC_ACQUIRE))
        usleep(100);
}

// One thread loads a module while a host function keeps a stream busy, until the gate opens. Meanwhile this thread writes
// to a stream of its own, until `enough(writes so far)` or the gate opens. Says whether the module was still being loaded
// then.
bool WritesDuringALoad(Library library, std::atomic<unsigned> *writes, const std::function<bool()> &enough)
{
    CUcontext ctx;
    CUstream busy, own;
    CUdeviceptr p;
    std::atomic<bool> loaded{false};
    Symbol<CUresult(CUcontext *)>(library, "cuCtxGetCurrent")(&ctx);
    auto *create = Symbol<CUresult(CUstream *, unsigned)>(library, "cuStreamCreate");
    create(&busy, CU_STREAM_NON_BLOCKING);
    create(&own, CU_STREAM_NON_BLOCKING);
    Symbol<CUresult(CUdeviceptr *, size_t)>(library, "cuMemAlloc_v2")(&p, 4);
    Symbol<CUresult(CUstream, CUhostFn, void *)>(library, "cuLaunchHostFunc")(busy, WaitForGate, nullptr);
    std::thread loader([&] {
        CUmodule module;
        Symbol<CUresult(CUcontext)>(library, "cuCtxSetCurrent")(ctx);
        Symbol<CUresult(CUmodule *, const void *)>(library, "cuModuleLoadData")(&module, ".version 7.0");
        loaded = true;
    });
    auto *write = Symbol<CUresult(CUdeviceptr, unsigned, size_t, CUstream)>(library, "cuMemsetD32Async");
    for (; !__atomic_load_n(&host_gate, __ATOMIC_ACQUIRE) && !enough(); ++*writes)
        write(p, 1, 1, own);
    bool loading = !loaded;
    __atomic_store_n(&host_gate, 1, __ATOMIC_RELEASE);
    loader.join();
    return loading;
}

// The gate opens when no write has returned for 50 ms: if none is ever held, it opens after a minute.
TEST(Knobs, LoadHoldsOtherThreads)
{
    InChild({{"SIM_LOAD_HOLDS", "1"}}, [](Library library) -> std::string {
        std::string wrong = Start(library);
        if (!wrong.empty())
            return wrong;
        std::atomic<unsigned> writes{0};
        bool held = false;
        std::thread opener([&] {
            for (unsigned seen = 0, same = 0, looks = 0; !held && looks < 6000; looks++) {
                usleep(10000);
                same = writes == seen ? same + 1 : 0;
                seen = writes;
                held = same == 5;
            }
            __atomic_store_n(&host_gate, 1, __ATOMIC_RELEASE);
        });
        WritesDuringALoad(library, &writes, [] { return false; });
        opener.join();
        REQUIRE(held);
        return "";
    });
    // Here this thread opens the gate itself, after 100 ms of writes: a write that the load holds never returns.
    InChild({}, [](Library library) -> std::string {
        std::string wrong = Start(library);
        if (!wrong.empty())
            return wrong;
        std::atomic<unsigned> writes{0};
        auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
        REQUIRE(WritesDuringALoad(library, &writes, [&] { return std::chrono::steady_clock::now() > end; }));
        REQUIRE(writes > 0);
        return "";
    });
}

// A thread leaves stream-ordered work on `stream` (0x2 or one that is created); cuCtxSynchronize has a second.
std::string SynchronizeAfterAThread(Library library, CUstream stream, bool wait)
{
    CUcontext ctx;
    CUdeviceptr word = 0;
    void *flag = nullptr;
    Symbol<CUresult(CUcontext *)>(library, "cuCtxGetCurrent")(&ctx);
    REQUIRE(Symbol<CUresult(void **, size_t, unsigned)>(library, "cuMemHostAlloc")(&flag, 4, 0) == CUDA_SUCCESS);
    if (!stream)
        Symbol<CUresult(CUstream *, unsigned)>(library, "cuStreamCreate")(&stream, 0);
    std::thread([&] {
        CUdeviceptr p;
        Symbol<CUresult(CUcontext)>(library, "cuCtxSetCurrent")(ctx);
        Symbol<CUresult(CUdeviceptr *, size_t, CUstream)>(library, "cuMemAllocAsync")(&p, 64, stream);
        word = reinterpret_cast<CUdeviceptr>(flag);
        Symbol<CUresult(CUstream, CUdeviceptr, cuuint32_t, unsigned)>(library, "cuStreamWaitValue32_v2")(stream, word, 1,
                                                                                                         1);
        Symbol<CUresult(CUdeviceptr, CUstream)>(library, "cuMemFreeAsync")(p, stream);
        if (wait) {
            __atomic_store_n(static_cast<uint32_t *>(flag), 1, __ATOMIC_RELEASE);
            Symbol<CUresult(CUstream)>(library, "cuStreamSynchronize")(stream);
        }
    }).join();
    __atomic_store_n(static_cast<uint32_t *>(flag), 1, __ATOMIC_RELEASE);
    signal(SIGALRM, [](int) { _exit(77); });
    alarm(1);
    Symbol<CUresult()>(library, "cuCtxSynchronize")();
    return "it returned";
}

TEST(Knobs, AThreadThatEndsWithStreamOrderedMemoryPending)
{
    struct Case {
        const char *knob;
        CUstream stream;
        bool wait, hangs;
    } cases[] = {{"hang", CU_STREAM_PER_THREAD, false, true},
                 {"hang", CU_STREAM_PER_THREAD, true, false},
                 {"hang", nullptr, false, false},
                 {"", CU_STREAM_PER_THREAD, false, false}};
    for (const Case &c : cases) {
        pid_t child = fork();
        if (child == 0) {
            setenv("SIM_THREAD_END", c.knob, 1);
            Library library = dlopen(LibraryPath().c_str(), RTLD_NOW);
            if (!library || !Start(library).empty())
                _exit(1);
            _exit(SynchronizeAfterAThread(library, c.stream, c.wait) == "it returned" ? 0 : 2);
        }
        int status = 0;
        ASSERT_EQ(child, waitpid(child, &status, 0));
        EXPECT_EQ(c.hangs ? 77 : 0, WEXITSTATUS(status)) << c.knob << c.stream << c.wait;
    }
}

// Work waits on so many streams for a host function; whether another stream's runs meanwhile.
bool RunsBeside(Library library, int waiting)
{
    static uint32_t open;
    CUstream streams[9];
    CUdeviceptr word;
    Symbol<CUresult(CUdeviceptr *, size_t)>(library, "cuMemAlloc_v2")(&word, 64);
    __atomic_store_n(&open, 0, __ATOMIC_RELEASE);
    const auto set = Symbol<CUresult(CUdeviceptr, unsigned, size_t, CUstream)>(library, "cuMemsetD32Async");
    const auto gate = [](void *) {
        while (!__atomic_load_n(&open, __ATOMIC_ACQUIRE))
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    for (int i = 0; i <= waiting; i++) {
        Symbol<CUresult(CUstream *, unsigned)>(library, "cuStreamCreate")(&streams[i], CU_STREAM_NON_BLOCKING);
        if (i < waiting)
            Symbol<CUresult(CUstream, CUhostFn, void *)>(library, "cuLaunchHostFunc")(streams[i], gate, nullptr);
        set(word + 4 * i, 1, 1, streams[i]);
    }
    CUresult result = CUDA_ERROR_NOT_READY;
    for (int ms = 0; ms < 200 && result == CUDA_ERROR_NOT_READY; ms++) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        result = Symbol<CUresult(CUstream)>(library, "cuStreamQuery")(streams[waiting]);
    }
    __atomic_store_n(&open, 1, __ATOMIC_RELEASE);
    Symbol<CUresult()>(library, "cuCtxSynchronize")();
    return result == CUDA_SUCCESS;
}

TEST(Knobs, FewerHardwareQueuesHoldUpMoreStreams)
{
    const auto expect = [](std::map<std::string, std::string> environment, int queues) {
        InChild(environment, [queues](Library library) -> std::string {
            std::string wrong = Start(library);
            if (!wrong.empty())
                return wrong;
            for (int round = 0; round < 2; round++) { /* none stays taken */
                REQUIRE(RunsBeside(library, queues - 1));
                REQUIRE(RunsBeside(library, queues) == (queues == 8 && !getenv("SIM_QUEUES")));
            }
            return "";
        });
    };
    expect({{"SIM_QUEUES", "4"}}, 4);
    expect({{"SIM_QUEUES", "1"}}, 1);
    expect({{"SIM_QUEUES", "8"}, {"CUDA_DEVICE_MAX_CONNECTIONS", "2"}}, 2);
    expect({{"CUDA_DEVICE_MAX_CONNECTIONS", "2"}}, 8);
}

TEST(Knobs, NothingWorksBeforeInitAndNoDeviceIsAnError)
{
    InChild({{"SIM_DEVICES", "0"}}, [](Library library) -> std::string {
        int count;
        REQUIRE(Symbol<CUresult(int *)>(library, "cuDeviceGetCount")(&count) == CUDA_ERROR_NOT_INITIALIZED);
        REQUIRE(Symbol<CUresult(unsigned)>(library, "cuInit")(0) == CUDA_ERROR_NO_DEVICE);
        return "";
    });
}

TEST(Knobs, AChildProcessOfAnInitialisedOneIsRefused)
{
    InChild({}, [](Library library) -> std::string {
        std::string wrong = Start(library);
        if (!wrong.empty())
            return wrong;
        pid_t child = fork();
        if (child == 0)
            _exit(Symbol<CUresult()>(library, "cuCtxSynchronize")() == CUDA_ERROR_NOT_INITIALIZED ? 0 : 1);
        int status = 1;
        REQUIRE(waitpid(child, &status, 0) == child && status == 0);
        return "";
    });
}

const char kCopies[] =
    ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<2>;\n"
    "ld.param.u64 %rd1, [p];\nst.global.u64 [%rd1], %rd1;\nret;\n}\n"
    ".visible .entry unknown()\n{\nfrobnicate.b32 1, 2;\n}\n";

std::string LaunchOf(Library library, const char *kernel, CUresult expected)
{
    CUmodule m;
    CUfunction f;
    CUdeviceptr p = 0;
    void *parameters[] = {&p};
    std::string wrong = Start(library);
    if (!wrong.empty())
        return wrong;
    REQUIRE(Symbol<CUresult(CUdeviceptr *, size_t)>(library, "cuMemAlloc_v2")(&p, 16) == CUDA_SUCCESS);
    REQUIRE(Symbol<CUresult(CUmodule *, const void *)>(library, "cuModuleLoadData")(&m, kCopies) == CUDA_SUCCESS);
    REQUIRE(Symbol<CUresult(CUfunction *, CUmodule, const char *)>(library, "cuModuleGetFunction")(&f, m, kernel) ==
            CUDA_SUCCESS);
    REQUIRE(Symbol<decltype(cuLaunchKernel)>(library, "cuLaunchKernel")(f, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters,
                                                                        nullptr) == expected);
    REQUIRE(Symbol<CUresult()>(library, "cuCtxSynchronize")() == CUDA_SUCCESS);
    return "";
}

// The abort is the child's good end.
TEST(Knobs, AnAccessThatWasNotClaimedEndsTheProcess)
{
    for (bool aborts : {true, false})
        InChild({{"SIM_CLAIMS", aborts ? "" : "tell"}}, [aborts](Library library) -> std::string {
            signal(SIGABRT, [](int) { _exit(0); });
            Symbol<decltype(sim_claim_next)>(library, "sim_claim_next")(nullptr, 0, 0);
            std::string wrong = LaunchOf(library, "k", CUDA_SUCCESS);
            REQUIRE(Symbol<decltype(sim_unclaimed_accesses)>(library, "sim_unclaimed_accesses")() == 1);
            return aborts ? "no abort" : wrong;
        });
}

TEST(Knobs, WhatAKernelCannotDoIsTold)
{
    for (bool tells : {true, false})
        InChild({{"SIM_UNKNOWN", tells ? "tell" : ""}}, [tells](Library library) -> std::string {
            char text[300] = "";
            FILE *file = tmpfile();
            dup2(fileno(file), 2);
            std::string wrong = LaunchOf(library, "unknown", CUDA_ERROR_NOT_SUPPORTED);
            rewind(file);
            REQUIRE(wrong.empty());
            REQUIRE((fgets(text, sizeof text, file) != nullptr) == tells);
            REQUIRE(std::string(text) ==
                    (tells ? "sim: kernel unknown cannot run: an opcode, line 13: frobnicate.b32 1, 2\n" : ""));
            return "";
        });
}

} // namespace

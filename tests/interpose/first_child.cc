/* SPDX-License-Identifier: Apache-2.0
 *
 * A program for the simulated driver whose threads begin with an operation in a call of the runtime, as CUPTI sees it: all
 * in such a call at the same time. The operation's size (a grid's width, a copy's bytes) is what CUPTI will say that
 * it took in nanoseconds. argv[1] says what the first call does, argv[2] how many threads there are:
 *
 *     launch      one launch; a second call of the runtime launches once more
 *     copy        one copy
 *     two         two launches; a second call of the runtime launches once more
 *     loads       one launch, and a copy of the runtime's own, then nothing
 *     set         a launch, where CUPTI tells of a memset besides, later
 */
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <thread>
#include <vector>

#include <cupti.h>

#include "tests/interpose/simulated.h"

namespace
{

void (*runtime)(int enters);
void (*next_does)(CUpti_ActivityKind kind, uint64_t ns);
void (*does_besides)(CUpti_ActivityKind kind, uint64_t ns);
CUfunction spin;

template <class Function> void find(void *library, const char *name, Function **function)
{
    *function = reinterpret_cast<Function *>(dlsym(library, name));
    must(*function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND, name);
}

void find_cupti()
{
    void *cupti = dlopen("libcupti.so.13", RTLD_LAZY | RTLD_NOLOAD);
    must(cupti ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND, "libcupti.so.13");
    find(cupti, "fake_cupti_runtime", &runtime);
    find(cupti, "fake_cupti_work", &next_does);
    find(cupti, "fake_cupti_besides", &does_besides);
}

void launch(unsigned blocks)
{
    uint64_t ns = 1000;
    void *params[] = {&ns};
    next_does(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, blocks);
    CU(cuLaunchKernel(spin, blocks, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr));
}

void copy(unsigned bytes)
{
    static char from[1 << 16];
    static const CUdeviceptr to = [] {
        CUdeviceptr memory;
        CU(cuMemAlloc(&memory, sizeof from));
        return memory;
    }();
    next_does(CUPTI_ACTIVITY_KIND_MEMCPY, bytes);
    CU(cuMemcpyHtoD(to, from, bytes));
}

class Meeting
{
public:
    explicit Meeting(int all) : all_(all)
    {
    }
    void wait()
    {
        for (came_++; came_ < all_;)
            std::this_thread::yield();
    }

private:
    const int all_;
    std::atomic<int> came_{0};
};

void first_call(const std::string &what, unsigned size)
{
    CU(cuCtxSetCurrent(context));
    if (what == "loads")
        does_besides(CUPTI_ACTIVITY_KIND_MEMCPY, 77);
    if (what == "copy")
        copy(size);
    else
        launch(size);
    if (what == "set")
        does_besides(CUPTI_ACTIVITY_KIND_MEMSET, 77);
    if (what == "two")
        launch(size + 1000);
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    const std::string what = argv[1];
    const int count = atoi(argv[2]);
    start();
    find_cupti();
    spin = kernel("spin_ns");
    Meeting inside(count), done(count);
    std::vector<std::thread> threads;
    for (int i = 0; i < count; i++)
        threads.emplace_back([&, i] {
            unsigned size = 1001u + static_cast<unsigned>(i);
            runtime(1);
            inside.wait();
            first_call(what, size);
            done.wait();
            runtime(0);
            if (what != "launch" && what != "two")
                return;
            runtime(1);
            launch(size + 2000);
            runtime(0);
        });
    for (std::thread &thread : threads)
        thread.join();
    CU(cuCtxSynchronize());
    return 0;
}

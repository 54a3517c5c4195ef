// SPDX-License-Identifier: Apache-2.0
//
// overlap_cudart [threads 8] [kernels 50] [ns 200000] [only-kernels 0]: overlap.c with the runtime
// API, <<<>>> and the static cudart. Built twice: as it is (legacy default stream), and with
// --default-stream per-thread, the yardstick for a remapped run of the first. Run by scripts/demo
// and scripts/gpu.

#include <cuda_runtime.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace
{

constexpr unsigned kWords = 1024;
constexpr unsigned kPeriod = 10;

void Must(cudaError_t result, const char *call)
{
    if (result == cudaSuccess)
        return;
    std::printf("WRONG %s -> %d %s\n", call, static_cast<int>(result), cudaGetErrorName(result));
    std::fflush(stdout);
    std::_Exit(1);
}
#define RT(call) Must((call), #call)

// About `ns` of waiting on one block, then one more in every word.
__global__ void SpinAndAdd(unsigned long long ns, uint32_t *words, unsigned count)
{
    unsigned long long start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - start < ns);
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x)
        words[i] += 1;
}

struct Run {
    unsigned kernels, ns;
    bool only_kernels;
    std::atomic<int> wrong{0};
    std::vector<uint32_t> results;
};

bool AllEqual(const std::vector<uint32_t> &words, uint32_t value)
{
    for (uint32_t word : words)
        if (word != value)
            return false;
    return true;
}

void Work(Run *run, unsigned index, uint32_t *words)
{
    std::vector<uint32_t> host(kWords);
    const size_t bytes = kWords * sizeof(uint32_t);
    uint32_t expected = 0;
    RT(cudaMemset(words, 0, bytes));
    for (unsigned k = 1; k <= run->kernels; k++) {
        SpinAndAdd<<<1, 128>>>(run->ns, words, kWords);
        RT(cudaGetLastError());
        expected++;
        if (run->only_kernels || k % kPeriod != 0)
            continue;
        RT(cudaMemcpy(host.data(), words, bytes, cudaMemcpyDeviceToHost));
        run->wrong += !AllEqual(host, expected);
    }
    RT(cudaMemcpy(host.data(), words, bytes, cudaMemcpyDeviceToHost));
    run->wrong += !AllEqual(host, expected);
    run->results[index] = host[index % kWords];
}

double RunThreads(Run *run, unsigned threads)
{
    std::vector<uint32_t *> buffers(threads);
    for (uint32_t *&words : buffers)
        RT(cudaMalloc(reinterpret_cast<void **>(&words), kWords * sizeof(uint32_t)));
    SpinAndAdd<<<1, 128>>>(1000, buffers[0], 0);
    RT(cudaDeviceSynchronize());
    std::vector<std::thread> team;
    const auto began = std::chrono::steady_clock::now();
    for (unsigned i = 0; i < threads; i++)
        team.emplace_back(Work, run, i, buffers[i]);
    for (std::thread &member : team)
        member.join();
    const auto ended = std::chrono::steady_clock::now();
    return std::chrono::duration<double, std::milli>(ended - began).count();
}

} // namespace

int main(int argc, char **argv)
{
    auto number = [&](int i, unsigned fallback) {
        return i < argc ? static_cast<unsigned>(std::strtoul(argv[i], nullptr, 10)) : fallback;
    };
    Run run;
    const unsigned threads = number(1, 8);
    run.kernels = number(2, 50);
    run.ns = number(3, 200000);
    run.only_kernels = number(4, 0) != 0;
    run.results.resize(threads);
    const double ms = RunThreads(&run, threads);
    unsigned long long sum = 0;
    for (uint32_t result : run.results)
        sum = sum * 31 + result;
    std::printf("%s %016llx\n", run.wrong == 0 ? "OK" : "WRONG", sum);
    std::printf("time_ms %.3f\n", ms);
    return run.wrong == 0 ? 0 : 1;
}

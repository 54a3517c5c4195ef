// SPDX-License-Identifier: Apache-2.0
//
// shared_table [threads 8] [kernels 50] [ns 200000]: host threads whose kernels on the default stream read one table
// through a `const` pointer, which the kernel's name tells, and write words of their own. Reading alike is no reason to
// wait. Built twice: as it is, and with --default-stream per-thread, the yardstick. Run by scripts/gpu.

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

void Must(cudaError_t result, const char *call)
{
    if (result == cudaSuccess)
        return;
    std::printf("WRONG %s -> %d %s\n", call, static_cast<int>(result), cudaGetErrorName(result));
    std::fflush(stdout);
    std::_Exit(1);
}
#define RT(call) Must((call), #call)

// About `ns` of waiting on one block; then each word gets the table's word `shift` places on.
__global__ void AddFromTable(const uint32_t *table, uint32_t *words, unsigned shift, unsigned long long ns)
{
    unsigned long long start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - start < ns);
    for (unsigned i = threadIdx.x; i < kWords; i += blockDim.x)
        words[i] += table[(i + shift) % kWords];
}

struct Run {
    unsigned kernels, ns;
    std::vector<uint32_t> table;
    uint32_t *device_table = nullptr;
    std::atomic<int> wrong{0};
    std::vector<uint32_t> results;
};

uint32_t Expected(const Run &run, unsigned word)
{
    uint32_t sum = 0;
    for (unsigned k = 0; k < run.kernels; k++)
        sum += run.table[(word + k) % kWords];
    return sum;
}

void Work(Run *run, unsigned index, uint32_t *words)
{
    std::vector<uint32_t> host(kWords);
    for (unsigned k = 0; k < run->kernels; k++)
        AddFromTable<<<1, 128>>>(run->device_table, words, k, run->ns);
    RT(cudaGetLastError());
    RT(cudaMemcpy(host.data(), words, kWords * sizeof(uint32_t), cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < kWords; i++)
        run->wrong += host[i] != Expected(*run, i);
    run->results[index] = host[index % kWords];
}

void MakeTable(Run *run)
{
    const size_t bytes = kWords * sizeof(uint32_t);
    run->table.resize(kWords);
    for (unsigned i = 0; i < kWords; i++)
        run->table[i] = i * 2654435761u;
    RT(cudaMalloc(reinterpret_cast<void **>(&run->device_table), bytes));
    RT(cudaMemcpy(run->device_table, run->table.data(), bytes, cudaMemcpyHostToDevice));
}

double RunThreads(Run *run, unsigned threads)
{
    std::vector<uint32_t *> buffers(threads);
    for (uint32_t *&words : buffers) {
        RT(cudaMalloc(reinterpret_cast<void **>(&words), kWords * sizeof(uint32_t)));
        AddFromTable<<<1, 128>>>(run->device_table, words, 0, 1000); // loads the kernel, before the time counts
        RT(cudaMemset(words, 0, kWords * sizeof(uint32_t)));
    }
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
    run.results.resize(threads);
    MakeTable(&run);
    const double ms = RunThreads(&run, threads);
    unsigned long long sum = 0;
    for (uint32_t result : run.results)
        sum = sum * 31 + result;
    std::printf("%s %016llx\n", run.wrong == 0 ? "OK" : "WRONG", sum);
    std::printf("time_ms %.3f\n", ms);
    return run.wrong == 0 ? 0 : 1;
}

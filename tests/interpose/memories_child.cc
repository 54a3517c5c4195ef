/* SPDX-License-Identifier: Apache-2.0
 *
 * A long program for the simulated driver, with memory that stays and memory that comes and goes. Says of all that is there
 * at the end "ADDRESS KIND".
 *
 *     kinds N         one of each kind of memory, then N memsets
 *     passing N       two threads that each have 300 allocations at any time, and make and free N of them, the oldest first
 *     many N          N allocations that stay, then 20000 memsets
 */
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

#include "interpose/trace/format.h"
#include "tests/interpose/simulated.h"

namespace
{

constexpr size_t BYTES = 4096, CHUNK = 2 << 20;

void stays(unsigned long long address, ptds_memory_kind kind)
{
    static std::mutex lock;
    std::lock_guard<std::mutex> locked(lock);
    printf("%llu %d\n", address, static_cast<int>(kind));
}

void fill(CUdeviceptr memory, int count)
{
    CUstream stream;
    CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < count; i++)
        CU(cuMemsetD8Async(memory, 1, 16, stream));
    CU(cuStreamDestroy(stream));
}

CUdeviceptr device_memory()
{
    CUdeviceptr memory;
    CU(cuMemAlloc(&memory, BYTES));
    return memory;
}

void map_chunks()
{
    CUmemAllocationProp about = {};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr base;
    about.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    about.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    CU(cuMemAddressReserve(&base, 2 * CHUNK, 0, 0, 0));
    for (size_t at = 0; at < 2; at++) {
        CU(cuMemCreate(&handle, CHUNK, &about, 0));
        CU(cuMemMap(base + at * CHUNK, CHUNK, 0, handle, 0));
        stays(base + at * CHUNK, PTDS_MEMORY_MAPPED);
    }
}

void make_array()
{
    CUDA_ARRAY_DESCRIPTOR about = {};
    CUarray array;
    about.Width = 64;
    about.Format = CU_AD_FORMAT_FLOAT;
    about.NumChannels = 1;
    CU(cuArrayCreate(&array, &about));
    stays(reinterpret_cast<unsigned long long>(array), PTDS_MEMORY_ARRAY);
}

int kinds(int count)
{
    static char registered[2 * BYTES] __attribute__((aligned(BYTES)));
    CUdeviceptr memory = device_memory(), managed, pooled, again;
    void *pinned;
    stays(memory, PTDS_MEMORY_DEVICE);
    CU(cuMemAllocManaged(&managed, BYTES, CU_MEM_ATTACH_GLOBAL));
    stays(managed, PTDS_MEMORY_MANAGED);
    CU(cuMemHostAlloc(&pinned, BYTES, 0));
    stays(reinterpret_cast<unsigned long long>(pinned), PTDS_MEMORY_PINNED);
    CU(cuMemHostRegister(registered, BYTES, 0));
    stays(reinterpret_cast<unsigned long long>(registered), PTDS_MEMORY_REGISTERED);
    CU(cuMemAllocAsync(&pooled, BYTES, CU_STREAM_LEGACY));
    stays(pooled, PTDS_MEMORY_POOL);
    map_chunks();
    make_array();
    again = device_memory();
    CU(cuMemFree(again));
    fill(memory, count);
    return 0;
}

void pass(int count)
{
    CU(cuCtxSetCurrent(context));
    std::deque<CUdeviceptr> held;
    for (int i = 0; i < count; i++) {
        held.push_back(device_memory());
        if (held.size() > 300) {
            CU(cuMemFree(held.front()));
            held.pop_front();
        }
        for (int k = 0; k < 30; k++)
            CU(cuMemsetD8Async(held.back(), 1, 16, CU_STREAM_PER_THREAD));
    }
    for (CUdeviceptr memory : held)
        stays(memory, PTDS_MEMORY_DEVICE);
}

int passing(int count)
{
    std::thread other(pass, count);
    pass(count);
    other.join();
    return 0;
}

int many(int count)
{
    CUdeviceptr memory = 0;
    for (int i = 0; i < count; i++) {
        memory = device_memory();
        stays(memory, PTDS_MEMORY_DEVICE);
    }
    fill(memory, 20000);
    return 0;
}

} // namespace

int main(int argc, char **argv)
{
    std::string mode = argc > 1 ? argv[1] : "";
    int count = argc > 2 ? atoi(argv[2]) : 0;
    start();
    if (mode == "kinds")
        return kinds(count);
    if (mode == "passing")
        return passing(count);
    return mode == "many" ? many(count) : 2;
}

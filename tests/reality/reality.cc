// SPDX-License-Identifier: Apache-2.0
//
// Holds what a kernel's code says against what the kernel does, on a GPU. Preloaded into a program that was linked with a
// shared CUDA runtime (nvcc --cudart shared). Before each launch it works out, from the facts of interpose/code alone,
// which of the program's allocations the kernel may read or write; then
//   - allocations that the facts do not name are saved and filled with other bytes: a kernel that reads one computes
//   something
//     else, which the program's own check or its output shows; after the launch each must still have those bytes;
//   - allocations that are only read must be the same afterwards.
// A difference is a line on stderr that begins with "reality: WRONG", and the last line counts. Slow: every launch waits.
//
// REALITY_LAUNCHES=N: of each kernel only the first N launches are looked at (20). REALITY_BYTES=N: launches while the
// program has allocated more than so many bytes are not looked at (256 MiB).

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

extern "C" {
#include "interpose/code/code.h"
}

namespace
{

constexpr uint64_t kNear = 64 << 10;
constexpr int kPoison = 0xA5;

struct Kernel {
    std::string name;
    std::unique_ptr<code_facts> facts;
    unsigned launches = 0;
};

struct State {
    std::mutex lock;
    std::map<void **, const void *> images;                                 // by the runtime's handle
    std::map<const void *, std::pair<const void *, std::string>> functions; // host function: image, name
    std::map<const void *, const void *> kernels;                           // cudaKernel_t: host function
    std::map<const void *, Kernel> known;                                   // by host function
    std::map<uint64_t, uint64_t> allocations;                               // base, bytes
    uint64_t bytes = 0;
    unsigned long looked = 0, unknown = 0, skipped = 0, wrong = 0, spared = 0, through = 0;
};

State &S()
{
    static State *state = new State;
    return *state;
}

template <typename Function> Function Next(Function, const char *name)
{
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}
#define NEXT(name) (static_cast<decltype(&name)>(Next(&name, #name)))

uint64_t Setting(const char *name, uint64_t otherwise)
{
    const char *value = getenv(name);
    return value ? strtoull(value, nullptr, 0) : otherwise;
}

int Take(void *data, const code_image *image)
{
    auto *job = static_cast<std::pair<const char *, code_facts *> *>(data);
    if (image->is_ptx)
        return 0;
    code_read(image, job->first, job->second);
    return job->second->why != CODE_WHY_NO_KERNEL;
}

uint32_t Device()
{
    int major = 0, minor = 0;
    NEXT(cudaDeviceGetAttribute)(&major, cudaDevAttrComputeCapabilityMajor, 0);
    NEXT(cudaDeviceGetAttribute)(&minor, cudaDevAttrComputeCapabilityMinor, 0);
    return static_cast<uint32_t>(major * 10 + minor);
}

struct Job {
    std::pair<const char *, code_facts *> read;
    uint32_t device;
};

int WantedImage(void *data, const code_image *image)
{
    return !image->is_ptx && image->arch == static_cast<Job *>(data)->device;
}

int TakeImage(void *data, const code_image *image)
{
    return Take(&static_cast<Job *>(data)->read, image);
}

Kernel *Find(const void *function)
{
    auto known = S().known.find(function);
    if (known != S().known.end())
        return &known->second;
    auto named = S().functions.find(function);
    if (named == S().functions.end())
        return nullptr;
    Kernel &kernel = S().known[function];
    kernel.name = named->second.second;
    kernel.facts.reset(new code_facts());
    kernel.facts->verdict = CODE_UNKNOWN;
    Job job = {{kernel.name.c_str(), kernel.facts.get()}, Device()};
    images_plain(named->second.first, SIZE_MAX, WantedImage, TakeImage, &job);
    return &kernel;
}

// Which allocations a launch may use, and how.
class Use
{
public:
    void Near(uint64_t address, unsigned use)
    {
        for (const auto &one : S().allocations) {
            if (address + kNear >= one.first && address <= one.first + one.second + kNear)
                use_[one.first] |= use;
        }
    }
    // Adds what the words point to that lie in the allocations at that address; further: from there on, too.
    void Follow(uint64_t address, unsigned use, bool further)
    {
        std::set<uint64_t> done;
        std::vector<uint64_t> todo = At(address);
        while (!todo.empty()) {
            uint64_t base = todo.back();
            todo.pop_back();
            if (!done.insert(base).second)
                continue;
            std::vector<uint64_t> words(S().allocations[base] / 8);
            NEXT(cudaMemcpy)(words.data(), reinterpret_cast<void *>(base), words.size() * 8, cudaMemcpyDeviceToHost);
            for (uint64_t word : words) {
                for (uint64_t to : At(word)) {
                    use_[to] |= use;
                    if (further)
                        todo.push_back(to);
                }
            }
        }
    }
    unsigned Of(uint64_t base) const
    {
        auto found = use_.find(base);
        return found == use_.end() ? 0 : found->second;
    }

private:
    static std::vector<uint64_t> At(uint64_t address)
    {
        std::vector<uint64_t> found;
        for (const auto &one : S().allocations) {
            if (address >= one.first && address <= one.first + one.second)
                found.push_back(one.first);
        }
        return found;
    }
    std::map<uint64_t, unsigned> use_;
};

uint32_t Half(const Kernel &kernel, void **arguments, unsigned offset)
{
    const code_facts &facts = *kernel.facts;
    for (unsigned i = 0; i < facts.parameters; i++) {
        unsigned begin = facts.parameter[i].offset, end = begin + facts.parameter[i].size;
        uint32_t half = 0;
        if (offset >= begin && offset + 4 <= end) {
            memcpy(&half, static_cast<char *>(arguments[i]) + (offset - begin), sizeof half);
            return half;
        }
    }
    return 0;
}

uint64_t Word(const Kernel &kernel, void **arguments, unsigned low, unsigned high)
{
    return Half(kernel, arguments, low) | static_cast<uint64_t>(Half(kernel, arguments, high)) << 32;
}

// False: what the kernel reaches can't be told from here.
bool Uses(const Kernel &kernel, void **arguments, Use *use)
{
    const code_facts &facts = *kernel.facts;
    for (unsigned i = 0; i < facts.bases; i++) {
        const code_base &base = facts.base[i];
        for (unsigned t = 0; t < base.count; t++) {
            const code_term &term = base.term[t];
            std::vector<uint64_t> addresses;
            if (term.kind == CODE_PARAMETER)
                addresses.push_back(Word(kernel, arguments, term.low, term.high));
            for (unsigned at = term.low; term.kind == CODE_RANGE && at + 8 <= term.high; at += 4)
                addresses.push_back(Word(kernel, arguments, at, at + 4));
            if (term.kind == CODE_VARIABLE && (base.through || base.beyond))
                return false;
            for (uint64_t address : addresses) {
                use->Near(address, base.use);
                if (base.through || base.beyond) {
                    use->Follow(address, base.through | base.beyond, base.beyond != 0);
                    S().through++;
                }
            }
        }
    }
    return !facts.handles && !(facts.flags & (CODE_TENSOR_MAP | CODE_BOUND_TEXTURE));
}

struct Saved {
    uint64_t base;
    std::vector<unsigned char> bytes;
    bool poisoned;
};

void Compare(const Kernel &kernel, const Saved &saved)
{
    std::vector<unsigned char> now(saved.bytes.size());
    NEXT(cudaMemcpy)(now.data(), reinterpret_cast<void *>(saved.base), now.size(), cudaMemcpyDeviceToHost);
    size_t at = 0;
    while (at < now.size() && now[at] == (saved.poisoned ? kPoison : saved.bytes[at]))
        at++;
    if (at < now.size()) {
        S().wrong++;
        fprintf(stderr, "reality: WRONG: %s wrote byte %zu of %zu of an allocation that its code %s\n", kernel.name.c_str(),
                at, now.size(), saved.poisoned ? "does not name" : "only reads");
    }
    if (saved.poisoned)
        NEXT(cudaMemcpy)
    (reinterpret_cast<void *>(saved.base), saved.bytes.data(), saved.bytes.size(), cudaMemcpyHostToDevice);
}

template <typename Launch> cudaError_t Look(const void *function, void **arguments, Launch launch)
{
    std::lock_guard<std::mutex> hold(S().lock);
    Kernel *kernel = Find(function);
    if (!kernel || kernel->facts->verdict == CODE_UNKNOWN) {
        S().unknown++;
        return launch();
    }
    Use use;
    if (S().bytes > Setting("REALITY_BYTES", 256 << 20) || kernel->launches++ >= Setting("REALITY_LAUNCHES", 20) ||
        NEXT(cudaDeviceSynchronize)() != cudaSuccess || !Uses(*kernel, arguments, &use)) {
        S().skipped++;
        return launch();
    }
    std::vector<Saved> saved;
    for (const auto &one : S().allocations) {
        unsigned of = use.Of(one.first);
        if (of & CODE_WRITE)
            continue;
        saved.push_back({one.first, std::vector<unsigned char>(one.second), of == 0});
        NEXT(cudaMemcpy)
        (saved.back().bytes.data(), reinterpret_cast<void *>(one.first), one.second, cudaMemcpyDeviceToHost);
        if (!of)
            NEXT(cudaMemset)(reinterpret_cast<void *>(one.first), kPoison, one.second);
    }
    NEXT(cudaDeviceSynchronize)();
    cudaError_t result = launch();
    cudaError_t done = NEXT(cudaDeviceSynchronize)();
    if (done != cudaSuccess) {
        S().wrong++;
        fprintf(stderr, "reality: WRONG: %s fails (%d)\n", kernel->name.c_str(), static_cast<int>(done));
        return result;
    }
    for (const Saved &one : saved)
        Compare(*kernel, one);
    S().looked++;
    S().spared += saved.size();
    return result;
}

__attribute__((destructor)) void Tell()
{
    fprintf(
        stderr,
        "reality: %lu launches looked at, %lu allocations watched, %lu bases followed, %lu launches of unknown kernels, "
        "%lu skipped, %lu wrong\n",
        S().looked, S().spared, S().through, S().unknown, S().skipped, S().wrong);
}

} // namespace

extern "C" {

#define HOOK __attribute__((visibility("default")))

void **__cudaRegisterFatBinary(void *image);
HOOK void **__cudaRegisterFatBinary(void *image)
{
    void **handle = NEXT(__cudaRegisterFatBinary)(image);
    S().images[handle] = image;
    return handle;
}

void __cudaRegisterFunction(void **handle, const char *function, char *device, const char *name, int limit, uint3 *thread,
                            uint3 *block, dim3 *blocks, dim3 *grid, int *warps);
HOOK void __cudaRegisterFunction(void **handle, const char *function, char *device, const char *name, int limit,
                                 uint3 *thread, uint3 *block, dim3 *blocks, dim3 *grid, int *warps)
{
    S().functions[function] = {S().images[handle], name};
    NEXT(__cudaRegisterFunction)(handle, function, device, name, limit, thread, block, blocks, grid, warps);
}

cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *function);
HOOK cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *function)
{
    cudaError_t result = NEXT(__cudaGetKernel)(kernel, function);
    S().kernels[*kernel] = function;
    return result;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                               cudaStream_t stream);
HOOK cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                                    cudaStream_t stream)
{
    return Look(S().kernels[kernel], arguments,
                [&] { return NEXT(__cudaLaunchKernel)(kernel, grid, block, arguments, shared, stream); });
}

HOOK cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared,
                                  cudaStream_t stream)
{
    return Look(function, arguments,
                [&] { return NEXT(cudaLaunchKernel)(function, grid, block, arguments, shared, stream); });
}

HOOK cudaError_t cudaMalloc(void **pointer, size_t bytes)
{
    cudaError_t result = static_cast<cudaError_t (*)(void **, size_t)>(NEXT(cudaMalloc))(pointer, bytes);
    if (result == cudaSuccess && *pointer) {
        S().allocations[reinterpret_cast<uint64_t>(*pointer)] = bytes;
        S().bytes += bytes;
    }
    return result;
}

HOOK cudaError_t cudaFree(void *pointer)
{
    auto found = S().allocations.find(reinterpret_cast<uint64_t>(pointer));
    if (found != S().allocations.end()) {
        S().bytes -= found->second;
        S().allocations.erase(found);
    }
    return NEXT(cudaFree)(pointer);
}
}

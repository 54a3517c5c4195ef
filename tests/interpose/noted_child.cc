/* SPDX-License-Identifier: Apache-2.0
 *
 * A program for the simulated driver that makes each form of copy, memset and allocation once, and says where its memory
 * lies: "NAME ADDRESS BYTES" a line. What the recorder must note of it is in noted_test.cc.
 */
#include <cstdint>
#include <cstdlib>

#include "tests/interpose/simulated.h"

namespace
{

enum { BYTES = 1 << 16 };
CUdeviceptr device, other;
char *pinned;
char *pageable;

unsigned long long number(const void *pointer)
{
    return reinterpret_cast<uintptr_t>(pointer);
}

void say(const char *name, unsigned long long address, unsigned long long bytes = BYTES)
{
    printf("%s %llu %llu\n", name, address, bytes);
}

void allocations()
{
    CUdeviceptr managed, pitched, pooled;
    size_t pitch;
    void *more;
    char *registered = static_cast<char *>(aligned_alloc(4096, 8192));
    CU(cuMemAlloc(&device, BYTES));
    CU(cuMemAlloc(&other, BYTES));
    CU(cuMemAllocHost(reinterpret_cast<void **>(&pinned), BYTES));
    CU(cuMemHostAlloc(&more, 1000, CU_MEMHOSTALLOC_PORTABLE));
    CU(cuMemAllocManaged(&managed, 3000, CU_MEM_ATTACH_GLOBAL));
    CU(cuMemAllocPitch(&pitched, &pitch, 100, 7, 4));
    CU(cuMemHostRegister(registered, 8192, 0));
    CU(cuMemAllocAsync(&pooled, 500, nullptr));
    pageable = static_cast<char *>(malloc(BYTES));
    say("D", device);
    say("O", other);
    say("P", number(pinned));
    say("H", number(pageable));
    say("more", number(more), 1000);
    say("managed", managed, 3000);
    say("pitched", pitched, pitch * 7);
    say("registered", number(registered), 8192);
    say("pooled", pooled, 500);
    CU(cuMemFree(managed));
    CU(cuMemFreeHost(more));
    CU(cuMemHostUnregister(registered));
    CU(cuMemFreeAsync(pooled, nullptr));
}

void plain_copies()
{
    CU(cuMemcpyHtoD(device + 1, pageable + 2, 3));
    CU(cuMemcpyDtoH(pinned + 4, device + 5, 6));
    CU(cuMemcpyDtoD(other + BYTES - 1, device + BYTES - 1, 1)); /* the last byte */
    CU(cuMemcpyHtoDAsync(device, pinned, BYTES, nullptr));
    CU(cuMemcpyDtoHAsync(pageable + 7, other, 8, nullptr));
    CU(cuMemcpyDtoDAsync(device + 9, other + 10, 11, nullptr));
    CU(cuMemcpy(device + 12, other + 13, 14));
    CU(cuMemcpyAsync(device + 15, reinterpret_cast<CUdeviceptr>(pinned) + 16, 17, nullptr));
    CU(cuMemcpyPeer(device + 18, context, other + 19, context, 20));
    CU(cuMemcpyPeerAsync(device + 21, context, other + 22, context, 23, nullptr));
}

void rows()
{
    CUDA_MEMCPY2D copy = {};
    copy.dstMemoryType = copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = device, copy.dstPitch = 64, copy.dstXInBytes = 3, copy.dstY = 2;
    copy.srcDevice = other, copy.srcPitch = 128, copy.srcXInBytes = 5, copy.srcY = 1;
    copy.WidthInBytes = 40, copy.Height = 4;
    CU(cuMemcpy2D(&copy));
    CU(cuMemcpy2DUnaligned(&copy));
    copy.dstPitch = 0; /* tight: x and width */
    copy.srcMemoryType = CU_MEMORYTYPE_HOST, copy.srcHost = pinned;
    CU(cuMemcpy2DAsync(&copy, nullptr));
    copy.dstMemoryType = CU_MEMORYTYPE_HOST, copy.dstHost = pageable, copy.dstPitch = 50;
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE, copy.srcPitch = 0;
    CU(cuMemcpy2D(&copy));
}

template <class Volume> Volume volume()
{
    Volume copy = {};
    copy.dstMemoryType = copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = device, copy.dstPitch = 64, copy.dstHeight = 10;
    copy.dstXInBytes = 1, copy.dstY = 2, copy.dstZ = 3;
    copy.srcDevice = other, copy.srcPitch = 32, copy.srcHeight = 4;
    copy.WidthInBytes = 16, copy.Height = 4, copy.Depth = 5;
    return copy;
}

void volumes()
{
    CUDA_MEMCPY3D copy = volume<CUDA_MEMCPY3D>();
    CU(cuMemcpy3D(&copy));
    copy.dstHeight = 4, copy.dstY = 0; /* both sides' slices follow each other */
    CU(cuMemcpy3DAsync(&copy, nullptr));
    copy.srcHeight = 6, copy.srcZ = 2;
    CU(cuMemcpy3D(&copy));
    CUDA_MEMCPY3D_PEER peer = volume<CUDA_MEMCPY3D_PEER>();
    peer.dstContext = peer.srcContext = context;
    CU(cuMemcpy3DPeer(&peer));
    peer.srcXInBytes = 7, peer.srcHeight = 0; /* height and y */
    peer.srcY = 1;
    CU(cuMemcpy3DPeerAsync(&peer, nullptr));
}

void memsets()
{
    CU(cuMemsetD8(device + 1, 0, 2));
    CU(cuMemsetD16(device + 4, 0, 3));
    CU(cuMemsetD32(device + 8, 0, 5));
    CU(cuMemsetD8Async(other + BYTES - 1, 0, 1, nullptr));
    CU(cuMemsetD16Async(other, 0, 7, nullptr));
    CU(cuMemsetD32Async(other, 0, 9, nullptr));
    CU(cuMemsetD2D8(device, 100, 0, 11, 3));
    CU(cuMemsetD2D16(device, 200, 0, 12, 4));
    CU(cuMemsetD2D32(device, 300, 0, 13, 5));
    CU(cuMemsetD2D8Async(device, 110, 0, 14, 6, nullptr));
    CU(cuMemsetD2D16Async(device, 210, 0, 15, 7, nullptr));
    CU(cuMemsetD2D32Async(device, 320, 0, 16, 8, nullptr));
    CU(cuMemsetD8(reinterpret_cast<CUdeviceptr>(pinned) + 6, 0, 4));
}

} // namespace

int main()
{
    start();
    allocations();
    plain_copies();
    rows();
    volumes();
    memsets();
    CU(cuCtxSynchronize());
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * A program for the simulated driver that makes many kinds of calls once, for whole_trace_test.cc; argv[1] says which. What
 * the driver refuses is recorded, too, so results are looked at only where the rest needs them.
 *
 *     memory     allocations of all kinds, parts and aliases of memory, what ends them, what names memory by ranges
 *     graphs     graphs by hand, their nodes asked and changed, clones, updates, launches of each
 *     kernels    parameters of all sizes, many of them, variables of modules, buffers of parameters
 *     libraries  the same code by a library
 *     failures   each call twice, since the driver may refuse the first
 *     order      events, stream memory operations, attributes, contexts in turn, a second and a third thread
 */
#include <cstdlib>
#include <cstring>
#include <map>
#include <pthread.h>
#include <string>
#include <thread>

#include "tests/interpose/whole.h"

namespace
{

alignas(4096) char registered[8192];
char pageable[BYTES];

CUdeviceptr number(void *pointer)
{
    return reinterpret_cast<CUdeviceptr>(pointer);
}

/* Host memory by its device address, and what lies in no memory at all. */
void host_memory()
{
    CUdeviceptr of_pinned, of_registered, nothing = 0;
    uint32_t count = 4, value = 7;
    CU(cuMemHostGetDevicePointer(&of_pinned, pinned, 0));
    cuMemHostGetDevicePointer(&nothing, pageable, 0);
    CU(cuMemHostRegister(registered, sizeof registered, CU_MEMHOSTREGISTER_DEVICEMAP));
    cuMemHostRegister(registered, sizeof registered, 0); /* it is already */
    CU(cuMemHostGetDevicePointer(&of_registered, registered, 0));
    launch("fill", stream, {&of_registered, &value, &count});
    launch("copy", nullptr, {&of_pinned, &of_registered, &count});
    CU(cuMemsetD32Async(of_registered + 64, 1, 3, apart));
    CU(cuMemcpyDtoD(of_registered + 128, of_pinned + 32, 16));
    CU(cuMemcpyHtoD(one, registered + 16, 20));
    CU(cuMemcpyDtoH(registered + 4096, one, 20));
    CU(cuCtxSynchronize());
    CU(cuMemHostUnregister(registered));
    cuMemHostUnregister(registered);
    CU(cuMemcpyHtoD(one, registered + 16, 20)); /* pageable now */
}

void pools()
{
    CUmemPoolProps about = {};
    CUmemoryPool pool;
    CUdeviceptr first, second, again;
    about.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    about.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    CU(cuMemPoolCreate(&pool, &about));
    CU(cuMemAllocFromPoolAsync(&first, 1000, pool, stream));
    CU(cuMemAllocAsync(&second, 2000, apart));
    CU(cuMemsetD8Async(first + 1, 0, 999, stream));
    CU(cuMemcpyDtoDAsync(second, one, 2000, apart));
    CU(cuMemFreeAsync(first, stream));
    CU(cuMemAllocAsync(&again, 1000, stream));
    CU(cuMemFreeAsync(again, stream));
    CU(cuMemFree(second)); /* the other way */
    cuMemFreeAsync(123, stream);
    CU(cuMemPoolTrimTo(pool, 0));
    CU(cuCtxSynchronize());
    CU(cuMemPoolDestroy(pool));
}

/* Two chunks side by side, one of them at a second place, too. */
void mapped()
{
    CUmemAllocationProp about = {};
    CUmemGenericAllocationHandle handles[2], same;
    CUmemAccessDesc access = {{.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUdeviceptr base, alias;
    about.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    about.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    about.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CU(cuMemAddressReserve(&base, 3 * CHUNK, 0, 0, 0));
    CU(cuMemAddressReserve(&alias, CHUNK, 0, 0, 0));
    for (int i = 0; i < 2; i++) {
        CU(cuMemCreate(&handles[i], CHUNK, &about, 0));
        CU(cuMemMap(base + i * CHUNK, CHUNK, 0, handles[i], 0));
    }
    cuMemMap(base, CHUNK, 0, handles[0], 0); /* something is there */
    CU(cuMemMap(alias, CHUNK, 0, handles[1], 0));
    CU(cuMemSetAccess(base, 2 * CHUNK, &access, 1));
    CU(cuMemSetAccess(alias, CHUNK, &access, 1));
    CU(cuMemsetD8Async(base + CHUNK - 8, 0, 16, stream)); /* of both */
    CU(cuMemsetD8Async(alias + 4, 0, 16, stream));
    CU(cuMemcpyDtoD(alias + 64, base, 64));
    CU(cuMemRetainAllocationHandle(&same, reinterpret_cast<void *>(alias)));
    int file = -1;
    CU(cuMemExportToShareableHandle(&file, handles[0], CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    CU(cuMemsetD8Async(base, 0, 16, stream)); /* another process may have it by now */
    CU(cuCtxSynchronize());
    CU(cuMemUnmap(base, CHUNK));
    CU(cuMemUnmap(alias, CHUNK));
    CU(cuMemRelease(same));
    CU(cuMemMap(base, CHUNK, 0, handles[1], 0));
    CU(cuMemUnmap(base, 2 * CHUNK));
    for (CUmemGenericAllocationHandle handle : handles)
        CU(cuMemRelease(handle));
    cuMemRelease(handles[0]);
    CU(cuMemAddressFree(base, 3 * CHUNK));
    CU(cuMemAddressFree(alias, CHUNK));
    CUmemGenericAllocationHandle imported;
    CU(cuMemImportFromShareableHandle(&imported, reinterpret_cast<void *>(static_cast<intptr_t>(file)),
                                      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    CU(cuMemAddressReserve(&base, CHUNK, 0, 0, 0));
    CU(cuMemMap(base, CHUNK, 0, imported, 0));
    CU(cuMemSetAccess(base, CHUNK, &access, 1));
    CU(cuMemsetD8(base, 0, 16));
    CU(cuCtxSynchronize());
    CU(cuMemUnmap(base, CHUNK));
    CU(cuMemRelease(imported));
    close(file);
}

void arrays()
{
    CUDA_ARRAY_DESCRIPTOR about = {64, 8, CU_AD_FORMAT_FLOAT, 1};
    CUDA_ARRAY3D_DESCRIPTOR volume = {16, 4, 2, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0};
    CUarray flat, deep;
    CU(cuArrayCreate(&flat, &about));
    CU(cuArray3DCreate(&deep, &volume));
    CU(cuMemcpyHtoA(flat, 16, pageable, 64));
    CU(cuMemcpyAtoH(pinned + 8, flat, 0, 32));
    CU(cuMemcpyDtoA(flat, 0, one + 4, 128));
    CU(cuMemcpyAtoD(one + 256, flat, 64, 64));
    CU(cuMemcpyAtoA(flat, 128, flat, 0, 64));
    CU(cuMemcpyHtoAAsync(flat, 0, pinned, 256, stream));
    CU(cuMemcpyAtoHAsync(pinned, flat, 0, 256, stream));
    CUDA_MEMCPY3D copy = {};
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE, copy.srcDevice = one, copy.srcPitch = 64, copy.srcHeight = 4;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY, copy.dstArray = deep;
    copy.WidthInBytes = 64, copy.Height = 4, copy.Depth = 2;
    CU(cuMemcpy3D(&copy));
    copy.dstXInBytes = 4, copy.dstY = 1, copy.dstZ = 1, copy.WidthInBytes = 8, copy.Height = 2, copy.Depth = 1;
    CU(cuMemcpy3DAsync(&copy, apart));
    CUDA_MEMCPY2D rows = {};
    rows.srcMemoryType = CU_MEMORYTYPE_ARRAY, rows.srcArray = flat, rows.srcXInBytes = 8, rows.srcY = 2;
    rows.dstMemoryType = CU_MEMORYTYPE_UNIFIED, rows.dstDevice = other, rows.dstPitch = 128;
    rows.WidthInBytes = 100, rows.Height = 3;
    CU(cuMemcpy2DAsync(&rows, stream));
    rows.srcMemoryType = CU_MEMORYTYPE_UNIFIED, rows.srcDevice = number(pinned), rows.srcPitch = 200;
    CU(cuMemcpy2D(&rows));
    CU(cuCtxSynchronize());
    CU(cuArrayDestroy(deep));
    CU(cuArrayDestroy(flat));
    cuMemcpyHtoA(nullptr, 0, pageable, 4);
}

/* Lists of copies and ranges, most of which the simulated driver refuses. */
void lists()
{
    CUdeviceptr to[] = {one, one + 1000, number(pinned)}, from[] = {other, number(pageable), other + 500};
    size_t sizes[] = {100, 200, 300}, which = 0, failed = 0;
    CUmemcpyAttributes how = {};
    how.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    cuMemcpyBatchAsync(to, from, sizes, 3, &how, &which, 1, stream);
    cuMemcpyBatchAsync(to, from, sizes, 0, &how, &which, 1, stream);
    CUDA_MEMCPY3D_BATCH_OP ops[2] = {};
    for (CUDA_MEMCPY3D_BATCH_OP &op : ops) {
        op.src.type = op.dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
        op.src.op.ptr.ptr = other, op.src.op.ptr.rowLength = 32, op.src.op.ptr.layerHeight = 4;
        op.dst.op.ptr.ptr = one + 64;
        op.extent = {16, 4, 2};
    }
    cuMemcpy3DBatchAsync(2, ops, 0, stream);
    CUmemLocation device = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    CUdeviceptr managed;
    CU(cuMemAllocManaged(&managed, BYTES, CU_MEM_ATTACH_GLOBAL));
    cuMemPrefetchAsync(managed + 16, 4096, device, 0, stream);
    cuMemPrefetchBatchAsync(&managed, sizes, 1, &device, &which, 1, 0, stream);
    cuMemDiscardBatchAsync(to, sizes, 2, 0, stream);
    cuMemDiscardAndPrefetchBatchAsync(to, sizes, 2, &device, &which, 1, 0, stream);
    CU(cuStreamAttachMemAsync(stream, managed, 0, CU_MEM_ATTACH_GLOBAL));
    cuStreamAttachMemAsync(stream, managed + 8, 16, CU_MEM_ATTACH_SINGLE);
    cuMemAdvise(managed, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, device);
    CUmemDecompressParams unpack[1] = {};
    unpack[0].src = reinterpret_cast<void *>(other), unpack[0].srcNumBytes = 100;
    unpack[0].dst = reinterpret_cast<void *>(one), unpack[0].dstNumBytes = 1000;
    cuMemBatchDecompressAsync(unpack, 1, 0, &failed, stream);
    CU(cuMemsetD2D8Async(managed, 128, 1, 100, 5, stream));
    CU(cuMemsetD2D16(one + 2, 256, 1, 10, 2));
    cuMemsetD2D32(one + 2, 256, 1, 10, 2); /* not aligned */
    CU(cuCtxSynchronize());
    CU(cuMemFree(managed));
}

int memory()
{
    prepare();
    host_memory();
    pools();
    mapped();
    arrays();
    lists();
    CUipcMemHandle shared;
    CU(cuIpcGetMemHandle(&shared, one));
    CU(cuMemsetD8(one, 0, 16));
    CU(cuMemFreeHost(pinned));
    cuMemFreeHost(pinned);
    CU(cuMemFree(one));
    cuMemFree(one);
    cuMemFree(0);
    return 0;
}

void events()
{
    CUevent timed, plain;
    float ms;
    CU(cuEventCreate(&timed, CU_EVENT_DEFAULT));
    CU(cuEventCreate(&plain, CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC));
    CU(cuEventQuery(timed)); /* never recorded */
    CU(cuEventRecord(timed, stream));
    CU(cuEventRecordWithFlags(plain, apart, 0));
    CU(cuStreamWaitEvent(apart, timed, 0));
    CU(cuStreamWaitEvent(nullptr, plain, 0));
    CU(cuEventRecord(timed, nullptr));
    CU(cuStreamSynchronize(stream));
    CU(cuEventSynchronize(timed));
    CU(cuEventQuery(timed));
    CU(cuCtxSynchronize());
    cuEventElapsedTime(&ms, timed, plain);
    cuEventElapsedTime(&ms, timed, timed);
    cuCtxRecordEvent(context, timed);
    cuCtxWaitEvent(context, timed);
    CU(cuEventDestroy(timed));
    cuEventRecord(timed, stream);
    CU(cuStreamWaitEvent(stream, plain, 0));
    CU(cuEventDestroy(plain));
}

void values()
{
    CUdeviceptr word;
    CU(cuMemHostGetDevicePointer(&word, pinned, 0));
    CU(cuStreamWriteValue32(stream, word, 5, CU_STREAM_WRITE_VALUE_DEFAULT));
    CU(cuStreamWaitValue32(stream, word, 5, CU_STREAM_WAIT_VALUE_EQ));
    CU(cuStreamWriteValue64(nullptr, word + 8, 6, CU_STREAM_WRITE_VALUE_DEFAULT));
    CU(cuStreamWaitValue64(apart, word + 8, 6, CU_STREAM_WAIT_VALUE_GEQ));
    CUstreamBatchMemOpParams ops[2] = {};
    ops[0].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    ops[0].writeValue.address = word + 16, ops[0].writeValue.value = 7;
    ops[1].operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    ops[1].waitValue.address = word + 16, ops[1].waitValue.value = 7;
    cuStreamBatchMemOp(stream, 2, ops, 0);
    CU(cuCtxSynchronize());
}

void attributes()
{
    CUstreamAttrValue value = {};
    CUfunction function = kernel("fill");
    uint32_t count = 4, nine = 9;
    void *params[] = {&one, &nine, &count};
    CU(cuLaunchCooperativeKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, params));
    CUlaunchAttribute attribute[2] = {};
    CUlaunchConfig config = {};
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = 8, config.blockDimY = 2, config.blockDimZ = 1;
    config.sharedMemBytes = 128;
    config.hStream = apart;
    config.attrs = attribute;
    CU(cuLaunchKernelEx(&config, function, params, nullptr));
    for (CUlaunchAttributeID id : {CU_LAUNCH_ATTRIBUTE_COOPERATIVE, CU_LAUNCH_ATTRIBUTE_PRIORITY,
                                   CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, CU_LAUNCH_ATTRIBUTE_IGNORE}) {
        config.numAttrs = 1;
        attribute[0].id = id;
        attribute[0].value.cooperative = 1;
        cuLaunchKernelEx(&config, function, params, nullptr);
    }
    cuLaunchKernel(function, 0, 1, 1, 32, 1, 1, 0, stream, params, nullptr); /* an empty grid is refused */
    cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, nullptr, nullptr);
    cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024);
    cuFuncSetCacheConfig(function, CU_FUNC_CACHE_PREFER_L1);
    cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value);
    cuStreamCopyAttributes(apart, stream);
    CU(cuCtxSynchronize());
    CU(cuStreamQuery(apart));
}

void contexts()
{
    CUcontext second, popped;
    CUdeviceptr there;
    CUstream its;
    size_t limit = 1 << 20;
    CU(cuCtxCreate(&second, nullptr, 0, 0));
    CU(cuMemAlloc(&there, 4096));
    CU(cuStreamCreate(&its, CU_STREAM_NON_BLOCKING));
    CU(cuMemsetD8Async(there, 1, 64, its));
    CU(cuMemsetD8(there, 1, 64));
    CU(cuMemcpyPeer(one, context, there, second, 64));
    CU(cuMemcpyPeerAsync(there + 128, second, one, context, 64, its));
    CU(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, limit));
    CU(cuCtxPopCurrent(&popped));
    CU(cuMemsetD8(one, 1, 64));
    CU(cuCtxPushCurrent(second));
    CU(cuStreamDestroy(its));
    CU(cuCtxSynchronize());
    CU(cuCtxDestroy(second));
    CU(cuCtxSetCurrent(context));
    cuMemsetD8(there, 1, 64); /* gone with its context */
}

/* Each is over before the next begins. */
void threads()
{
    for (const char *name : {"second", "the third one"})
        std::thread([name] {
            pthread_setname_np(pthread_self(), name);
            CU(cuCtxSetCurrent(context));
            CU(cuMemsetD8(one, 1, 64));
            CU(cuMemsetD8Async(one, 1, 64, CU_STREAM_PER_THREAD));
            CU(cuMemsetD8Async(other, 1, 64, CU_STREAM_LEGACY));
            CU(cuCtxSynchronize());
        }).join();
}

int order()
{
    prepare();
    events();
    values();
    attributes();
    contexts();
    threads();
    CU(cuStreamDestroy(apart));
    CU(cuModuleUnload(module));
    CU(cuDevicePrimaryCtxRelease(0));
    return 0;
}

} // namespace

int main(int argc, char **argv)
{
    const std::string mode = argc > 1 ? argv[1] : "";
    const std::map<std::string, int (*)()> parts = {{"memory", memory},   {"graphs", graphs},       {"order", order},
                                                    {"kernels", kernels}, {"libraries", libraries}, {"failures", failures}};
    auto part = parts.find(mode);
    return part == parts.end() ? 2 : part->second();
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Could the host tell by the call that work is pending which it was promised to be done? The answer for each function, put
 * down here and not taken from the table: so an answer that is missing there, or another one, is found.
 */
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>

extern "C" {
#include "interpose/api/api.h"
}

namespace
{

/* Work whose order is kept by what it touches, and its records and waits; captures; what is asked of objects themselves,
 * of which pending work changes nothing; and objects that the driver keeps for as long as work needs them. */
const char *const no =
    "cuArrayGetPlane cuCtxAttach cuCtxFromGreenCtx cuCtxPopCurrent cuCtxPopCurrent_v2 cuCtxPushCurrent "
    "cuCtxPushCurrent_v2 cuCtxRecordEvent cuCtxSetCacheConfig cuCtxSetCurrent cuCtxSetFlags cuCtxSetSharedMemConfig "
    "cuCtxWaitEvent cuDevicePrimaryCtxSetFlags cuDevicePrimaryCtxSetFlags_v2 cuEGLStreamConsumerAcquireFrame "
    "cuEGLStreamConsumerReleaseFrame cuEGLStreamProducerPresentFrame cuEGLStreamProducerReturnFrame cuEventDestroy "
    "cuEventDestroy_v2 cuEventRecord cuEventRecordWithFlags cuFlushGPUDirectRDMAWrites cuFuncSetAttribute "
    "cuFuncSetCacheConfig "
    "cuFuncSetSharedMemConfig cuGLMapBufferObject cuGLMapBufferObjectAsync cuGLMapBufferObjectAsync_v2 "
    "cuGLMapBufferObject_v2 cuGLUnmapBufferObject cuGLUnmapBufferObjectAsync cuGetProcAddress cuGetProcAddress_v2 "
    "cuGraphAddEventRecordNode cuGraphAddEventWaitNode cuGraphEventRecordNodeSetEvent cuGraphEventWaitNodeSetEvent "
    "cuGraphExecChildGraphNodeSetParams cuGraphExecDestroy cuGraphExecEventRecordNodeSetEvent "
    "cuGraphExecEventWaitNodeSetEvent cuGraphExecKernelNodeSetParams cuGraphExecKernelNodeSetParams_v2 "
    "cuGraphExecMemcpyNodeSetParams cuGraphExecMemsetNodeSetParams cuGraphExecNodeSetParams "
    "cuGraphKernelNodeSetAttribute cuGraphNodeSetParams cuGraphicsMapResources cuGraphicsResourceGetMappedEglFrame "
    "cuGraphicsResourceGetMappedMipmappedArray cuGraphicsResourceGetMappedPointer "
    "cuGraphicsResourceGetMappedPointer_v2 cuGraphicsSubResourceGetMappedArray cuGraphicsUnmapResources "
    "cuGreenCtxRecordEvent cuGreenCtxWaitEvent cuInit cuIpcOpenEventHandle cuKernelSetAttribute "
    "cuKernelSetCacheConfig cuLaunchHostFunc "
    "cuLinkComplete cuMemAddressFree cuMemBatchDecompressAsync cuMemDiscardAndPrefetchBatchAsync "
    "cuMemDiscardBatchAsync cuMemFreeAsync cuMemHostGetDevicePointer cuMemHostGetDevicePointer_v2 "
    "cuMemMapArrayAsync cuMemPrefetchAsync cuMemPrefetchAsync_v2 cuMemPrefetchBatchAsync cuMemRelease "
    "cuMemRetainAllocationHandle cuMemcpy cuMemcpy2D cuMemcpy2DAsync cuMemcpy2DAsync_v2 cuMemcpy2DUnaligned "
    "cuMemcpy2DUnaligned_v2 cuMemcpy2D_v2 cuMemcpy3D cuMemcpy3DAsync cuMemcpy3DAsync_v2 cuMemcpy3DBatchAsync "
    "cuMemcpy3DBatchAsync_v2 cuMemcpy3DPeer cuMemcpy3DPeerAsync cuMemcpy3D_v2 cuMemcpyAsync cuMemcpyAtoA "
    "cuMemcpyAtoA_v2 cuMemcpyAtoD cuMemcpyAtoD_v2 cuMemcpyAtoH cuMemcpyAtoHAsync cuMemcpyAtoHAsync_v2 "
    "cuMemcpyAtoH_v2 cuMemcpyBatchAsync cuMemcpyBatchAsync_v2 cuMemcpyDtoA cuMemcpyDtoA_v2 cuMemcpyDtoD "
    "cuMemcpyDtoDAsync cuMemcpyDtoDAsync_v2 cuMemcpyDtoD_v2 cuMemcpyDtoH cuMemcpyDtoHAsync cuMemcpyDtoHAsync_v2 "
    "cuMemcpyDtoH_v2 cuMemcpyHtoA cuMemcpyHtoAAsync cuMemcpyHtoAAsync_v2 cuMemcpyHtoA_v2 cuMemcpyHtoD "
    "cuMemcpyHtoDAsync cuMemcpyHtoDAsync_v2 cuMemcpyHtoD_v2 cuMemcpyPeer cuMemcpyPeerAsync cuMemsetD16 "
    "cuMemsetD16Async cuMemsetD16_v2 cuMemsetD2D16 cuMemsetD2D16Async cuMemsetD2D16_v2 cuMemsetD2D32 "
    "cuMemsetD2D32Async cuMemsetD2D32_v2 cuMemsetD2D8 cuMemsetD2D8Async cuMemsetD2D8_v2 cuMemsetD32 "
    "cuMemsetD32Async cuMemsetD32_v2 cuMemsetD8 cuMemsetD8Async cuMemsetD8_v2 cuMipmappedArrayGetLevel "
    "cuModuleGetSurfRef cuModuleGetTexRef cuSignalExternalSemaphoresAsync cuStreamAddCallback "
    "cuStreamAttachMemAsync cuStreamBatchMemOp cuStreamBatchMemOp_v2 cuStreamBeginCapture "
    "cuStreamBeginCaptureToGraph cuStreamBeginCapture_v2 cuStreamCopyAttributes cuStreamDestroy cuStreamDestroy_v2 "
    "cuStreamEndCapture cuStreamGetAttribute cuStreamGetCaptureInfo cuStreamGetCaptureInfo_v2 "
    "cuStreamGetCaptureInfo_v3 cuStreamGetCtx cuStreamGetCtx_v2 cuStreamGetDevice cuStreamGetFlags "
    "cuStreamGetGreenCtx cuStreamGetId cuStreamGetPriority cuStreamIsCapturing cuStreamSetAttribute "
    "cuStreamUpdateCaptureDependencies cuStreamUpdateCaptureDependencies_v2 cuStreamWaitEvent cuStreamWaitValue32 "
    "cuStreamWaitValue32_v2 cuStreamWaitValue64 cuStreamWaitValue64_v2 cuStreamWriteValue32 cuStreamWriteValue32_v2 "
    "cuStreamWriteValue64 cuStreamWriteValue64_v2 cuThreadExchangeStreamCaptureMode cuWaitExternalSemaphoresAsync "
    "cuFabricCpyBatchAsync cuGraphNodeSetParams_v2 cuLaunchHostFunc_v2 cuMemcpy3DWithAttributesAsync "
    "cuMemcpyWithAttributesAsync cuStreamBeginCaptureToCig cuStreamBeginRecaptureToGraph cuStreamEndCaptureToCig "
    "cuStreamGetDevResource";

/* Their own waits cover that work, as measured (tests/conformance/hostblock.c). */
const char *const waits =
    "cuCtxSynchronize cuCtxSynchronize_v2 cuEventSynchronize cuMemFreeHost cuMemHostUnregister cuModuleUnload "
    "cuStreamSynchronize";

/* How much memory there is, and what trims give back; what takes from pending work what it needs. A free waits for its own
 * context alone, and another one's work may use the memory. */
const char *const settle_first =
    "cuArrayDestroy cuCtxDestroy cuCtxDestroy_v2 cuCtxDetach cuCtxDisablePeerAccess cuDestroyExternalMemory "
    "cuDestroyExternalSemaphore cuDeviceGetGraphMemAttribute cuDeviceGraphMemTrim cuDevicePrimaryCtxRelease "
    "cuDevicePrimaryCtxRelease_v2 cuDevicePrimaryCtxReset cuDevicePrimaryCtxReset_v2 cuDeviceSetGraphMemAttribute "
    "cuGraphicsUnregisterResource cuGreenCtxDestroy cuIpcCloseMemHandle cuIpcGetEventHandle cuLibraryUnload "
    "cuMemFree cuMemFree_v2 cuMemGetInfo cuMemGetInfo_v2 cuMemPoolDestroy cuMemPoolGetAttribute cuMemPoolSetAccess "
    "cuMemPoolSetAttribute cuMemPoolTrimTo cuMipmappedArrayDestroy cuMulticastUnbind";

/* A mapping that goes, a handle that may be another's at once, and memory that others see from then on. */
const char *const settle_memory =
    "cuIpcGetMemHandle cuLibraryGetGlobal cuLibraryGetManaged cuMemExportToShareableHandle "
    "cuMemGetHandleForAddressRange cuMemPoolExportPointer cuMemSetAccess cuMemUnmap cuModuleGetGlobal "
    "cuModuleGetGlobal_v2 cuPointerSetAttribute cuSurfObjectDestroy cuTexObjectDestroy";

/* Whether something is done. */
const char *const settle_asked = "cuEventElapsedTime cuEventElapsedTime_v2 cuEventQuery cuStreamQuery";

/* What takes memory of the device, or may. */
const char *const settle_on_failure =
    "cuArray3DCreate cuArray3DCreate_v2 cuArrayCreate cuArrayCreate_v2 cuCtxCreate cuCtxCreate_v2 cuCtxCreate_v3 "
    "cuCtxCreate_v4 cuCtxSetLimit cuDevicePrimaryCtxRetain cuEventCreate cuExternalMemoryGetMappedBuffer "
    "cuExternalMemoryGetMappedMipmappedArray cuFuncLoad cuGraphAddMemAllocNode cuGraphAddNode cuGraphAddNode_v2 "
    "cuGraphExecUpdate cuGraphExecUpdate_v2 cuGraphInstantiate cuGraphInstantiateWithFlags "
    "cuGraphInstantiateWithParams cuGraphInstantiate_v2 cuGraphLaunch cuGraphUpload cuGreenCtxCreate "
    "cuGreenCtxStreamCreate cuImportExternalMemory cuImportExternalSemaphore cuIpcOpenMemHandle "
    "cuIpcOpenMemHandle_v2 cuKernelGetFunction cuLaunch cuLaunchCooperativeKernel "
    "cuLaunchCooperativeKernelMultiDevice cuLaunchGrid cuLaunchGridAsync cuLaunchKernel cuLaunchKernelEx "
    "cuLibraryGetKernel cuLibraryGetModule cuLibraryLoadData cuLibraryLoadFromFile cuMemAddressReserve cuMemAlloc "
    "cuMemAllocAsync cuMemAllocFromPoolAsync cuMemAllocHost cuMemAllocHost_v2 cuMemAllocManaged cuMemAllocPitch "
    "cuMemAllocPitch_v2 cuMemAlloc_v2 cuMemCreate cuMemHostAlloc cuMemHostRegister cuMemHostRegister_v2 "
    "cuMemImportFromShareableHandle cuMemMap cuMemPoolCreate cuMemPoolImportPointer cuMipmappedArrayCreate "
    "cuModuleGetFunction cuModuleLoad cuModuleLoadData cuModuleLoadDataEx cuModuleLoadFatBinary cuMulticastBindAddr "
    "cuMulticastBindMem cuMulticastCreate cuStreamCreate cuStreamCreateWithPriority cuSurfObjectCreate "
    "cuTexObjectCreate cuGraphAddNode_v3 cuLogicalEndpointBindAddr cuLogicalEndpointBindMem cuMulticastBindAddr_v2 "
    "cuMulticastBindMem_v2";

const struct {
    api_told told;
    const char *names;
} answers[] = {{TOLD_NO, no},
               {TOLD_WAITS, waits},
               {TOLD_SETTLE_FIRST, settle_first},
               {TOLD_SETTLE_MEMORY, settle_memory},
               {TOLD_SETTLE_ASKED, settle_asked},
               {TOLD_SETTLE_ON_FAILURE, settle_on_failure}};

std::map<std::string, int> expected()
{
    std::map<std::string, int> all;
    for (const auto &answer : answers) {
        std::istringstream names(answer.names);
        for (std::string name; names >> name;)
            EXPECT_TRUE(all.emplace(name, answer.told).second) << name << " twice";
    }
    return all;
}

TEST(Told, IsWhatEachFunctionTellsTheHost)
{
    std::map<std::string, int> left = expected();
    for (const api_row &row : api_rows) {
        const auto found = left.find(row.symbol);
        if (found == left.end()) {
            ADD_FAILURE() << row.symbol << ": could the host tell by it? Its answer belongs here, too";
            continue;
        }
        EXPECT_EQ(found->second, row.told) << row.symbol;
        left.erase(found);
    }
    for (const auto &one : left)
        ADD_FAILURE() << one.first << " has no row";
}

} // namespace

/* SPDX-License-Identifier: Apache-2.0
 *
 * The only includer of cuda.h in the shim and the simulated driver. Asks it for the raw exported names (_v2, _ptsz, _ptds)
 * instead of the macros that rename them, so that one build serves every ABI version (facts: cuda.h 13.0, line 80 ff.).
 */
#ifndef PTDS_CUDA_ABI_H
#define PTDS_CUDA_ABI_H

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#if CUDA_VERSION < 13000
#error "libptds is built against the headers of CUDA 13.0 or newer (the result runs on drivers from 11.0 on)"
#endif

/* CUeglFrame, cudaEGL.h 13.0, which passes it by value where the shim only hands it on. */
enum { PTDS_EGL_PLANES = 3, PTDS_EGL_PITCH = 1 };
struct ptds_egl_frame {
    void *plane[PTDS_EGL_PLANES]; /* arrays or addresses */
    unsigned int width, height, depth, pitch, planes, channels;
    unsigned int type; /* PTDS_EGL_PITCH: addresses */
    unsigned int formats[2];
};

/* How it is passed by value: where that is by the address of a copy, a wrapper hands that on, and needs no copy of its own.
 */
#if defined(__aarch64__)
typedef struct ptds_egl_frame *ptds_egl_frame_by_value;
#else
typedef struct ptds_egl_frame ptds_egl_frame_by_value;
#endif

/* cudaGL.h and cudaEGL.h declare these, and need the GL and EGL headers for it; copied prototypes, GLuint and handles as
 * the plain types that they are. */
#define GRAPHICS_ENTRY(name, ...) CUresult CUDAAPI name(__VA_ARGS__)
GRAPHICS_ENTRY(cuGLMapBufferObject, CUdeviceptr_v1 *, unsigned int *, unsigned int);
GRAPHICS_ENTRY(cuGLMapBufferObject_v2, CUdeviceptr *, size_t *, unsigned int);
GRAPHICS_ENTRY(cuGLMapBufferObject_v2_ptds, CUdeviceptr *, size_t *, unsigned int);
GRAPHICS_ENTRY(cuGLMapBufferObjectAsync, CUdeviceptr_v1 *, unsigned int *, unsigned int, CUstream);
GRAPHICS_ENTRY(cuGLMapBufferObjectAsync_v2, CUdeviceptr *, size_t *, unsigned int, CUstream);
GRAPHICS_ENTRY(cuGLMapBufferObjectAsync_v2_ptsz, CUdeviceptr *, size_t *, unsigned int, CUstream);
GRAPHICS_ENTRY(cuGLUnmapBufferObject, unsigned int);
GRAPHICS_ENTRY(cuGLUnmapBufferObjectAsync, unsigned int, CUstream);
GRAPHICS_ENTRY(cuEGLStreamConsumerAcquireFrame, void *, CUgraphicsResource *, CUstream *, unsigned int);
GRAPHICS_ENTRY(cuEGLStreamConsumerReleaseFrame, void *, CUgraphicsResource, CUstream *);
GRAPHICS_ENTRY(cuEGLStreamProducerPresentFrame, void *, ptds_egl_frame_by_value, CUstream *);
GRAPHICS_ENTRY(cuEGLStreamProducerReturnFrame, void *, void *, CUstream *);
GRAPHICS_ENTRY(cuGraphicsResourceGetMappedEglFrame, void *, CUgraphicsResource, unsigned int, unsigned int);
#undef GRAPHICS_ENTRY

/* What CUDA 13.1 to 13.5 added, for headers that lack it; to those that have it this says nothing new (cuda.h 13.5).
 * Structs that the shim only hands on stay incomplete. */
typedef struct CUstreamCigCaptureParams_st CUstreamCigCaptureParams;
typedef struct CUDA_FABRIC_COPY_BATCH_OP_st CUDA_FABRIC_COPY_BATCH_OP;
typedef cuuint32_t CUlogicalEndpointId;
#if CUDA_VERSION < 13030
typedef unsigned int CUgraphRecaptureStatus;
typedef CUresult(CUDA_CB *CUgraphRecaptureCallback)(void *, CUgraphNode, const CUgraphNodeParams *,
                                                    const CUgraphNodeParams *, CUgraphRecaptureStatus);
#endif

#define NEW_ENTRY(name, ...) CUresult CUDAAPI name(__VA_ARGS__)
#define NEW_ENTRIES(name, ...) \
    NEW_ENTRY(name, __VA_ARGS__); \
    NEW_ENTRY(name##_ptsz, __VA_ARGS__)
NEW_ENTRIES(cuLaunchHostFunc_v2, CUstream, CUhostFn, void *, unsigned int);
NEW_ENTRIES(cuStreamGetDevResource, CUstream, CUdevResource *, CUdevResourceType);
NEW_ENTRIES(cuStreamBeginCaptureToCig, CUstream, CUstreamCigCaptureParams *);
NEW_ENTRIES(cuStreamEndCaptureToCig, CUstream);
NEW_ENTRIES(cuMemcpyWithAttributesAsync, CUdeviceptr, CUdeviceptr, size_t, CUmemcpyAttributes *, CUstream);
NEW_ENTRIES(cuMemcpy3DWithAttributesAsync, CUDA_MEMCPY3D_BATCH_OP *, unsigned long long, CUstream);
NEW_ENTRIES(cuStreamBeginRecaptureToGraph, CUstream, CUstreamCaptureMode, CUgraph, CUgraphRecaptureCallback, void *);
NEW_ENTRIES(cuFabricCpyBatchAsync, size_t, CUDA_FABRIC_COPY_BATCH_OP *, unsigned long long, CUstream);
NEW_ENTRY(cuGraphAddNode_v3, CUgraphNode *, CUgraph, const CUgraphNode *, const CUgraphEdgeData *, size_t,
          CUgraphNodeParams *);
NEW_ENTRY(cuGraphNodeSetParams_v2, CUgraphNode, CUgraphNodeParams *);
NEW_ENTRY(cuLogicalEndpointBindAddr, CUlogicalEndpointId, CUdevice, cuuint64_t, void *, cuuint64_t, unsigned long long);
NEW_ENTRY(cuLogicalEndpointBindMem, CUlogicalEndpointId, CUdevice, cuuint64_t, CUmemGenericAllocationHandle, cuuint64_t,
          cuuint64_t, unsigned long long);
NEW_ENTRY(cuMulticastBindAddr_v2, CUmemGenericAllocationHandle, CUdevice, size_t, CUdeviceptr, size_t, unsigned long long);
NEW_ENTRY(cuMulticastBindMem_v2, CUmemGenericAllocationHandle, CUdevice, size_t, CUmemGenericAllocationHandle, size_t,
          size_t, unsigned long long);
#undef NEW_ENTRIES
#undef NEW_ENTRY

#endif

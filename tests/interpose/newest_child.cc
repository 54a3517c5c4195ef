/* SPDX-License-Identifier: Apache-2.0
 *
 * A program for a simulated driver that calls functions which CUDA 13.1 to 13.5 added, between work of default streams and
 * of other threads, and says what came of it. Looks them up, since the toolkit's stub may be older.
 */
#include "tests/interpose/future.h"

#define NEWEST(name) reinterpret_cast<decltype(&name)>(ask("dlsym", #name, false))
extern "C" {
CUresult cuLaunchHostFunc_v2(CUstream stream, CUhostFn function, void *data, unsigned mode);
CUresult cuMemcpyWithAttributesAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUmemcpyAttributes *how,
                                     CUstream stream);
CUresult cuGraphAddNode_v3(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, const CUgraphEdgeData *edges,
                           size_t count, CUgraphNodeParams *params);
CUresult cuGraphNodeSetParams_v2(CUgraphNode node, CUgraphNodeParams *params);
}

namespace
{

unsigned *pinned;
unsigned noted;

void note(void *)
{
    noted = pinned[0];
}

unsigned last_word()
{
    std::vector<unsigned> words(WORDS);
    CU(cuMemcpyDtoDAsync(out, dst, WORDS * sizeof(unsigned), nullptr));
    CU(cuMemcpyDtoH(words.data(), out, WORDS * sizeof(unsigned)));
    return words[WORDS - 1];
}

void host_function()
{
    CUdeviceptr mapped;
    CU(cuMemHostAlloc(reinterpret_cast<void **>(&pinned), WORDS * sizeof(unsigned), CU_MEMHOSTALLOC_DEVICEMAP));
    CU(cuMemHostGetDevicePointer(&mapped, pinned, 0));
    CU(cuMemsetD32(mapped, 0, WORDS));
    in_other_thread(mapped, 7);
    CU(NEWEST(cuLaunchHostFunc_v2)(nullptr, note, nullptr, 1));
    CU(cuStreamSynchronize(nullptr));
    printf("host function: %u, refused: %d\n", noted, NEWEST(cuLaunchHostFunc_v2)(nullptr, note, nullptr, 2));
}

void graph_node(CUstream stream)
{
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;
    CUgraphNodeParams params = {};
    params.type = CU_GRAPH_NODE_TYPE_MEMSET;
    params.memset.dst = dst;
    params.memset.elementSize = 4;
    params.memset.width = WORDS;
    params.memset.height = 1;
    params.memset.value = 9;
    CU(cuGraphCreate(&graph, 0));
    CU(NEWEST(cuGraphAddNode_v3)(&node, graph, nullptr, nullptr, 0, &params));
    params.memset.value = 10;
    CU(NEWEST(cuGraphNodeSetParams_v2)(node, &params));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    slow(stream);
    CU(cuGraphLaunch(exec, stream));
    printf("graph: %u\n", last_word());
}

void newest()
{
    CUstream blocking;
    CUmemcpyAttributes attributes = {};
    attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    CU(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    host_function();
    reset();
    in_other_thread(src, 8);
    CU(NEWEST(cuMemcpyWithAttributesAsync)(dst, src, WORDS * sizeof(unsigned), &attributes, blocking));
    printf("copy: %u\n", last_word());
    graph_node(blocking);
}

} // namespace

int main()
{
    open_driver();
    start_with_memory();
    newest();
    CU(cuCtxSynchronize());
    printf("done\n");
    return 0;
}

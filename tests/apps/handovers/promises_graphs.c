// SPDX-License-Identifier: Apache-2.0
//
// Cases of promises about graphs whose kernels find memory by pointers that lie in memory, which are others by the time of
// a launch; and about memory that graphs allocate. Called by the runner (promises.c).

#include "tests/apps/handovers/promises.h"
#include "tests/conformance/tables.ptx.h"

enum { TABLE_BYTES = 128 << 10, GRAPHS_BYTES = 1 << 20 }; // more than a copy is looked through for

static struct {
    CUfunction scatter;
    CUdeviceptr table;
    CUgraph nodes;
    CUgraphExec exec;
} graph;

static CUdeviceptr pointers[TABLE_BYTES / sizeof(CUdeviceptr)];

static void add_scatter(CUgraphNode *node)
{
    uint32_t entries = 1, value = OTHER, count = WORDS;
    void *arguments[] = {&graph.table, &entries, &value, &count};
    const CUDA_KERNEL_NODE_PARAMS kernel = {.func = graph.scatter,
                                            .gridDimX = 4,
                                            .gridDimY = 1,
                                            .gridDimZ = 1,
                                            .blockDimX = WORDS / 4,
                                            .blockDimY = 1,
                                            .blockDimZ = 1,
                                            .kernelParams = arguments};
    CU(cuGraphAddKernelNode_v2(node, graph.nodes, NULL, 0, &kernel));
}

// The table's memory is made when the kernel is known: nothing has been written to it then.
static void make_graph(struct promise *p, CUgraphNode *node)
{
    CUmodule module;
    uint32_t none = 0;
    CU(cuModuleLoadData(&module, ptds_tables_ptx));
    CU(cuModuleGetFunction(&graph.scatter, module, PTDS_SCATTER));
    CU(cuLaunchKernel(graph.scatter, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&p->seen, &none, &none, &none}, NULL));
    CU(cuMemAlloc(&graph.table, TABLE_BYTES));
    CU(cuGraphCreate(&graph.nodes, 0));
    add_scatter(node);
}

static void launch_graph(struct promise *p)
{
    (void)p;
    CU(cuGraphLaunch(graph.exec, NULL));
}

static void read_words(struct promise *p)
{
    copy(p, NULL, p->seen, p->words, WORDS);
}

static int scattered(struct promise *p)
{
    CU(cuCtxSynchronize());
    shut(p, NULL);
    launch_graph(p);
    elsewhere(p, read_words);
    return device_are(p->seen, OTHER, WORDS);
}

// ---- instantiated while the table is fresh, which is filled after that ----

static int table_filled_later(struct promise *p)
{
    CUgraphNode node;
    make_graph(p, &node);
    CU(cuGraphInstantiateWithFlags(&graph.exec, graph.nodes, 0));
    pointers[0] = p->words;
    CU(cuMemcpyHtoD(graph.table, pointers, sizeof pointers));
    return scattered(p);
}

static int table_written_later(struct promise *p)
{
    CUgraphNode node;
    make_graph(p, &node);
    CU(cuGraphInstantiateWithFlags(&graph.exec, graph.nodes, 0));
    if (cuStreamWriteValue64(NULL, graph.table, p->words, 0) != CUDA_SUCCESS) {
        p->no = "streams write no values here";
        return 1;
    }
    return scattered(p);
}

// ---- the graph itself fills its table, for the next launch ----

static int table_of_own_copy(struct promise *p)
{
    CUdeviceptr from, before;
    CUgraphNode kernel, copied;
    make_graph(p, &kernel);
    CU(cuMemAlloc(&from, TABLE_BYTES));
    CU(cuMemAlloc(&before, BYTES));
    const CUDA_MEMCPY3D nodes_copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                      .srcDevice = from,
                                      .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                      .dstDevice = graph.table,
                                      .WidthInBytes = TABLE_BYTES,
                                      .Height = 1,
                                      .Depth = 1};
    CU(cuGraphAddMemcpyNode(&copied, graph.nodes, &kernel, 1, &nodes_copy, p->app.context));
    CU(cuGraphInstantiateWithFlags(&graph.exec, graph.nodes, 0));
    CU(cuMemcpyHtoD(graph.table, &before, sizeof before));
    pointers[0] = p->words;
    CU(cuMemcpyHtoD(from, pointers, sizeof pointers));
    launch_graph(p);
    return scattered(p);
}

// ---- memory that the graph allocates and somebody else frees: the next launch brings it back ----

static int brought_back(struct promise *p, CUdeviceptr memory)
{
    int right = 1;
    p->words = memory + GRAPHS_BYTES / 2; // far from all other memory
    CU(cuGraphInstantiateWithFlags(&graph.exec, graph.nodes, 0));
    for (int i = 0; i < 3; i++) {
        CU(cuMemsetD32(p->seen, 0, WORDS));
        launch_graph(p);
        fill(p, NULL, p->words, NEW, WORDS);
        CU(cuCtxSynchronize());
        slow_add(p, NULL);
        elsewhere(p, read_words);
        right &= device_are(p->seen, NEW + 1, WORDS);
        CU(i % 2 ? cuMemFree(memory) : cuMemFreeAsync(memory, NULL));
        CU(cuCtxSynchronize());
    }
    return right;
}

static int memory_of_node(struct promise *p)
{
    CUDA_MEM_ALLOC_NODE_PARAMS alloc = {.bytesize = GRAPHS_BYTES};
    CUgraphNode node;
    alloc.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    alloc.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    alloc.poolProps.location.id = p->app.device;
    CU(cuGraphCreate(&graph.nodes, 0));
    CU(cuGraphAddMemAllocNode(&node, graph.nodes, NULL, 0, &alloc));
    return brought_back(p, alloc.dptr);
}

static int memory_captured(struct promise *p)
{
    CUdeviceptr memory;
    CU(cuStreamBeginCapture(p->n, CU_STREAM_CAPTURE_MODE_RELAXED));
    CU(cuMemAllocAsync(&memory, GRAPHS_BYTES, p->n));
    CU(cuStreamEndCapture(p->n, &graph.nodes));
    return brought_back(p, memory);
}

const struct named_case cases_graphs[] = {
    {"graph-table-filled-later", table_filled_later, 0}, {"graph-table-written-later", table_written_later, 0},
    {"graph-table-of-own-copy", table_of_own_copy, 0},   {"graph-memory-of-node", memory_of_node, 0},
    {"graph-memory-captured", memory_captured, 0},       {0},
};

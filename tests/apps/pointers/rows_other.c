// SPDX-License-Identifier: Apache-2.0
//
// Rows of parameters that need nothing brought, of graphs, of the device's heap, of texture and surface objects. Listed in
// pointers.h for the runner.

#include "tests/apps/pointers/pointers.h"

static CUdeviceptr entry_of(const struct scene *s)
{
    return s->table + s->entry * 8;
}

static void few(struct scene *s)
{
    table_make(s, FEW, ENTRY);
}

static void bring(struct scene *s)
{
    bring_pageable(s, entry_of(s), s->target);
}

static void bring_variable(struct scene *s)
{
    bring_pageable(s, variable(s->module, "pointer"), s->target);
}

// ---- graphs ----

static CUgraphNode add_kernel(CUgraph graph, const CUgraphNode *after, CUfunction function, void **at)
{
    CUgraphNode node;
    CUDA_KERNEL_NODE_PARAMS params = {.func = function,
                                      .gridDimX = 1,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = 1,
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .kernelParams = at};
    CU(cuGraphAddKernelNode(&node, graph, after, after != NULL, &params));
    return node;
}

// One word from pinned memory to the table's entry.
static CUgraphNode add_copy(struct scene *s, CUgraph graph)
{
    CUgraphNode node;
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = s->pinned,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = entry_of(s),
                          .WidthInBytes = 8,
                          .Height = 1,
                          .Depth = 1};
    CU(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, s->app->context));
    return node;
}

static void instantiate(struct scene *s, CUgraph graph)
{
    CU(cuGraphInstantiateWithFlags(&s->graph, graph, 0));
    CU(cuGraphDestroy(graph));
}

static void launch_graph(struct scene *s, CUfunction function, void **at)
{
    (void)function;
    (void)at;
    CU(cuGraphLaunch(s->graph, NULL));
}

static void launch_as_node(struct scene *s, CUfunction function, void **at)
{
    CUgraph graph;
    CU(cuGraphCreate(&graph, 0));
    add_kernel(graph, NULL, function, at);
    instantiate(s, graph);
    CU(cuGraphLaunch(s->graph, NULL));
}

static void graph_made_before(struct scene *s)
{
    struct arguments arguments;
    CUgraph graph;
    few(s);
    CUfunction function = arguments_of(s, &arguments);
    CU(cuGraphCreate(&graph, 0));
    add_kernel(graph, NULL, function, arguments.at);
    instantiate(s, graph);
}

static void copy_and_kernel(struct scene *s)
{
    struct arguments arguments;
    CUgraph graph;
    few(s);
    s->pinned[0] = s->decoy;
    CUfunction function = arguments_of(s, &arguments);
    CU(cuGraphCreate(&graph, 0));
    CUgraphNode copy = add_copy(s, graph);
    add_kernel(graph, &copy, function, arguments.at);
    instantiate(s, graph);
}

static void host_writes(struct scene *s)
{
    s->pinned[0] = s->target;
}

// The copy is the graph's, the kernel is not.
static void copy_in_graph(struct scene *s)
{
    CUgraph graph;
    few(s);
    s->pinned[0] = s->decoy;
    CU(cuGraphCreate(&graph, 0));
    add_copy(s, graph);
    instantiate(s, graph);
}

static void host_writes_and_graph(struct scene *s)
{
    host_writes(s);
    CU(cuGraphLaunch(s->graph, NULL));
}

// What stream work would be is captured: a host function, the copy of what it makes, the kernel.
static void launch_captured(struct scene *s, CUfunction function, void **at)
{
    CUgraph graph;
    s->pinned[0] = s->decoy;
    CU(cuStreamBeginCapture(s->aside, CU_STREAM_CAPTURE_MODE_RELAXED));
    host_function_fills(s, s->aside, &s->pinned[0], s->target);
    CU(cuMemcpyHtoDAsync(entry_of(s), s->pinned, 8, s->aside));
    CU(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, s->aside, at, NULL));
    CU(cuStreamEndCapture(s->aside, &graph));
    instantiate(s, graph);
    CU(cuGraphLaunch(s->graph, NULL));
}

// Nobody has seen the kernel before: it is first launched in a capture in which no thread may ask the driver anything.
static void launch_first_in_capture(struct scene *s, CUfunction function, void **at)
{
    CUgraph graph;
    CU(cuStreamBeginCapture(s->aside, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, s->aside, at, NULL));
    CU(cuStreamEndCapture(s->aside, &graph));
    instantiate(s, graph);
    CU(cuGraphLaunch(s->graph, NULL));
}

// The node has the decoy until its parameters are set anew in the executable graph.
static void launch_set_anew(struct scene *s, CUfunction function, void **at)
{
    CUgraph graph;
    struct arguments decoy;
    CUdeviceptr target = s->target;
    s->target = s->decoy;
    arguments_of(s, &decoy);
    s->target = target;
    CU(cuGraphCreate(&graph, 0));
    CUgraphNode node = add_kernel(graph, NULL, function, decoy.at);
    CU(cuGraphInstantiateWithFlags(&s->graph, graph, 0));
    CUDA_KERNEL_NODE_PARAMS params;
    CU(cuGraphKernelNodeGetParams(node, &params));
    params.kernelParams = at;
    CU(cuGraphExecKernelNodeSetParams(s->graph, node, &params));
    CU(cuGraphDestroy(graph));
    CU(cuGraphLaunch(s->graph, NULL));
}

// ---- the device's heap: memory that one module takes and keeps in a variable ----

static void use_heap(struct scene *s, CUfunction function, uint64_t ns, uint64_t value)
{
    struct arguments arguments = {.count = 0};
    (void)s;
    pass_64(&arguments, ns);
    pass_64(&arguments, value);
    pass_32(&arguments, WORDS);
    launch_one(function, &arguments);
}

static void heap(struct scene *s)
{
    struct arguments arguments = {.count = 0};
    CUfunction take;
    load(s, &way_heap, &s->other_module, &s->other_write, &s->other_read);
    if (s->no)
        return;
    CU(cuModuleGetFunction(&take, s->other_module, "take"));
    s->table = variable(s->other_module, "pointer");
    pass_32(&arguments, OLD);
    pass_32(&arguments, WORDS);
    CUresult result = cuLaunchKernel(take, 1, 1, 1, 1, 1, 1, 0, NULL, arguments.at, NULL);
    can(s, result == CUDA_SUCCESS ? cuCtxSynchronize() : result, "no heap");
}

static void write_heap(struct scene *s, uint64_t ns)
{
    use_heap(s, s->other_write, ns, NEW);
}

static void read_heap(struct scene *s)
{
    use_heap(s, s->other_read, 0, s->seen);
}

// ---- textures and surfaces ----

static void texture(struct scene *s)
{
    CUDA_RESOURCE_DESC resource = {
        .resType = CU_RESOURCE_TYPE_LINEAR,
        .res.linear = {.devPtr = s->target, .format = CU_AD_FORMAT_UNSIGNED_INT32, .numChannels = 1, .sizeInBytes = BYTES}};
    CUDA_TEXTURE_DESC description = {.flags = CU_TRSF_READ_AS_INTEGER};
    can(s, cuTexObjectCreate(&s->texture, &resource, &description, NULL), "no texture objects");
}

static void end_texture(struct scene *s)
{
    if (s->texture)
        CU(cuTexObjectDestroy(s->texture));
}

static void bring_texture(struct scene *s)
{
    bring_pageable(s, variable(s->module, "pointer"), s->texture);
}

static CUDA_MEMCPY2D into_array(struct scene *s, CUdeviceptr words)
{
    return (CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                           .srcDevice = words,
                           .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                           .dstArray = s->array,
                           .WidthInBytes = BYTES,
                           .Height = 1};
}

static void surface(struct scene *s)
{
    CUDA_ARRAY3D_DESCRIPTOR shape = {
        .Width = WORDS, .Format = CU_AD_FORMAT_UNSIGNED_INT32, .NumChannels = 1, .Flags = CUDA_ARRAY3D_SURFACE_LDST};
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};
    if (!can(s, cuArray3DCreate(&s->array, &shape), "no arrays"))
        return;
    CUDA_MEMCPY2D copy = into_array(s, s->target);
    CU(cuMemcpy2D(&copy));
    resource.res.array.hArray = s->array;
    can(s, cuSurfObjectCreate(&s->texture, &resource), "no surface objects");
}

static void end_surface(struct scene *s)
{
    if (s->texture)
        CU(cuSurfObjectDestroy(s->texture));
    if (s->array)
        CU(cuArrayDestroy(s->array));
}

// What the copy reads is slow to come.
static void write_array(struct scene *s, uint64_t ns)
{
    struct arguments arguments = {.count = 0};
    pass_64(&arguments, s->target);
    pass_64(&arguments, ns);
    pass_32(&arguments, NEW);
    pass_32(&arguments, WORDS);
    launch_one(s->plain_write, &arguments);
    CUDA_MEMCPY2D copy = into_array(s, s->target);
    CU(cuMemcpy2DAsync(&copy, NULL));
}

static void read_array(struct scene *s)
{
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                          .srcArray = s->array,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = s->seen,
                          .WidthInBytes = BYTES,
                          .Height = 1};
    CU(cuMemcpy2DAsync(&copy, NULL));
}

#define PLAIN(title, how) \
    { \
        .name = title, .way = &how \
    }
#define LIMIT(title, how) \
    { \
        .name = title, .way = &how, .limit = 1 \
    }

const struct row rows_other[] = {
    PLAIN("plain", way_plain),
    PLAIN("atomic", way_plain_atomic),
    PLAIN("const-name", way_const_name),
    PLAIN("halves", way_halves),
    PLAIN("halves-apart", way_halves_apart),
    PLAIN("halves-swapped", way_halves_swapped),
    PLAIN("halves-swapped-apart", way_halves_swapped_apart),
    PLAIN("before-64k", way_before),
    PLAIN("behind-64k", way_behind),
    LIMIT("before-64m", way_far_before),
    LIMIT("behind-64m", way_far_behind),
    PLAIN("difference", way_difference),
    PLAIN("difference-computed", way_difference_computed),
    PLAIN("tag-high", way_tag_high),
    PLAIN("tag-low", way_tag_low),
    PLAIN("xor", way_xor),
    PLAIN("xor-constant", way_xor_constant),
    PLAIN("shifted", way_shifted),
    PLAIN("negated", way_negated),
    PLAIN("struct-odd", way_struct_odd),
    PLAIN("struct-packed", way_struct_packed),
    PLAIN("struct-middle", way_struct_middle),
    PLAIN("struct-large", way_struct_large),
    PLAIN("selected", way_selected),
    PLAIN("through-shared", way_shared),
    PLAIN("through-local", way_local),
    {.name = "graph-kernel", .way = &way_table, .make = few, .bring = bring, .launch = launch_as_node},
    {.name = "graph-kernel-earlier", .way = &way_table, .make = graph_made_before, .bring = bring, .launch = launch_graph},
    {.name = "graph-copy", .way = &way_table, .make = copy_in_graph, .bring = host_writes_and_graph},
    {.name = "graph-both", .way = &way_table, .make = copy_and_kernel, .bring = host_writes, .launch = launch_graph},
    {.name = "graph-captured", .way = &way_table, .make = few, .launch = launch_captured},
    {.name = "graph-captured-first", .way = &way_plain, .launch = launch_first_in_capture},
    {.name = "graph-captured-first-table",
     .way = &way_table,
     .make = few,
     .bring = bring,
     .launch = launch_first_in_capture},
    {.name = "graph-captured-first-variable",
     .way = &way_variable,
     .bring = bring_variable,
     .launch = launch_first_in_capture},
    {.name = "graph-set-anew", .way = &way_plain, .launch = launch_set_anew},
    {.name = "heap", .way = &way_table, .make = heap, .write = write_heap, .read = read_heap},
    {.name = "texture", .way = &way_texture, .make = texture, .end = end_texture, .schemes = NOT_WRITE},
    {.name = "texture-in-variable",
     .way = &way_texture_variable,
     .make = texture,
     .bring = bring_texture,
     .end = end_texture,
     .schemes = NOT_WRITE},
    {.name = "surface", .way = &way_surface, .make = surface, .write = write_array, .read = read_array, .end = end_surface},
    {.name = NULL},
};

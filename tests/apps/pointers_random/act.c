// SPDX-License-Identifier: Apache-2.0
//
// The steps of a program as driver calls, all on the default stream. Called by the threads in turn. Must never look at what
// the program was drawn to leave: what is read in the end comes from the driver alone.

#include <string.h>

#include "tests/apps/pointers_random/world.h"

enum { LINE = 64 };

// ---- kernels ----

static void launch_in_graph(CUfunction function, void **arguments)
{
    CUDA_KERNEL_NODE_PARAMS params = {.func = function,
                                      .gridDimX = 1,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = 1,
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .kernelParams = arguments};
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, NULL));
    CU(cuGraphExecDestroy(exec)); // runs to its end all the same
    CU(cuGraphDestroy(graph));
}

static void launch(unsigned n)
{
    struct emit e;
    emit_kernel(&e, n);
    if (world.program->step[n].as_graph)
        launch_in_graph(world.kernel[n], e.at);
    else
        CU(cuLaunchKernel(world.kernel[n], 1, 1, 1, 1, 1, 1, 0, NULL, e.at, NULL));
}

// ---- what brings pointers ----

// Pinned memory that kernels and copies see is device memory to some calls and any memory to others.
static CUmemorytype type_of(unsigned place)
{
    return place == PINNED_TABLE ? CU_MEMORYTYPE_UNIFIED : CU_MEMORYTYPE_DEVICE;
}

static CUDA_MEMCPY3D in_lines(CUdeviceptr to, unsigned place, const uint64_t *from, size_t bytes)
{
    size_t line = bytes < LINE ? bytes : LINE;
    return (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_HOST,
                           .srcHost = from,
                           .srcPitch = line,
                           .srcHeight = bytes / line,
                           .dstMemoryType = type_of(place),
                           .dstDevice = to,
                           .dstPitch = line,
                           .dstHeight = bytes / line,
                           .WidthInBytes = line,
                           .Height = bytes / line,
                           .Depth = 1};
}

static void two_dimensions(CUdeviceptr to, unsigned place, const uint64_t *from, size_t bytes)
{
    size_t line = bytes < LINE ? bytes : LINE;
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = from,
                          .srcPitch = line,
                          .dstMemoryType = type_of(place),
                          .dstDevice = to,
                          .dstPitch = line,
                          .WidthInBytes = line,
                          .Height = bytes / line};
    CU(cuMemcpy2DAsync(&copy, NULL));
}

static void copy_in_graph(CUdeviceptr to, unsigned place, const uint64_t *from)
{
    CUDA_MEMCPY3D copy = in_lines(to, place, from, 8);
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, world.app.context));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, NULL));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

// Words of the host to device memory. pinned has the same words as from.
static void bring_words(unsigned how, CUdeviceptr to, unsigned place, const uint64_t *from, const uint64_t *pinned,
                        size_t bytes)
{
    CUDA_MEMCPY3D copy = in_lines(to, place, pinned, bytes);
    switch (how) {
    case PAGEABLE: CU(cuMemcpyHtoD(to, from, bytes)); return;
    case PAGEABLE_ASYNC: CU(cuMemcpyHtoDAsync(to, from, bytes, NULL)); return;
    case PINNED: CU(cuMemcpyHtoD(to, pinned, bytes)); return;
    case PINNED_ASYNC: CU(cuMemcpyHtoDAsync(to, pinned, bytes, NULL)); return;
    case TWO_DIMENSIONS: two_dimensions(to, place, pinned, bytes); return;
    case THREE_DIMENSIONS: CU(cuMemcpy3DAsync(&copy, NULL)); return;
    default:
        CU(cuMemcpyHtoD(world.stage_on_device, from, bytes));
        CU(cuMemcpyDtoDAsync(to, world.stage_on_device, bytes, NULL));
        return;
    }
}

static void fill(void *data)
{
    const struct fill *f = data;
    *f->at = f->value;
}

// When the copy is called, and perhaps when it has run, there is another pointer.
static void by_host_function(unsigned n, CUdeviceptr to, uint64_t value, int twice)
{
    struct fill *fills = world.fill[n];
    uint64_t *at = world.stage[n], decoy = world.buffer[PINNED_BUFFER];
    fills[0] = (struct fill){at, value};
    fills[1] = (struct fill){at, decoy};
    *at = decoy;
    CU(app_spin(&world.app, NULL, world.spin_ns / 2));
    CU(cuLaunchHostFunc(NULL, fill, &fills[0]));
    CU(cuMemcpyHtoDAsync(to, at, 8, NULL));
    if (twice)
        CU(cuLaunchHostFunc(NULL, fill, &fills[1]));
}

static void bring(unsigned n, const struct step *step)
{
    CUdeviceptr to = cell_address(step->cell);
    uint64_t value = target_address(level_of(step->cell), step->target), *stage = world.stage[n];
    *stage = value;
    switch (step->bring) {
    case TWO_COPIES:
        CU(cuMemcpyHtoD(to, &value, 4));
        CU(cuMemcpyHtoD(to + 4, (const char *)&value + 4, 4));
        return;
    case TWO_MEMSETS:
        CU(cuMemsetD32Async(to, (uint32_t)value, 1, NULL));
        CU(cuMemsetD32Async(to + 4, (uint32_t)(value >> 32), 1, NULL));
        return;
    case VALUE_WRITE: CU(cuStreamWriteValue64(NULL, to, value, CU_STREAM_WRITE_VALUE_DEFAULT)); return;
    case HOST_FUNCTION:
    case HOST_FUNCTION_TWICE: by_host_function(n, to, value, step->bring == HOST_FUNCTION_TWICE); return;
    case GRAPH_COPY: copy_in_graph(to, place_of(step->cell), stage); return;
    default: bring_words(step->bring, to, place_of(step->cell), &value, stage, 8); return;
    }
}

static void bring_table(unsigned n, const struct step *step)
{
    size_t bytes = places[step->place].words * 8u;
    uint64_t *pinned = world.stage[n];
    if (step->place == MANY_TABLE)
        pinned = world.large_used < LARGE_STAGES ? world.large[world.large_used++] : NULL;
    place_words(step->place, step->targets, world.pageable);
    if (pinned)
        memcpy(pinned, world.pageable, bytes);
    bring_words(pinned ? step->bring : PAGEABLE, world.place[step->place], step->place, world.pageable, pinned, bytes);
}

static void host_write(const struct step *step)
{
    CU(cuStreamSynchronize(NULL));
    world.pinned_table[step->cell - first_cell(PINNED_TABLE)] = target_address(1, step->target);
}

// ---- data ----

// Where the address is another one, the pointers to it are put right.
static void renew(const struct step *step)
{
    CUdeviceptr *buffer = &world.buffer[step->buffer], before = *buffer;
    CU(cuMemFree(*buffer));
    CU(cuMemAlloc(buffer, WORDS * 4));
    for (unsigned cell = 0; cell < cell_count() && *buffer != before; cell++)
        if (step->cells >> cell & 1)
            CU(cuMemcpyHtoD(cell_address(cell), buffer, 8));
    CU(cuMemsetD32Async(*buffer, step->value, WORDS, NULL));
}

static void from_host(const struct step *step)
{
    uint32_t words[WORDS];
    for (unsigned i = 0; i < WORDS; i++)
        words[i] = step->value;
    if (step->value % 2)
        CU(cuMemcpyHtoD(world.buffer[step->buffer], words, sizeof words));
    else
        CU(cuMemcpyHtoDAsync(world.buffer[step->buffer], words, sizeof words, NULL));
}

void act(unsigned n)
{
    const struct step *step = &world.program->step[n];
    CUdeviceptr buffer = world.buffer[step->buffer];
    switch (step->kind) {
    case BRING: bring(n, step); return;
    case BRING_TABLE: bring_table(n, step); return;
    case HOST_WRITE: host_write(step); return;
    case RENEW: renew(step); return;
    case MEMSET: CU(cuMemsetD32Async(buffer, step->value, WORDS, NULL)); return;
    case COPY:
        if (step->from != step->buffer)
            CU(cuMemcpyDtoDAsync(buffer, world.buffer[step->from], WORDS * 4, NULL));
        return;
    case FROM_HOST: from_host(step); return;
    default: launch(n); return;
    }
}

void act_collect(void)
{
    for (unsigned buffer = 0; buffer < BUFFERS; buffer++)
        CU(cuMemcpyDtoDAsync(world.results + result_of_buffer(buffer), world.buffer[buffer], WORDS * 4, NULL));
    for (unsigned place = 0; place < PLACES; place++)
        CU(cuMemcpyDtoDAsync(world.results + result_of_place(place), world.place[place], places[place].words * 8u, NULL));
    CU(cuStreamSynchronize(NULL));
}

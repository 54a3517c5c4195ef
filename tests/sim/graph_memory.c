/* SPDX-License-Identifier: Apache-2.0
 *
 * How much memory graphs hold: attributes, trims. Called by programs, and by launches of graphs. A graph's memory is there
 * from when its node is made, and goes when a trim finds nobody using it, until the next launch.
 */
#include "tests/sim/sim.h"

static struct allocation *of_node(const struct node *node)
{
    struct allocation *a = node->work.kind == WORK_ALLOC ? memory_find(node->work.free.address) : NULL;
    return a && a->of_graph ? a : NULL;
}

CUresult pool_back_graph(const struct graph *graph)
{
    for (size_t i = 0; i < graph->nodes.count; i++) {
        struct allocation *a = of_node(graph->nodes.nodes[i]);
        if (a && a->trimmed && !memory_account(a->device, memory_rounded(a->size), 0))
            return CUDA_ERROR_OUT_OF_MEMORY;
        if (a)
            a->trimmed = false;
    }
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const struct node *node = graph->nodes.nodes[i];
        struct allocation *a = of_node(node);
        CUresult result = node->work.kind == WORK_CHILD ? pool_back_graph(node->work.child) : CUDA_SUCCESS;
        if (result != CUDA_SUCCESS)
            return result;
        if (a)
            a->uses++;
    }
    return CUDA_SUCCESS;
}

CUresult impl_cuDeviceGraphMemTrim(CUdevice device)
{
    if (device < 0 || device >= device_count())
        return CUDA_ERROR_INVALID_DEVICE;
    sim_lock();
    for (size_t i = 0; i < memory_count(); i++) {
        struct allocation *a = memory_at(i);
        if (!a->of_graph || a->device != device || a->uses || a->trimmed)
            continue;
        a->trimmed = true;
        memory_account(device, 0, memory_rounded(a->size));
    }
    sim_unlock();
    return CUDA_SUCCESS;
}

CUresult impl_cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void *value)
{
    cuuint64_t bytes = 0;
    if (device < 0 || device >= device_count())
        return CUDA_ERROR_INVALID_DEVICE;
    if (!value)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    for (size_t i = 0; i < memory_count(); i++) {
        const struct allocation *a = memory_at(i);
        if (!a->of_graph || a->device != device)
            continue;
        bytes += a->trimmed ? 0 : memory_rounded(a->size);
    }
    sim_unlock();
    if (attr != CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT && attr != CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT)
        return CUDA_ERROR_NOT_SUPPORTED;
    *(cuuint64_t *)value =
        bytes; /* used as long as it is reserved, measured (580.159.04): also when the graph's work is done */
    return CUDA_SUCCESS;
}

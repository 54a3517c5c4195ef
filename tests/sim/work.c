/* SPDX-License-Identifier: Apache-2.0
 *
 * What the kinds of work do. Called by the engine's threads without the lock, and by captures to copy work into graphs.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/sim/sim.h"

static void nap(void)
{
    struct timespec t = {0, 10000};
    nanosleep(&t, NULL);
}

static void run_copy(const struct copy *c, const char *staged)
{
    const char *src = c->src ? c->src : staged;
    for (size_t z = 0; z < c->depth; z++)
        for (size_t y = 0; y < c->height; y++)
            memmove(c->dst + z * c->dst_slice + y * c->dst_pitch, src + z * c->src_slice + y * c->src_pitch, c->width);
}

static void run_fill(const struct fill *f)
{
    for (size_t y = 0; y < f->height; y++)
        for (size_t x = 0; x < f->width; x++)
            memcpy(f->dst + y * f->pitch + x * f->element, &f->value, f->element); /* little-endian, as the device */
}

static bool value_reached(const struct value_work *v)
{
    uint64_t now = v->wide ? __atomic_load_n((uint64_t *)v->address, __ATOMIC_ACQUIRE)
                           : __atomic_load_n((uint32_t *)v->address, __ATOMIC_ACQUIRE);
    switch (v->flags & 3) {
    case CU_STREAM_WAIT_VALUE_GEQ:
        return v->wide ? (int64_t)(now - v->value) >= 0 : (int32_t)((uint32_t)now - (uint32_t)v->value) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ: return now == v->value;
    case CU_STREAM_WAIT_VALUE_AND: return (now & v->value) != 0;
    default: return (~(now | v->value) & (v->wide ? UINT64_MAX : UINT32_MAX)) != 0;
    }
}

static void run_value(const struct value_work *v)
{
    if (!v->wait) {
        if (v->wide)
            __atomic_store_n((uint64_t *)v->address, v->value, __ATOMIC_RELEASE);
        else
            __atomic_store_n((uint32_t *)v->address, (uint32_t)v->value, __ATOMIC_RELEASE);
        return;
    }
    while (!value_reached(v))
        nap();
}

static void run_host(const struct host_work *h)
{
    struct thread *self = thread_self();
    self->in_host_function = true;
    if (h->callback)
        h->callback(h->stream, CUDA_SUCCESS, h->data);
    else
        h->function(h->data);
    self->in_host_function = false;
}

static void run_kernel(const struct kernel_work *k, const unsigned char *parameters)
{
    uint64_t least = knob_launch_ns();
    uint64_t end = least ? sim_now_ns() + least : 0;
    if (k->function->run)
        k->function->run(k, parameters);
    else
        ptx_run(k, parameters);
    if (least) {
        struct timespec t = {(time_t)(end / 1000000000u), (long)(end % 1000000000u)};
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0) {
        }
    }
}

static void run_free(CUdeviceptr address, uint64_t id)
{
    sim_lock();
    const struct allocation *a = memory_find(address);
    if (a && a->id == id)
        memory_free(address);
    sim_unlock();
}

void work_run(struct work *w)
{
    switch (w->kind) {
    case WORK_NONE:
    case WORK_CHILD:
    case WORK_ALLOC:
    case WORK_RECORD:
    case WORK_AWAIT: break; /* a launch has seen to it */
    case WORK_COPY: run_copy(&w->copy, w->blob); break;
    case WORK_FILL: run_fill(&w->fill); break;
    case WORK_KERNEL: run_kernel(&w->kernel, w->blob); break;
    case WORK_HOST: run_host(&w->host); break;
    case WORK_VALUE: run_value(&w->value); break;
    case WORK_FREE: run_free(w->free.address, w->free.id); break;
    }
}

struct work work_clone(const struct work *w)
{
    struct work copy = *w;
    if (w->blob) {
        copy.blob = malloc(w->blob_size ? w->blob_size : 1);
        if (!copy.blob)
            abort();
        memcpy(copy.blob, w->blob, w->blob_size);
    }
    if (w->kind == WORK_KERNEL)
        claim_hold(w->kernel.claim);
    if (w->kind == WORK_CHILD) {
        copy.child = graph_clone(w->child);
        copy.child->embedded = true;
    }
    return copy;
}

void work_clear(struct work *w)
{
    if (w->kind == WORK_CHILD)
        graph_free(w->child);
    if (w->kind == WORK_KERNEL)
        claim_release(w->kernel.claim);
    free(w->blob);
    *w = (struct work){.kind = WORK_NONE};
}

CUgraphNodeType work_node_type(const struct work *w)
{
    switch (w->kind) {
    case WORK_COPY: return CU_GRAPH_NODE_TYPE_MEMCPY;
    case WORK_FILL: return CU_GRAPH_NODE_TYPE_MEMSET;
    case WORK_KERNEL: return CU_GRAPH_NODE_TYPE_KERNEL;
    case WORK_HOST: return CU_GRAPH_NODE_TYPE_HOST;
    case WORK_VALUE: return CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
    case WORK_CHILD: return CU_GRAPH_NODE_TYPE_GRAPH;
    case WORK_RECORD: return CU_GRAPH_NODE_TYPE_EVENT_RECORD;
    case WORK_AWAIT: return CU_GRAPH_NODE_TYPE_WAIT_EVENT;
    case WORK_ALLOC: return CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    case WORK_FREE: return CU_GRAPH_NODE_TYPE_MEM_FREE;
    default: return CU_GRAPH_NODE_TYPE_EMPTY;
    }
}

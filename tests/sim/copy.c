/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies: what the host waits for. Called by all copy functions. The waits are the measured ones: a copy from pageable
 * memory is staged (the synchronous form waits for its stream first, and then only for the staging) or, where it is large
 * and asynchronous, waited for; one that ends in host memory waits unless it is asynchronous and from the device to
 * page-locked memory; one between device addresses waits only where the program has asked for it (SYNC_MEMOPS).
 */
#include <stdlib.h>
#include <string.h>

#include "tests/sim/sim.h"

enum {
    SMALL_COPY = 24 << 10, /* the most that was seen to be read early: 32 KiB were not */
    LARGE_COPY = 1 << 20 /* the most that was seen not to wait */
};

/* The rows, packed, as they are now. */
static void stage(const struct copy *c, struct work *w)
{
    w->blob_size = c->width * c->height * c->depth;
    w->blob = malloc(w->blob_size ? w->blob_size : 1);
    if (!w->blob)
        abort();
    char *to = w->blob;
    for (size_t z = 0; z < c->depth; z++)
        for (size_t y = 0; y < c->height; y++, to += c->width)
            memcpy(to, c->src + z * c->src_slice + y * c->src_pitch, c->width);
    w->copy.src = NULL;
    w->copy.src_pitch = c->width;
    w->copy.src_slice = c->width * c->height;
}

/* SIM_SMALL_COPIES: what is read during the call, as soon as its own stream is idle, whatever else it waits for. */
static bool overtakes(const struct stream *s, const struct copy *c, enum memory_kind src)
{
    return knob_small_copies_overtake() && memory_page_locked(src) && c->width * c->height * c->depth <= SMALL_COPY &&
           !op_busy(s->tail);
}

CUresult copy_issue(CUstream handle, struct copy copy, enum memory_kind dst, enum memory_kind src, enum copy_mode mode)
{
    struct stream *s;
    struct work w = {.kind = WORK_COPY, .copy = copy};
    CUresult result = stream_find(handle, &s);
    if (result == CUDA_SUCCESS && mode == COPY_SYNC)
        result = capture_observe(s); /* captures of other streams do not mind */
    if (result != CUDA_SUCCESS || !copy.width || !copy.height || !copy.depth)
        return result;
    bool to_host = !memory_on_device(dst), from_host = !memory_on_device(src);
    if (s->capture)
        return stream_push(s, &w, NULL);
    if (!to_host && !from_host)
        return mode == COPY_SYNC && (copy.waits || context_waits(s->ctx)) ? stream_push_done(s, &w)
                                                                          : stream_push(s, &w, NULL);
    if (to_host) {
        bool waits = mode == COPY_SYNC || dst == MEMORY_PAGEABLE || from_host;
        return waits ? stream_push_done(s, &w) : stream_push(s, &w, NULL);
    }
    if (mode == COPY_ASYNC && overtakes(s, &copy, src))
        stage(&copy, &w);
    if (src != MEMORY_PAGEABLE)
        return mode == COPY_SYNC ? stream_push_done(s, &w) : stream_push(s, &w, NULL);
    if (mode == COPY_ASYNC && copy.width * copy.height * copy.depth > LARGE_COPY)
        return stream_push_done(s, &w);
    if (mode == COPY_SYNC)
        stream_synchronize(s);
    stage(&copy, &w);
    return stream_push(s, &w, NULL);
}

static struct copy_side linear_side(uint64_t address, size_t size, enum memory_kind kind)
{
    CUmemorytype type = memory_on_device(kind) ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    return (struct copy_side){.type = type, .address = address, .pitch = size, .height = 1};
}

CUresult copy_linear(CUstream handle, uint64_t dst, uint64_t src, size_t size, enum copy_mode mode)
{
    CUresult result = memory_check(dst, size);
    if (result == CUDA_SUCCESS)
        result = memory_check(src, size);
    if (result != CUDA_SUCCESS)
        return result;
    enum memory_kind to = memory_kind_of(dst), from = memory_kind_of(src);
    struct copy copy = {.dst = memory_bytes(dst), .src = memory_bytes(src), .width = size, .height = 1, .depth = 1};
    copy.to = linear_side(dst, size, to);
    copy.from = linear_side(src, size, from);
    copy.waits = memory_waits(dst) || memory_waits(src);
    copy.to_pageable = to == MEMORY_PAGEABLE;
    return copy_issue(handle, copy, to, from, mode);
}

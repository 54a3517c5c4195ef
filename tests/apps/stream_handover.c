// SPDX-License-Identifier: Apache-2.0
//
// stream_handover [ns 20000000]: thread A does synchronous work on the default stream (memset,
// device to device, host to device) behind a kernel that runs for a while, and tells thread B by a
// condition variable; B reads the bytes with default-stream work of its own. Right without a shim
// and under PTDS_POLICY=guarded and stream; plain per-thread streams may give stale bytes. Run by
// scripts/gpu and the policy tests.

#include <stdio.h>
#include <stdlib.h>

#include "app.h"

enum { WORDS = 256 * 1024, BYTES = WORDS * 4, OLD = 1, NEW = 2 };

struct handover {
    struct app app;
    CUdeviceptr words, source;
    uint32_t *pageable, *pinned;
    uint64_t ns;
    void (*put)(struct handover *h);
    pthread_mutex_t lock;
    pthread_cond_t told;
    int ready;
    uint32_t seen;
};

static void put_memset(struct handover *h)
{
    CU(cuMemsetD32(h->words, NEW, WORDS));
}

static void put_memset_2d(struct handover *h)
{
    CU(cuMemsetD2D32(h->words, 4096, NEW, 1024, BYTES / 4096));
}

static void put_device(struct handover *h)
{
    CU(cuMemcpyDtoD(h->words, h->source, BYTES));
}

static void put_any(struct handover *h)
{
    CU(cuMemcpy(h->words, h->source, BYTES));
}

static void put_pageable(struct handover *h)
{
    CU(cuMemcpyHtoD(h->words, h->pageable, BYTES));
}

static void put_pinned(struct handover *h)
{
    CU(cuMemcpyHtoD(h->words, h->pinned, BYTES));
}

static void put_kernel_and_wait(struct handover *h)
{
    CU(app_add_one(&h->app, NULL, h->words, WORDS));
    CU(cuStreamSynchronize(NULL));
}

static void tell(struct handover *h)
{
    pthread_mutex_lock(&h->lock);
    h->ready = 1;
    pthread_cond_signal(&h->told);
    pthread_mutex_unlock(&h->lock);
}

static void await(struct handover *h)
{
    pthread_mutex_lock(&h->lock);
    while (!h->ready)
        pthread_cond_wait(&h->told, &h->lock);
    pthread_mutex_unlock(&h->lock);
}

// Thread 0 puts, thread 1 gets: the last word, which a copy in progress would reach last.
static void body(unsigned index, void *shared)
{
    struct handover *h = shared;
    if (index == 0) {
        CU(app_spin(&h->app, NULL, h->ns));
        h->put(h);
        tell(h);
        return;
    }
    await(h);
    CU(cuMemcpyDtoH(&h->seen, h->words + BYTES - sizeof h->seen, sizeof h->seen));
}

static void setup(struct handover *h)
{
    void *pinned;
    app_start(&h->app);
    CU(cuMemAlloc(&h->words, BYTES));
    CU(cuMemAlloc(&h->source, BYTES));
    CU(cuMemsetD32(h->source, NEW, WORDS));
    CU(cuMemHostAlloc(&pinned, BYTES, 0));
    h->pinned = pinned;
    h->pageable = malloc(BYTES);
    for (unsigned i = 0; i < WORDS; i++)
        h->pinned[i] = h->pageable[i] = NEW;
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->told, NULL);
}

static const struct {
    const char *name;
    void (*put)(struct handover *h);
} ways[] = {
    {"memset", put_memset},
    {"memset-2d", put_memset_2d},
    {"device-to-device", put_device},
    {"any-copy", put_any},
    {"pageable", put_pageable},
    {"pinned", put_pinned},
    {"kernel-and-synchronise", put_kernel_and_wait},
};

int main(int argc, char **argv)
{
    static struct handover h;
    int wrong = 0;
    uint64_t digest = APP_DIGEST;
    double ms = 0;
    h.ns = app_number(argc, argv, 1, 20000000);
    setup(&h);
    for (unsigned i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        CU(cuMemsetD32(h.words, OLD, WORDS));
        CU(cuCtxSynchronize());
        h.put = ways[i].put;
        h.ready = 0;
        ms += app_threads(&h.app, 2, body, &h);
        CU(cuCtxSynchronize());
        printf("%s %s\n", ways[i].name, h.seen == NEW ? "right" : "stale");
        wrong += h.seen != NEW;
        digest = app_digest(digest, &h.seen, sizeof h.seen);
    }
    return app_finish(wrong == 0, digest, ms);
}

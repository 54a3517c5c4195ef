/* SPDX-License-Identifier: Apache-2.0
 *
 * A node for each host function on its way: made by the thread that calls the driver, read by the driver's thread that runs
 * it. The thread of the two that is done last writes the HOST_RUN record and gives the node back. What runs on the driver's
 * thread must not call the driver; and no node may ever belong to a captured function, since that may run many times.
 */
#include "interpose/record/hostfunc.h"

#include <errno.h>

#include "interpose/base/clock.h"
#include "interpose/base/diag.h"
#include "interpose/base/lock.h"
#include "interpose/base/pages.h"
#include "interpose/driver/driver.h"
#include "interpose/record/append.h"
#include "interpose/record/recorder.h"
#include "interpose/record/stacks/stacks.h"
#include "interpose/record/threads.h"
#include "interpose/state/capture.h"

enum progress { NEITHER, SUBMITTED, HAS_RUN };

struct hostfunc {
    CUhostFn function;
    CUstreamCallback callback;
    CUstream named; /* as the program named it, which is what its callback gets */
    void *data;
    struct ptds_rec_HOST_RUN run;
    uint32_t progress; /* enum progress: who was done first */
    uint32_t index;
    uint32_t next; /* of the free ones: index + 1 */
};

/* Free nodes: a stack without locks. The head's upper half counts its changes, so that a node which was taken and put back
 * meanwhile is not mistaken for an unchanged head. Nodes are never unmapped. */
#define BLOCK 256u
#define BLOCKS 256u
static struct hostfunc *blocks[BLOCKS];
static uint32_t block_count;
static struct lock growing;
static uint64_t head; /* changes << 32 | index + 1 */

static struct hostfunc *node_at(uint32_t index)
{
    return &__atomic_load_n(&blocks[index / BLOCK], __ATOMIC_ACQUIRE)[index % BLOCK];
}

static void give_back(struct hostfunc *node)
{
    uint64_t seen = __atomic_load_n(&head, __ATOMIC_RELAXED), mine;
    do {
        __atomic_store_n(&node->next, (uint32_t)seen, __ATOMIC_RELAXED);
        mine = ((seen >> 32) + 1) << 32 | (node->index + 1);
    } while (!__atomic_compare_exchange_n(&head, &seen, mine, 1, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

static struct hostfunc *take_free(void)
{
    uint64_t seen = __atomic_load_n(&head, __ATOMIC_ACQUIRE), then;
    do {
        if (!(uint32_t)seen)
            return NULL;
        uint32_t next = __atomic_load_n(&node_at((uint32_t)seen - 1)->next, __ATOMIC_RELAXED);
        then = ((seen >> 32) + 1) << 32 | next;
    } while (!__atomic_compare_exchange_n(&head, &seen, then, 1, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE));
    return node_at((uint32_t)seen - 1);
}

static void grow(void)
{
    lock_take(&growing);
    struct hostfunc *block = block_count < BLOCKS ? pages_map(BLOCK * sizeof *block) : NULL;
    if (block) {
        for (uint32_t i = 0; i < BLOCK; i++)
            block[i].index = block_count * BLOCK + i;
        __atomic_store_n(&blocks[block_count++], block, __ATOMIC_RELEASE);
    }
    lock_drop(&growing);
    for (uint32_t i = 0; block && i < BLOCK; i++)
        give_back(&block[i]);
}

static void write_run(const struct hostfunc *node, struct thread *thread)
{
    if (!recorder_on() || !thread || !node->run.enter)
        return;
    if (!thread->counts)
        threads_started(thread);
    struct ptds_rec_HOST_RUN *record = append_reserve(thread, PTDS_REC_HOST_RUN, sizeof *record);
    if (!record)
        return;
    struct ptds_record as_reserved = record->record;
    *record = node->run;
    record->record = as_reserved;
    append_commit(thread);
}

static int is_last(struct hostfunc *node, enum progress done)
{
    return __atomic_exchange_n(&node->progress, done, __ATOMIC_ACQ_REL) != NEITHER;
}

static void has_run(struct hostfunc *node, uint64_t begin)
{
    int saved = errno;
    node->run.begin = begin;
    node->run.end = clock_ticks();
    node->run.tid = thread_tid();
    if (is_last(node, HAS_RUN)) {
        write_run(node, thread_get_as_drivers());
        give_back(node);
    }
    errno = saved;
}

static void CUDA_CB run_function(void *data)
{
    struct hostfunc *node = data;
    uint64_t begin = clock_ticks();
    node->function(node->data);
    has_run(node, begin);
}

static void CUDA_CB run_callback(CUstream stream, CUresult status, void *data)
{
    struct hostfunc *node = data;
    uint64_t begin = clock_ticks();
    (void)stream; /* the one that stands for it */
    node->callback(node->named, status, node->data);
    has_run(node, begin);
}

static int is_default(const struct call *C, CUstream stream)
{
    return stream == CU_STREAM_LEGACY || (stream == NULL && !C->twin);
}

/* The legacy stream and what stands for it are in no capture. The others' open captures are known; asking all the same
 * guards against one that began past the shim. Only where none is open as far as is known, and the question is one that a
 * capture survives. */
static int runs_once(const struct call *C, CUstream stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    if (is_default(C, stream))
        return 1;
    if (capture_any() || !REAL(cuStreamIsCapturing))
        return 0;
    if (!stream && C->twin)
        stream = CU_STREAM_PER_THREAD;
    return REAL(cuStreamIsCapturing)(stream, &status) == CUDA_SUCCESS && status == CU_STREAM_CAPTURE_STATUS_NONE;
}

/* wanted: the run is recorded, or the callback has to get the stream that the program named. NULL: no node. */
static struct hostfunc *make(struct call *C, CUstream stream, int wanted)
{
    int saved = errno;
    struct hostfunc *node = NULL;
    if (wanted && runs_once(C, stream)) {
        node = take_free();
        if (!node) {
            grow();
            node = take_free();
        }
        if (!node)
            diag_once(DIAG_ERROR, "too many host functions pending: when further ones run is not recorded");
    }
    if (node) {
        node->progress = NEITHER;
        node->run = (struct ptds_rec_HOST_RUN){.enter = C->enter, .thread = C->thread->uid};
    }
    errno = saved;
    return C->hostfunc = node;
}

void hostfunc_wrap(struct call *C, CUstream stream, CUhostFn *function, void **data)
{
    struct hostfunc *node = C->hostfunc = NULL;
    if (!*function || !(node = make(C, stream, C->enter && recorder_on())))
        return;
    node->function = *function;
    node->data = *data;
    *function = run_function;
    *data = node;
}

void hostfunc_wrap_callback(struct call *C, CUstream stream, CUstreamCallback *callback, void **data)
{
    struct hostfunc *node = C->hostfunc = NULL;
    if (!*callback || !(node = make(C, stream, is_default(C, stream) || (C->enter && recorder_on()))))
        return;
    node->named = stream;
    node->callback = *callback;
    node->data = *data;
    *callback = run_callback;
    *data = node;
}

void hostfunc_put(struct call *C)
{
    struct hostfunc *node = C->hostfunc;
    if (!node)
        return;
    int saved = errno;
    node->run.stream = C->stream_uid;
    node->run.target = C->target_uid;
    node->run.context = C->context ? C->context->uid : 0;
    node->run.stack = C->enter ? stacks_id(C, 0) : 0;
    if (C->result != CUDA_SUCCESS)
        give_back(node); /* the driver will not run it */
    else if (is_last(node, SUBMITTED)) {
        write_run(node, C->thread);
        give_back(node);
    }
    errno = saved;
}

void hostfunc_after_fork(void)
{
    growing.held = 0;
}

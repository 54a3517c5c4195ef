/* SPDX-License-Identifier: Apache-2.0
 *
 * Policy stream: all default-stream work of a context on one stream that the shim makes there (or that the program names
 * through ptds.h). Default-stream work keeps its order among itself; created streams are no longer ordered with it.
 *
 * The stream is made when the context becomes current, never inside a capture; until it exists work stays on the legacy
 * stream, and a blocking target orders with that. It is not destroyed: it goes with its context.
 */
#include <errno.h>

#include "interpose/base/diag.h"
#include "interpose/base/lock.h"
#include "interpose/driver/driver.h"
#include "interpose/env/env.h"
#include "interpose/footprint/footprint.h"
#include "interpose/policy/policy.h"
#include "interpose/policy/target.h"
#include "interpose/record/path.h"
#include "interpose/state/capture.h"

static CUstream process_target;

void target_gone(CUstream stream)
{
    CUstream expected = stream;
    if (stream)
        __atomic_compare_exchange_n(&process_target, &expected, NULL, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    for (struct thread *thread = thread_all(); thread; thread = thread->next_all) {
        expected = stream;
        __atomic_compare_exchange_n(&thread->own_target, &expected, NULL, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    }
}

void target_set_process(CUstream stream)
{
    __atomic_store_n(&process_target, stream, __ATOMIC_RELEASE);
}

static CUresult create(CUstream *stream)
{
    const struct env_stream *wish = &env_get()->stream;
    unsigned flags = wish->non_blocking ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT;
    return wish->has_priority ? REAL(cuStreamCreateWithPriority)(stream, flags, wish->priority)
                              : REAL(cuStreamCreate)(stream, flags);
}

static void refuse(struct context *context, CUresult result)
{
    char code[21];
    path_decimal((uint64_t)result, code);
    context->target_refused = 1;
    diag_once(DIAG_ERROR, "policy stream could not create its stream (error ", code,
              "); default-stream work stays on the legacy stream");
}

/* A non-blocking target does not wait for the legacy stream by itself: not for what was put there before it was made. */
static void follow_legacy(CUstream target)
{
    CUevent event = NULL;
    if (REAL(cuEventCreate)(&event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
        return;
    if (REAL(cuEventRecord)(event, CU_STREAM_LEGACY) == CUDA_SUCCESS)
        REAL(cuStreamWaitEvent)(target, event, 0);
    REAL(cuEventDestroy_v2)(event);
}

/* Not under a lock, since a driver call must not be: two threads may race here, then one stream goes again. A context that
 * has just become current may not be ready (cudart's, before its first use): the first work tries again, and only then is
 * a refusal final. */
static void make(struct call *C, struct context *context)
{
    CUstream stream = NULL, none = NULL;
    if (context->target || context->target_refused || capture_any() || context->kind == PTDS_CONTEXT_GREEN)
        return;
    int saved = errno;
    CUresult result = create(&stream);
    errno = saved;
    if (result != CUDA_SUCCESS) {
        if (context->handle && (C->flags & PTDS_CALL_LEGACY))
            refuse(context, result);
        return;
    }
    if (!__atomic_compare_exchange_n(&context->target, &none, stream, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        REAL(cuStreamDestroy_v2)(stream);
        return;
    }
    const struct env_stream *wish = &env_get()->stream;
    if (wish->non_blocking)
        follow_legacy(stream);
    context->target_uid = objects_own_stream(context, stream, wish->non_blocking, wish->priority);
}

/* A stream of the program's own, where it belongs to the current context. */
static struct stream *chosen_by_program(struct call *C)
{
    CUstream handle = C->thread->own_target ? C->thread->own_target : __atomic_load_n(&process_target, __ATOMIC_ACQUIRE);
    struct stream *stream = handle ? objects_stream(C->thread, handle) : NULL;
    return stream && !stream->gone && stream->context == C->context ? stream : NULL;
}

static int is_non_blocking(uint32_t kind)
{
    return kind == PTDS_STREAM_NON_BLOCKING || kind == PTDS_STREAM_SHIM_NON_BLOCKING;
}

/* The stream for this call: the program's own, else the one made for the context, else none. */
static struct stream *target_of(struct call *C)
{
    struct stream *own = chosen_by_program(C);
    if (own)
        return own;
    if (!C->context->target)
        make(C, C->context);
    return C->context->target ? objects_stream(C->thread, C->context->target) : NULL;
}

/* The row of each implicit call's asynchronous form, which a driver may lack. */
static const int16_t async_row[API_COUNT] = {
#undef REAL
#define REAL(symbol) API_##symbol IGNORE
#define IGNORE(...)
#define array_copy_async_AtoA(...) API_cuMemcpy3DAsync_v2
#define array_copy_async_AtoD(...) API_cuMemcpy3DAsync_v2
#define array_copy_async_DtoA(...) API_cuMemcpy3DAsync_v2
#define API_PTDS(symbol, since, twin_since, async_form, ...) [API_##symbol] = async_form,
#include "interpose/api/api.def"
#undef REAL
#define REAL(symbol) ((__typeof__(&symbol))driver_real[API_##symbol][0])
};

static CUresult wait_for(CUstream target)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    int exchanged = capture_any() && REAL(cuThreadExchangeStreamCaptureMode) &&
                    REAL(cuThreadExchangeStreamCaptureMode)(&mode) == CUDA_SUCCESS;
    CUresult result = REAL(cuStreamSynchronize)(target);
    if (exchanged)
        REAL(cuThreadExchangeStreamCaptureMode)(&mode);
    return result;
}

/* Copies between devices are in order with all three devices' work (cuda_runtime_api.h): the other contexts' streams first.
 */
static void finish_other(struct context *context, void *current)
{
    if (context != current && context->target)
        wait_for(context->target);
}

/* A wait of the shim's own would invalidate a capture that this thread has open (measured: 901). So meanwhile synchronous
 * forms stay legacy, with which a blocking target orders; for a non-blocking one see wait_for. */
static void legacy(struct call *C, int implicit)
{
    struct stream *target = target_of(C);
    if (implicit && !driver_real[async_row[C->api]][0])
        target = NULL;
    if (!target || (implicit && capture_any() && !is_non_blocking(target->kind))) {
        C->flags |= capture_any() ? PTDS_CALL_KEPT_CAPTURE : PTDS_CALL_KEPT_NO_WAY;
        return;
    }
    C->target = target->handle;
    C->target_uid = target->uid;
    if (!implicit)
        return;
    C->way = CALL_AS_ASYNC;
    if (C->api == API_cuMemcpyPeer || C->api == API_cuMemcpy3DPeer)
        objects_each_context(finish_other, C->context);
}

static void after_implicit(struct call *C)
{
    if (!footprint_blocks_host(C))
        return;
    C->result = wait_for(C->target); /* the original would have reported what went wrong before it, too */
    C->flags |= PTDS_CALL_SHIM_WAIT;
}

const struct policy policy_stream = {
    .name = "stream",
    .sentence = "puts all default-stream work of a context on one stream, see PTDS_STREAM",
    .gives_up = "order between the default stream and the program's own blocking streams",
    .remaps = 1,
    .legacy = legacy,
    .after_implicit = after_implicit,
    .context = make,
    .wants_footprint = 1,
};

/* SPDX-License-Identifier: Apache-2.0
 *
 * The launches' wrappers: most launches go the guard's short way, which costs a third of the long one, and all others on to
 * the wrapper. One pair where nothing is recorded, one where something is. door_open puts them in. Must decide nothing:
 * whether a launch may go the short way the guard says.
 */
#include "interpose/doors/quick_launches.h"

#include "interpose/doors/wrappers.h"
#include "interpose/driver/driver.h"
#include "interpose/footprint/kernels.h"
#include "interpose/guard/repeat_launch.h"
#include "interpose/record/quick_record.h"
#include "interpose/record/recorder.h"

static __typeof__(&cuLaunchKernel) long_way;
static __typeof__(&cuLaunchKernelEx) long_way_ex;

static CUresult quick_launch(CUfunction f, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                             unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void **params,
                             void **extra)
{
    struct repeat_launch again;
    if (stream || extra || !repeat_launch_go(&again, f, params))
        return long_way(f, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, params, extra);
    CUresult result = REAL(cuLaunchKernel)(f, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, again.target,
                                           params, extra);
    guard_launched_again(&again);
    return result;
}

static CUresult quick_launch_ex(const CUlaunchConfig *config, CUfunction f, void **params, void **extra)
{
    struct repeat_launch again;
    if (!config || config->hStream || config->numAttrs || extra || !repeat_launch_go(&again, f, params))
        return long_way_ex(config, f, params, extra);
    CUlaunchConfig routed = *config;
    routed.hStream = again.target;
    CUresult result = REAL(cuLaunchKernelEx)(&routed, f, params, extra);
    guard_launched_again(&again);
    return result;
}

/* ---- recorded ---- */

/* The next record of the calling thread, see quick_record_begin. */
static inline struct ptds_rec_CALL *begin(const void *caller, const void *const *frame)
{
    struct thread *thread = thread_self;
    if (!thread || thread->fork_generation != thread_fork_generation)
        return NULL;
    return quick_record_begin(thread, caller, frame);
}

/* 0: the launch is not recorded yet. */
static inline int end(struct ptds_rec_CALL *record, uint16_t api, struct repeat_launch_listed listed, CUresult result)
{
    struct thread *thread = thread_self;
    const struct context *context = listed.here->context;
    guard_listed_launched_again(thread, listed);
    return quick_record_end(thread, record,
                            (struct quick_record){api, context->uid, context->legacy_uid, again_target_uid(listed),
                                                  listed.kernel, listed.words},
                            result);
}

/* Records a launch that was not as usual after all: it failed, a capture was opened meanwhile, or the driver called the
 * program back, which made calls. Looks at the parameters once more. */
static void record_in_full(struct call *C, struct repeat_launch_listed listed, CUfunction f, void **params)
{
    const struct kernel *kernel = kernels_met(C->thread, f);
    C->flags = PTDS_CALL_LEGACY | PTDS_CALL_REMAPPED;
    C->object = listed.kernel;
    C->context = listed.here->context;
    C->stream_uid = listed.here->context->legacy_uid;
    C->target_uid = again_target_uid(listed);
    C->op = PTDS_OP_LAUNCH;
    C->words = SHAPE_WORDS;
    if (!kernel || !kernels_keep_plainly(C, kernel, params))
        C->flags |= PTDS_CALL_OPAQUE;
    recorder_call(C);
}

/* The long way looks where the program called from, so it must be jumped to, as wrappers.c does: no local of the two
 * wrappers may have an address. */
static __attribute__((cold, noinline)) void unusual(struct repeat_launch_listed listed, uint64_t enter, const void *caller,
                                                    const void *const *frame, CUfunction f, unsigned grid_x,
                                                    unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                                                    unsigned block_z, unsigned shared_bytes, void **params, CUresult result)
{
    struct call C = {.api = API_cuLaunchKernel, .enter = enter, .caller = caller, .frame = frame};
    C.thread = thread_self;
    C.result = result;
    fp_shape(C.word, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, 0);
    record_in_full(&C, listed, f, params);
}

static CUresult recorded_launch(CUfunction f, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void **params,
                                void **extra)
{
    const void *const *frame = CALL_FRAME();
    struct ptds_rec_CALL *record = stream || extra ? NULL : begin(__builtin_return_address(0), frame);
    struct repeat_launch_listed listed = {NULL, 0, 0, 0, 0};
    if (record)
        listed = repeat_launch_go_listed(thread_self, f, params, record->word);
    if (!listed.here)
        return long_way(f, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, params, extra);
    uint64_t enter = record->enter;
    fp_shape(record->word, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, 0);
    CUresult result = REAL(cuLaunchKernel)(f, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes,
                                           again_target(listed), params, extra);
    if (!end(record, API_cuLaunchKernel, listed, result))
        unusual(listed, enter, __builtin_return_address(0), frame, f, grid_x, grid_y, grid_z, block_x, block_y, block_z,
                shared_bytes, params, result);
    return result;
}

static __attribute__((cold, noinline)) void unusual_ex(struct repeat_launch_listed listed, uint64_t enter, const void *caller,
                                                       const void *const *frame, const CUlaunchConfig *config, CUfunction f,
                                                       void **params, CUresult result)
{
    struct call C = {.api = API_cuLaunchKernelEx, .enter = enter, .caller = caller, .frame = frame};
    C.thread = thread_self;
    C.result = result;
    fp_shape(C.word, config->gridDimX, config->gridDimY, config->gridDimZ, config->blockDimX, config->blockDimY,
             config->blockDimZ, config->sharedMemBytes, 0);
    record_in_full(&C, listed, f, params);
}

static __attribute__((noinline)) CUresult launch_ex_on(CUstream target, const CUlaunchConfig *config, CUfunction f,
                                                       void **params)
{
    CUlaunchConfig routed = *config;
    routed.hStream = target;
    return REAL(cuLaunchKernelEx)(&routed, f, params, NULL);
}

static CUresult recorded_launch_ex(const CUlaunchConfig *config, CUfunction f, void **params, void **extra)
{
    const void *const *frame = CALL_FRAME();
    int plain = config && !config->hStream && !config->numAttrs && !extra;
    struct ptds_rec_CALL *record = plain ? begin(__builtin_return_address(0), frame) : NULL;
    struct repeat_launch_listed listed = {NULL, 0, 0, 0, 0};
    if (record)
        listed = repeat_launch_go_listed(thread_self, f, params, record->word);
    if (!listed.here)
        return long_way_ex(config, f, params, extra);
    uint64_t enter = record->enter;
    fp_shape(record->word, config->gridDimX, config->gridDimY, config->gridDimZ, config->blockDimX, config->blockDimY,
             config->blockDimZ, config->sharedMemBytes, 0);
    CUresult result = launch_ex_on(again_target(listed), config, f, params);
    if (!end(record, API_cuLaunchKernelEx, listed, result))
        unusual_ex(listed, enter, __builtin_return_address(0), frame, config, f, params, result);
    return result;
}

/* ---- */

/* Where the compiler calls what it could jump to, as wrappers.c says, recorded launches all go the long way. */
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define RECORDED(launch) ((void *)recorded_##launch)
#else
#define RECORDED(launch) ((void)recorded_##launch, (void *)NULL)
#endif

static void put_in(void **door, void **way, void *quick)
{
    *way = *door;
    if (quick)
        __atomic_store_n(door, quick, __ATOMIC_RELEASE);
}

void quick_launches(int recorded)
{
    void **launch = &wrappers_go[API_cuLaunchKernel][0], **launch_ex = &wrappers_go[API_cuLaunchKernelEx][0];
    if (driver_real[API_cuLaunchKernel][0])
        put_in(launch, (void **)&long_way, recorded ? RECORDED(launch) : (void *)quick_launch);
    if (driver_real[API_cuLaunchKernelEx][0])
        put_in(launch_ex, (void **)&long_way_ex, recorded ? RECORDED(launch_ex) : (void *)quick_launch_ex);
}

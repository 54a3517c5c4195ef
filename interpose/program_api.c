/* SPDX-License-Identifier: Apache-2.0
 *
 * What ptds.h finds in the library. Called by programs that know of it; must be harmless in any state.
 */
#include "interpose/doors/doors.h"
#include "interpose/env/env.h"
#include "interpose/handover/handover.h"
#include "interpose/policy/policy.h"
#include "interpose/policy/target.h"
#include "interpose/record/record.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int ptds_api_use_stream(CUstream stream);
EXPORT int ptds_api_use_stream_in_thread(CUstream stream);
EXPORT int ptds_api_region_push(const char *name);
EXPORT int ptds_api_region_pop(void);
EXPORT int ptds_api_flush(void);
EXPORT int ptds_api_hand_over(const void *object);
EXPORT int ptds_api_take_over(const void *object);

static int streams_matter(void)
{
    return !env_get()->disable && env_get()->policy == ENV_POLICY_stream;
}

int ptds_api_use_stream(CUstream stream)
{
    if (!streams_matter())
        return 0;
    target_set_process(stream);
    return 1;
}

int ptds_api_use_stream_in_thread(CUstream stream)
{
    struct thread *thread = streams_matter() ? thread_get() : NULL;
    if (!thread)
        return 0;
    thread->own_target = stream;
    return 1;
}

int ptds_api_region_push(const char *name)
{
    struct thread *thread = env_get()->recording && name ? thread_get() : NULL;
    return thread ? record_region_push(thread, name, NULL) : 0;
}

int ptds_api_region_pop(void)
{
    struct thread *thread = env_get()->recording ? thread_get() : NULL;
    return thread ? record_region_pop(thread, NULL) : 0;
}

int ptds_api_flush(void)
{
    if (!record_on())
        return 0;
    record_flush();
    return 1;
}

int ptds_api_hand_over(const void *object)
{
    if (!__atomic_load_n(&handover_on, __ATOMIC_RELAXED))
        return 0;
    handover_give(object);
    return 1;
}

int ptds_api_take_over(const void *object)
{
    if (!__atomic_load_n(&handover_on, __ATOMIC_ACQUIRE))
        return 0;
    handover_take(object);
    return 1;
}

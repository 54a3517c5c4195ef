/* SPDX-License-Identifier: Apache-2.0
 *
 * What ptds.h finds in the library. Called by programs that know of it; must be harmless in any state.
 */
#include "interpose/env/env.h"
#include "interpose/policy/policy.h"
#include "interpose/policy/target.h"
#include "interpose/record/recorder.h"
#include "interpose/record/thread_regions.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int ptds_api_use_stream(CUstream stream);
EXPORT int ptds_api_use_stream_in_thread(CUstream stream);
EXPORT int ptds_api_region_push(const char *name);
EXPORT int ptds_api_region_pop(void);
EXPORT int ptds_api_flush(void);

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
    target_set_thread(thread, stream);
    return 1;
}

int ptds_api_region_push(const char *name)
{
    struct thread *thread = env_get()->recording && name ? thread_get() : NULL;
    return thread ? thread_regions_push(thread, name, NULL) : 0;
}

int ptds_api_region_pop(void)
{
    struct thread *thread = env_get()->recording ? thread_get() : NULL;
    return thread ? thread_regions_pop(thread, NULL) : 0;
}

int ptds_api_flush(void)
{
    if (!recorder_on())
        return 0;
    recorder_flush();
    return 1;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Wrappers that note when a process's CUDA work began and ended (record/moments.h), around the function that a door leads
 * to. door_open puts them in where `ptds probe` asks for that. Must change nothing else about a call. Calls that begin and
 * end contexts and modules are not watched: start-up and teardown are not work.
 */
#include "interpose/doors/watch_moments.h"

#include "interpose/api/api.h"
#include "interpose/doors/wrappers.h"
#include "interpose/driver/driver.h"
#include "interpose/record/moments.h"

static void *behind[API_COUNT][2];

#define WATCHED(function, symbol, twin_index, params, args, begins) \
    static CUresult watched_##function params \
    { \
        begins; \
        CUresult result = ((__typeof__(&function))behind[API_##symbol][twin_index])args; \
        moments_end(); \
        return result; \
    }

/* By class: work, what else may wait for it, and the rest. */
#define ON_COPY(...) WATCHED(__VA_ARGS__, moments_begin())
#define ON_GRAPH(...) WATCHED(__VA_ARGS__, moments_begin())
#define ON_HOSTFUNC(...) WATCHED(__VA_ARGS__, moments_begin())
#define ON_LAUNCH(...) WATCHED(__VA_ARGS__, moments_begin())
#define ON_MEMSET(...) WATCHED(__VA_ARGS__, moments_begin())
#define ON_PREFETCH(...) WATCHED(__VA_ARGS__, moments_begin())
#define ON_ALLOC(...) WATCHED(__VA_ARGS__, (void)0)
#define ON_EVENT(...) WATCHED(__VA_ARGS__, (void)0)
#define ON_MEMOP(...) WATCHED(__VA_ARGS__, (void)0)
#define ON_SEMAPHORE(...) WATCHED(__VA_ARGS__, (void)0)
#define ON_STREAM(...) WATCHED(__VA_ARGS__, (void)0)
#define ON_SYNC(...) WATCHED(__VA_ARGS__, (void)0)
#define ON_CAPTURE(...)
#define ON_CONFIG(...)
#define ON_CONTEXT(...)
#define ON_ENTRY(...)
#define ON_GRAPHICS(...)
#define ON_INTEROP(...)
#define ON_MODULE(...)
#define ON_QUERY(...)

#define API(symbol, since, route, class_, timing, told, params, args, before, after) \
    ON_##class_(symbol, symbol, 0, params, args)
#define API_PTSZ(symbol, since, twin_since, route, class_, timing, told, params, args, before, after) \
    ON_##class_(symbol, symbol, 0, params, args) ON_##class_(symbol##_ptsz, symbol, 1, params, args)
#define API_PTDS(symbol, since, twin_since, async_form, class_, timing, told, params, args, before, after) \
    ON_##class_(symbol, symbol, 0, params, args) ON_##class_(symbol##_ptds, symbol, 1, params, args)
#include "interpose/api/api.def"

/* The same rows once more, as data. */
#undef WATCHED
#define WATCHED(function, symbol, twin_index, params, args, begins) [API_##symbol][twin_index] = (void *)watched_##function,
static void *const watched[API_COUNT][2] = {
#define API(symbol, since, route, class_, timing, told, params, args, before, after) \
    ON_##class_(symbol, symbol, 0, params, args)
#define API_PTSZ(symbol, since, twin_since, route, class_, timing, told, params, args, before, after) \
    ON_##class_(symbol, symbol, 0, params, args) ON_##class_(symbol##_ptsz, symbol, 1, params, args)
#define API_PTDS(symbol, since, twin_since, async_form, class_, timing, told, params, args, before, after) \
    ON_##class_(symbol, symbol, 0, params, args) ON_##class_(symbol##_ptds, symbol, 1, params, args)
#include "interpose/api/api.def"
};

/* Where the compiler calls what it could jump to (wrappers.c), what lies behind a door would lead back to here. */
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CAN_WATCH 1
#else
#define CAN_WATCH 0
#endif

int watch_moments_row(int id, int twin)
{
    return CAN_WATCH && moments_wanted() && watched[id][twin] != NULL;
}

void watch_moments_all(void)
{
    for (int id = 0; moments_wanted() && id < API_COUNT; id++) {
        for (int twin = 0; twin < 2; twin++) {
            if (!watch_moments_row(id, twin) || !driver_real[id][twin])
                continue;
            behind[id][twin] = wrappers_go[id][twin];
            __atomic_store_n(&wrappers_go[id][twin], watched[id][twin], __ATOMIC_RELEASE);
        }
    }
}

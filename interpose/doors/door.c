/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens the doors once, and decides what each of them hands out. door_answer() runs inside dlsym: no locks, no allocation,
 * no driver calls there.
 */
#include "interpose/doors/door.h"

#include <errno.h>

#include "interpose/base/diag.h"
#include "interpose/base/lock.h"
#include "interpose/doors/lookup/untabled.h"
#include "interpose/doors/quick_launches.h"
#include "interpose/doors/watch_moments.h"
#include "interpose/doors/wrappers.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/others.h"
#include "interpose/driver/shake.h"
#include "interpose/env/env.h"
#include "interpose/footprint/footprint.h"
#include "interpose/guard/guard.h"
#include "interpose/policy/callers.h"
#include "interpose/policy/policy.h"
#include "interpose/record/moments.h"
#include "interpose/record/recorder.h"

int door_inert(void)
{
    const struct env *env = env_get();
    return env->disable || env->policy == ENV_POLICY_none;
}

static int asks_for_others(int id)
{
    return id == API_cuGetProcAddress || id == API_cuGetProcAddress_v2;
}

/* 1: something stands around single functions of the driver, under any policy. */
static int functions_are_wrapped(void)
{
    return moments_wanted() || shake_wanted();
}

static int is_wrapped(int id, int twin)
{
    return watch_moments_row(id, twin) || shake_row(id, twin);
}

int door_idle(void)
{
    return door_inert() && !functions_are_wrapped();
}

int door_passes(int id)
{
    return door_inert() && !(asks_for_others(id) && functions_are_wrapped());
}

/* 1: the program may be given a twin's own address, since no call has to be looked at: nothing is recorded, and 0x1 is left
 * alone. */
static int twins_suffice(void)
{
    const struct env *env = env_get();
    return env->policy == ENV_POLICY_per_thread && !env->recording && !env->remap_explicit;
}

/* The driver's function that may be handed out instead of the wrapper; NULL: the wrapper it must be. */
static void *direct_for(int id, int twin)
{
    if (door_passes(id))
        return driver_real[id][twin];
    if (asks_for_others(id) || !twins_suffice())
        return NULL;
    switch (api_rows[id].route) {
    case ROUTE_STREAM:
    case ROUTE_STREAM2:
    case ROUTE_CONFIG:
    case ROUTE_UPLOAD:
    case ROUTE_IMPLICIT: return api_rows[id].twin ? driver_real[id][1] : NULL;
    case ROUTE_STREAM_AT:
    case ROUTE_KEEP_IF: return twin ? driver_real[id][1] : NULL;
    default: return driver_real[id][twin];
    }
}

/* 1: calls of an excluded object need no wrapper, since neither the recorder nor the guard has to see them. */
static int excluded_directly(const void *caller)
{
    if (!callers_filter_on())
        return 0;
    policy_choose(); /* a lookup comes before the first wrapper does */
    return !env_get()->recording && !guard_on && callers_excluded(caller);
}

void *door_answer(void *real, const void *caller)
{
    int twin, id = driver_row(real, &twin);
    if (id < 0 || driver_owns(caller)) /* a driver's or tool's own look-ups are not the program's */
        return real;
    if (is_wrapped(id, twin))
        return door_own(id, twin);
    if (door_passes(id) || (!asks_for_others(id) && excluded_directly(caller)))
        return real;
    void *direct = direct_for(id, twin);
    return direct ? direct : door_own(id, twin);
}

void *door_own(int id, int twin)
{
    return others_look() && others_function[id][twin] ? wrappers_working[id][twin] : wrappers_exported[id][twin];
}

void *door_others(void *found, int id, int twin, const void *caller)
{
    int is_linked = id >= 0 && others_look() && others_function[id][twin] == found;
    if (!is_linked || (door_passes(id) && !is_wrapped(id, twin)) || driver_owns(caller))
        return found; /* what that function calls is not known; it may ask the shim's doors for it */
    return !asks_for_others(id) && excluded_directly(caller) ? found : wrappers_exported[id][twin];
}

/* An ELF-bound call has no moment of resolution at which its caller could be asked about, so a filter keeps it in the
 * wrapper. */
static void *goes_to(int id, int twin)
{
    if (others_function[id][twin])
        return door_passes(id) ? others_function[id][twin] : wrappers_linked[id][twin];
    void *direct = door_inert() || !callers_filter_on() ? direct_for(id, twin) : NULL;
    return direct ? direct : wrappers_working[id][twin];
}

static void go_direct(void)
{
    for (int id = 0; id < API_COUNT; id++) {
        for (int twin = 0; twin < 2; twin++)
            __atomic_store_n(&wrappers_go[id][twin], goes_to(id, twin), __ATOMIC_RELEASE);
    }
}

static void go_quickly(void)
{
    if (routing.quick && guard_on && !others_look()) /* another library's launch may make calls of its own */
        quick_launches(env_get()->recording);
}

static struct lock opening;

int door_open(void)
{
    static uint32_t opened;
    if (__builtin_expect(__atomic_load_n(&opened, __ATOMIC_ACQUIRE), 1))
        return 1;
    int saved = errno;
    env_get(); /* before anything has something to say */
    int found = driver_search(1);
    others_look();
    if (found) {
        lock_take(&opening);
        if (!opened) {
            recorder_listen();
            footprint_listen();
            recorder_started = untabled_report;
            recorder_ending = untabled_report_calls;
            policy_choose();
            shake_begin();
            go_direct();
            go_quickly();
            watch_moments_all();
            __atomic_store_n(&opened, 1, __ATOMIC_RELEASE);
        }
        lock_drop(&opening);
        driver_pin(); /* also where nothing is remapped: wrappers hold its addresses */
    } else {
        diag_once(DIAG_ERROR, "no CUDA driver (libcuda.so.1) could be found");
    }
    errno = saved;
    return found;
}

void door_after_fork(void)
{
    opening.held = 0;
    untabled_after_fork();
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Decides what a program gets for a function that the table does not know: the driver's own, its per-thread twin, or where
 * the guard keeps order a forwarder, whose calls take part in it. Called by the doors of look-ups, inside dlsym, too: no
 * allocation, no driver calls, and no lock but one that is never held for long.
 */
#include "interpose/doors/lookup/untabled.h"

#include <string.h>

#include "interpose/base/diag.h"
#include "interpose/base/lock.h"
#include "interpose/doors/door.h"
#include "interpose/doors/forward.h"
#include "interpose/driver/driver.h"
#include "interpose/env/env.h"
#include "interpose/guard/guard.h"
#include "interpose/policy/callers.h"
#include "interpose/policy/policy.h"
#include "interpose/record/recorder.h"

/* Names are kept until recording starts; cudart resolves everything before its first real call. */
enum { NAMES = 128 };
static struct {
    char name[96];
    int handed, version;
    int reported;
    uint32_t calls; /* of its forwarders */
} names[NAMES];
static struct lock names_lock;

/* Of both of the function's names, the twin's without its ending, as much as is kept. */
static size_t length_of(const struct untabled *function)
{
    size_t length = strlen(function->name), ending = sizeof "_ptsz" - 1;
    if (length > ending &&
        (strcmp(function->name + length - ending, "_ptsz") == 0 || strcmp(function->name + length - ending, "_ptds") == 0))
        length -= ending;
    return length < sizeof names[0].name ? length : sizeof names[0].name - 1;
}

/* Its number; -1: there is no room. */
static int number_of(const struct untabled *function)
{
    size_t length = length_of(function);
    int at = 0;
    lock_take(&names_lock);
    while (at < NAMES && names[at].name[0] &&
           (strlen(names[at].name) != length || memcmp(names[at].name, function->name, length) != 0))
        at++;
    if (at < NAMES && !names[at].name[0]) {
        names[at].version = function->version;
        memcpy(names[at].name + 1, function->name + 1, length - 1);
        __atomic_store_n(&names[at].name[0], function->name[0], __ATOMIC_RELEASE); /* from here on it is there */
    }
    lock_drop(&names_lock);
    return at < NAMES ? at : -1;
}

static int is_there(int at)
{
    return __atomic_load_n(&names[at].name[0], __ATOMIC_ACQUIRE) != 0;
}

void untabled_report(void)
{
    for (int i = 0; i < NAMES && is_there(i); i++) {
        if (!__atomic_exchange_n(&names[i].reported, 1, __ATOMIC_RELAXED))
            recorder_untabled(names[i].name, names[i].handed, names[i].version, 0);
    }
}

void untabled_report_calls(void)
{
    for (int i = 0; i < NAMES && is_there(i); i++) {
        uint32_t calls = __atomic_load_n(&names[i].calls, __ATOMIC_RELAXED);
        if (calls)
            recorder_untabled(names[i].name, names[i].handed, names[i].version, calls);
    }
}

/* A lookup comes before the first wrapper does. */
static int guards(void)
{
    policy_choose();
    return guard_on != 0;
}

static void *forwarder(void *function, int name)
{
    void *found = name >= 0 ? forward_to(function, &names[name].calls) : NULL;
    if (!found)
        diag_once(DIAG_ERROR,
                  "this driver has more functions that the shim does not know than there is room for: the calls "
                  "of some are not ordered, and results may be wrong");
    return found;
}

void *untabled_answer(const struct untabled *function, const void *caller)
{
    void *asked = function->is_twin ? function->twin : function->legacy;
    if (door_inert() || driver_owns(caller)) /* a driver's or tool's own look-ups are not the program's */
        return asked;
    int ordered = guards();
    if (function->is_twin && !ordered)
        return asked; /* it is what the policy would give, or leaves alone */
    int name = number_of(function);
    int remap = env_get()->policy == ENV_POLICY_per_thread && !(callers_filter_on() && callers_excluded(caller));
    void *forwards = ordered ? forwarder(asked, name) : NULL;
    if (name >= 0)
        __atomic_store_n(&names[name].handed,
                         forwards ? PTDS_HANDED_FORWARDER
                         : remap  ? PTDS_HANDED_TWIN
                                  : PTDS_HANDED_LEGACY,
                         __ATOMIC_RELAXED);
    if (recorder_on())
        untabled_report();
    return forwards ? forwards : remap ? function->twin : asked;
}

void untabled_after_fork(void)
{
    names_lock.held = 0;
    for (int i = 0; i < NAMES; i++) { /* the child's trace is another one */
        names[i].reported = 0;
        names[i].calls = 0;
    }
    forward_after_fork();
}

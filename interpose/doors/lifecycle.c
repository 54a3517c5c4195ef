/* SPDX-License-Identifier: Apache-2.0
 *
 * Start, fork and exit. Called by the first wrapper, by libc around fork, and at exit by the loader, or by libc where the
 * program ends by quick_exit; not where _exit, abort or a signal ends it. A process without CUDA comes here only by a
 * destructor, which says so where `ptds run` has started the process. The child of a fork starts anew: the record is the
 * parent's.
 */
#include "interpose/doors/lifecycle.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "interpose/base/pages.h"
#include "interpose/doors/door.h"
#include "interpose/doors/enter.h"
#include "interpose/doors/nvtx.h"
#include "interpose/driver/driver.h"
#include "interpose/footprint/footprint.h"
#include "interpose/footprint/graphs.h"
#include "interpose/footprint/mappings.h"
#include "interpose/footprint/memories.h"
#include "interpose/footprint/modules.h"
#include "interpose/footprint/reservations.h"
#include "interpose/footprint/tables.h"
#include "interpose/footprint/textures.h"
#include "interpose/guard/guard.h"
#include "interpose/guard/object_changes.h"
#include "interpose/policy/policy.h"
#include "interpose/record/finish.h"
#include "interpose/record/hostfunc.h"
#include "interpose/record/recorder.h"
#include "interpose/record/run_processes.h"
#include "interpose/state/capture.h"
#include "interpose/state/contexts.h"
#include "interpose/state/objects.h"

static uint32_t started, finished;

/* pthread_atfork, but in every glibc's libc.so itself. */
int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *object);

static void in_child(void)
{
    finished = 0;
    pages_after_fork();
    driver_after_fork();
    door_after_fork();
    nvtx_after_fork();
    enter_after_fork();
    thread_after_fork();
    object_changes_after_fork();
    contexts_after_fork();
    objects_handles_after_fork();
    capture_after_fork();
    memories_after_fork();
    allocations_after_fork();
    graphs_after_fork();
    mappings_after_fork();
    reservations_after_fork();
    modules_after_fork();
    tables_after_fork();
    textures_after_fork();
    footprint_kernels_after_fork();
    recorder_after_fork();
    hostfunc_after_fork();
}

/* Once, though a program may call quick_exit while it exits. */
static void finish(void)
{
    int saved = errno;
    if (!__atomic_exchange_n(&finished, 1, __ATOMIC_ACQ_REL))
        finish_recording();
    errno = saved;
}

void lifecycle_start(void)
{
    if (__builtin_expect(__atomic_load_n(&started, __ATOMIC_ACQUIRE), 1) ||
        __atomic_exchange_n(&started, 1, __ATOMIC_ACQ_REL))
        return;
    __register_atfork(NULL, recorder_fork, in_child, NULL);
    at_quick_exit(finish);
}

__attribute__((destructor)) static void at_exit(void)
{
    if (__atomic_load_n(&started, __ATOMIC_ACQUIRE)) {
        finish();
        return;
    }
    int saved = errno;
    run_processes_say_nothing_seen();
    errno = saved;
}

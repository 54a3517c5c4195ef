/* SPDX-License-Identifier: Apache-2.0
 *
 * What concerns all rooms: the start, and forks. Called by doors/.
 */
#include "interpose/footprint/footprint.h"

#include "interpose/footprint/allocations/allocations.h"
#include "interpose/footprint/allocations/lent.h"
#include "interpose/footprint/allocations/physical.h"
#include "interpose/footprint/allocations/pools.h"
#include "interpose/footprint/allocations/shared_memory.h"
#include "interpose/footprint/allocations/textures.h"
#include "interpose/footprint/graphs/graphs.h"
#include "interpose/footprint/memories/array_handles.h"
#include "interpose/footprint/memories/reservations.h"
#include "interpose/footprint/modules/kernel_table.h"
#include "interpose/footprint/operations/event_uids.h"
#include "interpose/footprint/pointers/pointer_tables.h"
#include "interpose/record/recorder.h"
#include "interpose/state/hooks.h"
#include "interpose/record/file/rescue.h"

static void forget_caches(struct thread *thread)
{
    recorder_forget_caches(thread);
    kernel_table_forget_cache(thread);
}

static void forget_kernels(void)
{
    kernel_table_forget(NULL);
}

void footprint_listen(void)
{
    state_hooks.thread_over = forget_caches;
    state_hooks.functions_going = forget_kernels;
    rescue_memory_is_there = allocations_is_there;
}

void footprint_after_fork(void)
{
    event_uids_after_fork();
    addresses_after_fork();
    array_handles_after_fork();
    lent_after_fork();
    pools_after_fork();
    graphs_after_fork();
    physical_after_fork();
    shared_memory_after_fork();
    reservations_after_fork();
    modules_after_fork();
    pointer_tables_after_fork();
    textures_after_fork();
    kernel_table_after_fork();
}

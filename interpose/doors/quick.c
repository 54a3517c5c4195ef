/* SPDX-License-Identifier: Apache-2.0
 *
 * The launches' wrappers where nothing is recorded: most launches go the guard's short way, which costs a third of the long
 * one, and all others on to the wrapper. door_open puts them in. Must decide nothing: whether a launch may go the short way
 * the guard says.
 */
#include "interpose/doors/doors.h"
#include "interpose/driver/driver.h"
#include "interpose/guard/again.h"

static __typeof__(&cuLaunchKernel) long_way;
static __typeof__(&cuLaunchKernelEx) long_way_ex;

static CUresult quick_launch(CUfunction f, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                             unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void **params,
                             void **extra)
{
    struct again again;
    if (stream || extra || !guard_launch_again(&again, f, params))
        return long_way(f, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, params, extra);
    CUresult result = REAL(cuLaunchKernel)(f, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, again.target,
                                           params, extra);
    guard_launched_again(&again);
    return result;
}

static CUresult quick_launch_ex(const CUlaunchConfig *config, CUfunction f, void **params, void **extra)
{
    struct again again;
    if (!config || config->hStream || config->numAttrs || extra || !guard_launch_again(&again, f, params))
        return long_way_ex(config, f, params, extra);
    CUlaunchConfig routed = *config;
    routed.hStream = again.target;
    CUresult result = REAL(cuLaunchKernelEx)(&routed, f, params, extra);
    guard_launched_again(&again);
    return result;
}

void quick_launches(void)
{
    void **launch = &door_go[API_cuLaunchKernel][0], **launch_ex = &door_go[API_cuLaunchKernelEx][0];
    if (driver_real[API_cuLaunchKernel][0]) {
        long_way = (__typeof__(long_way))*launch;
        __atomic_store_n(launch, (void *)quick_launch, __ATOMIC_RELEASE);
    }
    if (driver_real[API_cuLaunchKernelEx][0]) {
        long_way_ex = (__typeof__(long_way_ex))*launch_ex;
        __atomic_store_n(launch_ex, (void *)quick_launch_ex, __ATOMIC_RELEASE);
    }
}

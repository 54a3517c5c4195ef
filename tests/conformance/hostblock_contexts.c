/* SPDX-License-Identifier: Apache-2.0
 *
 * The frees of hostblock.c where another context is in the game, whose streams are idle: does a free wait for the context
 * that is current, or for the one whose memory it is? "busy" is the context with the gate.
 */
#include "tests/conformance/hostblock.h"

static CUcontext idle;

static void idle_is_current(void)
{
    if (idle)
        MUST(cuCtxPushCurrent_v2(idle));
    else
        MUST(cuCtxCreate_v2(&idle, 0, 0));
}

static void busy_is_current(void)
{
    CUcontext popped;
    MUST(cuCtxPopCurrent_v2(&popped));
}

#define IN_IDLE(name, statement) \
    static void name(void) \
    { \
        idle_is_current(); \
        statement; \
        busy_is_current(); \
    }
#define IN_BUSY(name, statement) \
    static void name(void) \
    { \
        idle_is_current(); /* so that it is there before the gate is closed */ \
        busy_is_current(); \
        statement; \
    }

IN_IDLE(alloc_idle, MUST(cuMemAlloc_v2(&scene.made, scene.size)))
IN_BUSY(alloc_busy, MUST(cuMemAlloc_v2(&scene.made, scene.size)))
IN_IDLE(host_alloc_idle, MUST(cuMemHostAlloc(&scene.host, scene.size, CU_MEMHOSTALLOC_PORTABLE)))
IN_BUSY(host_alloc_busy, MUST(cuMemHostAlloc(&scene.host, scene.size, CU_MEMHOSTALLOC_PORTABLE)))
IN_IDLE(register_idle, block_register_pages())
IN_BUSY(register_busy, block_register_pages())
IN_IDLE(array_idle, MUST(cuArrayCreate_v2(&scene.array, &block_image)))
IN_BUSY(array_busy, MUST(cuArrayCreate_v2(&scene.array, &block_image)))

#define FREES(name, expression) \
    static CUresult name##_from_busy(void *unused) \
    { \
        (void)unused; \
        return expression; \
    } \
    static CUresult name##_from_idle(void *unused) \
    { \
        idle_is_current(); \
        CUresult result = name##_from_busy(unused); \
        busy_is_current(); \
        return result; \
    }
FREES(device, cuMemFree_v2(scene.made))
FREES(host, cuMemFreeHost(scene.host))
FREES(pages, cuMemHostUnregister(scene.host))
FREES(array, cuArrayDestroy(scene.array))

const struct block_case context_cases[] = {
    {"cuMemFree,idle,from-idle", alloc_idle, device_from_idle, NULL, 1024},
    {"cuMemFree,idle,from-busy", alloc_idle, device_from_busy, NULL, 1024},
    {"cuMemFree,busy,from-idle", alloc_busy, device_from_idle, NULL, 1024},
    {"cuMemFreeHost,idle,from-idle", host_alloc_idle, host_from_idle, NULL, MIB},
    {"cuMemFreeHost,idle,from-busy", host_alloc_idle, host_from_busy, NULL, MIB},
    {"cuMemFreeHost,busy,from-idle", host_alloc_busy, host_from_idle, NULL, MIB},
    {"cuMemHostUnregister,idle,from-idle", register_idle, pages_from_idle, block_release_pages, MIB},
    {"cuMemHostUnregister,idle,from-busy", register_idle, pages_from_busy, block_release_pages, MIB},
    {"cuMemHostUnregister,busy,from-idle", register_busy, pages_from_idle, block_release_pages, MIB},
    {"cuArrayDestroy,idle,from-idle", array_idle, array_from_idle, NULL, 0},
    {"cuArrayDestroy,idle,from-busy", array_idle, array_from_busy, NULL, 0},
    {"cuArrayDestroy,busy,from-idle", array_busy, array_from_idle, NULL, 0},
    {NULL, NULL, NULL, NULL, 0},
};

/* SPDX-License-Identifier: Apache-2.0
 *
 * The allocations and frees of hostblock.c.
 */
#include <stdlib.h>

#include "tests/conformance/hostblock.h"

#define CALL(name, expression) \
    static CUresult name(void *unused) \
    { \
        (void)unused; \
        return expression; \
    }
#define DO(name, expression) \
    static void name(void) \
    { \
        MUST(expression); \
    }

CALL(alloc, cuMemAlloc_v2(&scene.made, scene.size))
DO(do_alloc, cuMemAlloc_v2(&scene.made, scene.size))
CALL(free_device, cuMemFree_v2(scene.made))
DO(do_free, cuMemFree_v2(scene.made))
CALL(host_alloc, cuMemHostAlloc(&scene.host, scene.size, 0))
DO(do_host_alloc, cuMemHostAlloc(&scene.host, scene.size, 0))
CALL(free_host, cuMemFreeHost(scene.host))
DO(do_free_host, cuMemFreeHost(scene.host))
CALL(alloc_async_0, cuMemAllocAsync(&scene.made, scene.size, NULL))
CALL(alloc_async_busy, cuMemAllocAsync(&scene.made, scene.size, scene.busy))
static void do_alloc_async(void)
{
    MUST(cuMemAllocAsync(&scene.made, scene.size, conf.nonblocking2));
    MUST(cuCtxSynchronize());
}
CALL(free_async_0, cuMemFreeAsync(scene.made, NULL))
CALL(free_async_busy, cuMemFreeAsync(scene.made, scene.busy))
DO(do_free_async, cuMemFreeAsync(scene.made, NULL))

static void allocate_pages(void)
{
    if (posix_memalign(&scene.host, 4096, scene.size) != 0)
        exit(2);
}

void block_release_pages(void)
{
    free(scene.host);
}

void block_register_pages(void)
{
    allocate_pages();
    MUST(cuMemHostRegister_v2(scene.host, scene.size, 0));
}

static void unregister_pages(void)
{
    MUST(cuMemHostUnregister(scene.host));
    block_release_pages();
}

CALL(host_register, cuMemHostRegister_v2(scene.host, scene.size, 0))
CALL(host_unregister, cuMemHostUnregister(scene.host))

const CUDA_ARRAY_DESCRIPTOR block_image = {64, 64, CU_AD_FORMAT_UNSIGNED_INT8, 1};
CALL(array_create, cuArrayCreate_v2(&scene.array, &block_image))
DO(do_array_create, cuArrayCreate_v2(&scene.array, &block_image))
CALL(array_destroy, cuArrayDestroy(scene.array))
DO(do_array_destroy, cuArrayDestroy(scene.array))

static CUresult memory_info(void *unused)
{
    size_t free_bytes, total;
    (void)unused;
    return cuMemGetInfo_v2(&free_bytes, &total);
}

const struct block_case memory_cases[] = {
    {"cuMemFree,1KiB", do_alloc, free_device, NULL, 1024},
    {"cuMemFree,64MiB", do_alloc, free_device, NULL, 64 * MIB},
    {"cuMemFreeHost", do_host_alloc, free_host, NULL, MIB},
    {"cuMemHostUnregister", block_register_pages, host_unregister, block_release_pages, MIB},
    {"cuArrayDestroy", do_array_create, array_destroy, NULL, 0},
    {"cuMemAlloc,1KiB", NULL, alloc, do_free, 1024},
    {"cuMemAlloc,64MiB", NULL, alloc, do_free, 64 * MIB},
    {"cuMemAlloc,512MiB", NULL, alloc, do_free, 512 * MIB},
    {"cuMemHostAlloc", NULL, host_alloc, do_free_host, MIB},
    {"cuMemHostRegister", allocate_pages, host_register, unregister_pages, MIB},
    {"cuArrayCreate", NULL, array_create, do_array_destroy, 0},
    {"cuMemAllocAsync,0", NULL, alloc_async_0, do_free_async, 4096},
    {"cuMemAllocAsync,busy-stream", NULL, alloc_async_busy, do_free_async, 4096},
    {"cuMemFreeAsync,0", do_alloc_async, free_async_0, NULL, 4096},
    {"cuMemFreeAsync,busy-stream", do_alloc_async, free_async_busy, NULL, 4096},
    {"cuMemGetInfo", NULL, memory_info, NULL, 0},
    {NULL, NULL, NULL, NULL, 0},
};

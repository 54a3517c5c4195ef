/* SPDX-License-Identifier: Apache-2.0
 *
 * The copies and memsets of hostblock.c. "pageable" is malloc's memory, "pinned" cuMemHostAlloc's.
 */
#include <string.h>

#include "tests/conformance/hostblock.h"

#define CALL(name, expression) \
    static CUresult name(void *unused) \
    { \
        (void)unused; \
        return expression; \
    }

CALL(htod_pageable, cuMemcpyHtoD_v2(scene.device, scene.pageable, scene.size))
CALL(htod_pinned, cuMemcpyHtoD_v2(scene.device, scene.pinned, scene.size))
CALL(dtoh_pageable, cuMemcpyDtoH_v2(scene.pageable, scene.device, scene.size))
CALL(dtoh_pinned, cuMemcpyDtoH_v2(scene.pinned, scene.device, scene.size))
CALL(dtoh_pinned_ptds, cuMemcpyDtoH_v2_ptds(scene.pinned, scene.device, scene.size))
CALL(dtoh_pageable_ptds, cuMemcpyDtoH_v2_ptds(scene.pageable, scene.device, scene.size))
CALL(htod_pageable_ptds, cuMemcpyHtoD_v2_ptds(scene.device, scene.pageable, scene.size))
CALL(htod_pinned_ptds, cuMemcpyHtoD_v2_ptds(scene.device, scene.pinned, scene.size))
CALL(memset_pinned, cuMemsetD8_v2((CUdeviceptr)(uintptr_t)scene.pinned, 1, scene.size))
CALL(memset_pinned_ptds, cuMemsetD8_v2_ptds((CUdeviceptr)(uintptr_t)scene.pinned, 1, scene.size))
CALL(dtod, cuMemcpyDtoD_v2(scene.device, scene.device2, scene.size))
CALL(dtod_ptds, cuMemcpyDtoD_v2_ptds(scene.device, scene.device2, scene.size))
CALL(memset_device, cuMemsetD8_v2(scene.device, 1, scene.size))
CALL(memset_device_ptds, cuMemsetD8_v2_ptds(scene.device, 1, scene.size))
CALL(memset32_device, cuMemsetD32_v2(scene.device, 1, scene.size / 4))
CALL(htod_async_pageable_busy, cuMemcpyHtoDAsync_v2(scene.device, scene.pageable, scene.size, scene.busy))
CALL(htod_async_pageable_0, cuMemcpyHtoDAsync_v2(scene.device, scene.pageable, scene.size, NULL))
CALL(htod_async_pinned_busy, cuMemcpyHtoDAsync_v2(scene.device, scene.pinned, scene.size, scene.busy))
CALL(dtoh_async_pinned_busy, cuMemcpyDtoHAsync_v2(scene.pinned, scene.device, scene.size, scene.busy))
CALL(dtoh_async_pinned_0, cuMemcpyDtoHAsync_v2(scene.pinned, scene.device, scene.size, NULL))
CALL(dtoh_async_0, cuMemcpyDtoHAsync_v2(scene.pageable, scene.device, scene.size, NULL))
CALL(dtoh_async_0x1, cuMemcpyDtoHAsync_v2(scene.pageable, scene.device, scene.size, CU_STREAM_LEGACY))
CALL(dtoh_async_0x2, cuMemcpyDtoHAsync_v2(scene.pageable, scene.device, scene.size, CU_STREAM_PER_THREAD))
CALL(dtoh_async_ptsz, cuMemcpyDtoHAsync_v2_ptsz(scene.pageable, scene.device, scene.size, NULL))
CALL(dtoh_async_blocking, cuMemcpyDtoHAsync_v2(scene.pageable, scene.device, scene.size, conf.blocking))
CALL(dtoh_async_blocking2, cuMemcpyDtoHAsync_v2(scene.pageable, scene.device, scene.size, conf.blocking2))
CALL(dtoh_async_nonblocking, cuMemcpyDtoHAsync_v2(scene.pageable, scene.device, scene.size, conf.nonblocking))
CALL(dtoh_async_nonblocking2, cuMemcpyDtoHAsync_v2(scene.pageable, scene.device, scene.size, conf.nonblocking2))

const struct block_case copy_cases[] = {
    {"cuMemcpyHtoD,pageable,4B", NULL, htod_pageable, NULL, 4},
    {"cuMemcpyHtoD,pageable,1MiB", NULL, htod_pageable, NULL, MIB},
    {"cuMemcpyHtoD,pinned,4B", NULL, htod_pinned, NULL, 4},
    {"cuMemcpyHtoD,pinned,1MiB", NULL, htod_pinned, NULL, MIB},
    {"cuMemcpyDtoH,pageable,4B", NULL, dtoh_pageable, NULL, 4},
    {"cuMemcpyDtoH,pageable,1MiB", NULL, dtoh_pageable, NULL, MIB},
    {"cuMemcpyDtoH,pinned,4B", NULL, dtoh_pinned, NULL, 4},
    {"cuMemcpyDtoH,pinned,1MiB", NULL, dtoh_pinned, NULL, MIB},
    {"cuMemcpyDtoH@ptds,pinned,4KiB", NULL, dtoh_pinned_ptds, NULL, 4096},
    {"cuMemcpyHtoD@ptds,pageable,1MiB", NULL, htod_pageable_ptds, NULL, MIB},
    {"? cuMemcpyHtoD@ptds,pageable,4B", NULL, htod_pageable_ptds, NULL, 4},
    {"? cuMemcpyHtoD@ptds,pageable,64KiB", NULL, htod_pageable_ptds, NULL, 65536},
    {"? cuMemcpyHtoD@ptds,pinned,4KiB", NULL, htod_pinned_ptds, NULL, 4096},
    {"? cuMemcpyDtoH@ptds,pageable,4KiB", NULL, dtoh_pageable_ptds, NULL, 4096},
    {"cuMemsetD8,pinned", NULL, memset_pinned, NULL, 4096},
    {"? cuMemsetD8@ptds,pinned", NULL, memset_pinned_ptds, NULL, 4096},
    {"cuMemcpyDtoD", NULL, dtod, NULL, MIB},
    {"cuMemcpyDtoD@ptds", NULL, dtod_ptds, NULL, MIB},
    {"cuMemsetD8,device", NULL, memset_device, NULL, MIB},
    {"cuMemsetD8@ptds,device", NULL, memset_device_ptds, NULL, MIB},
    {"cuMemsetD32,device", NULL, memset32_device, NULL, MIB},
    {"cuMemcpyHtoDAsync,pageable,4KiB,busy-stream", NULL, htod_async_pageable_busy, NULL, 4096},
    {"cuMemcpyHtoDAsync,pageable,1MiB,busy-stream", NULL, htod_async_pageable_busy, NULL, MIB},
    {"cuMemcpyHtoDAsync,pageable,4KiB,0", NULL, htod_async_pageable_0, NULL, 4096},
    {"cuMemcpyHtoDAsync,pinned,1MiB,busy-stream", NULL, htod_async_pinned_busy, NULL, MIB},
    {"cuMemcpyDtoHAsync,pinned,1MiB,busy-stream", NULL, dtoh_async_pinned_busy, NULL, MIB},
    {"cuMemcpyDtoHAsync,pinned,1MiB,0", NULL, dtoh_async_pinned_0, NULL, MIB},
    {"cuMemcpyDtoHAsync,pageable,0", NULL, dtoh_async_0, NULL, 4096},
    {"cuMemcpyDtoHAsync,pageable,0x1", NULL, dtoh_async_0x1, NULL, 4096},
    {"cuMemcpyDtoHAsync,pageable,0x2", NULL, dtoh_async_0x2, NULL, 4096},
    {"cuMemcpyDtoHAsync,pageable,0@ptsz", NULL, dtoh_async_ptsz, NULL, 4096},
    {"cuMemcpyDtoHAsync,pageable,blocking", NULL, dtoh_async_blocking, NULL, 4096},
    {"cuMemcpyDtoHAsync,pageable,blocking2", NULL, dtoh_async_blocking2, NULL, 4096},
    {"cuMemcpyDtoHAsync,pageable,nonblocking", NULL, dtoh_async_nonblocking, NULL, 4096},
    {"cuMemcpyDtoHAsync,pageable,nonblocking2", NULL, dtoh_async_nonblocking2, NULL, 4096},
    {NULL, NULL, NULL, NULL, 0},
};

/* SPDX-License-Identifier: Apache-2.0
 *
 * The real driver: where its functions are, and which address is which row of the table.
 */
#ifndef PTDS_DRIVER_H
#define PTDS_DRIVER_H

#include <errno.h>
#include <stdint.h>

#include "interpose/api/api.h"

/* driver_real[id][0] is the exported function, [1] its per-thread twin; NULL where this driver has none. Constant once
 * driver_ready() has answered 1. */
extern void *driver_real[API_COUNT][2];

/* The real function of a row, typed by cuda.h. */
#define REAL(symbol) ((__typeof__(&symbol))driver_real[API_##symbol][0])
#define REAL_TWIN(symbol) ((__typeof__(&symbol))driver_real[API_##symbol][1])

/* Driver functions that the shim itself calls and that are no rows of the table. NULL where the driver has none. */
#define DRIVER_CALLS(X) \
    X(cuCtxGetCurrent) \
    X(cuCtxGetDevice) \
    X(cuCtxGetFlags) \
    X(cuCtxGetId) \
    X(cuDeviceGetAttribute) \
    X(cuDeviceGetCount) \
    X(cuDeviceGetName) \
    X(cuDevicePrimaryCtxGetState) \
    X(cuDriverGetVersion) \
    X(cuPointerGetAttribute) \
    X(cuFuncGetParamInfo) \
    X(cuFuncGetName) \
    X(cuKernelGetParamInfo) \
    X(cuKernelGetName) \
    X(cuStreamGetFlags) \
    X(cuFuncGetModule) \
    X(cuKernelGetLibrary) \
    X(cuMemGetAddressRange_v2) \
    X(cuGraphGetNodes) \
    X(cuGraphNodeGetType) \
    X(cuGraphKernelNodeGetParams_v2) \
    X(cuGraphMemcpyNodeGetParams) \
    X(cuGraphMemsetNodeGetParams) \
    X(cuGraphChildGraphNodeGetGraph) \
    X(cuGraphMemAllocNodeGetParams) \
    X(cuGraphMemFreeNodeGetParams)
struct driver_calls {
#define X(name) __typeof__(&name) name;
    DRIVER_CALLS(X)
#undef X
};
extern struct driver_calls driver;

/* A driver call of the shim's own: keeps the program's errno. Not needed for cuCtxGetCurrent, which every call asks:
 * drivers read a variable of the thread's. */
#define ASK(call) \
    ({ \
        int errno_before_ = errno; \
        CUresult answer_ = (call); \
        errno = errno_before_; \
        answer_; \
    })

/* The simulated driver of the tests is told which memory the thread's next launch was found to touch, and compares: ranges
 * of device addresses, begin and end 0 for any module's variables; `everything`: any memory. NULL with every other driver.
 */
struct driver_range {
    uint64_t begin, end;
    uint32_t writes;
};
extern void (*driver_wants_claims)(const struct driver_range *ranges, unsigned count, int everything);

struct elf_object;

/* 1 if the object is a driver, or stands in one's place. */
int driver_is(const struct elf_object *candidate);

/* 1 once the driver is known. */
int driver_ready(void);

/* Makes the object that contains the address the driver, if it is a libcuda.so and none is known yet. Returns 1 if the
 * address belongs to the driver in use. Any thread, also under the loader lock; allocates nothing. */
int driver_owns(const void *address);

/* The same, and changes nothing. */
int driver_has(const void *address);

/* The driver itself has answered with that address: if it lies in another libcuda.so, that is the real one behind it. */
void driver_answered(const void *address);

/* Where there is another libcuda.so, asks the driver in use whether that is the one behind it. Not inside dlsym. */
void driver_look_behind(void);

/* Finds the driver among the loaded objects; with may_load also loads libcuda.so.1 as an ELF-linked program would have.
 * may_load must be 0 inside dlsym. Returns driver_ready(). */
int driver_search(int may_load);

/* dlopen, wherever this libc has it. Not inside dlsym. */
void *driver_load(const char *path, int flags);

/* 1 if a loaded object is linked with the driver. May run inside dlsym. */
int driver_is_needed(void);

/* In a forked child. */
void driver_after_fork(void);

/* Keeps the driver loaded for good, since the shim holds its addresses. Not inside dlsym. */
void driver_pin(void);

/* The row of a real address; -1 if it is none of the table's. */
int driver_row(const void *address, int *twin);

/* From now on the shim calls that function in the place of the driver's, and its address is the row's, too. While the doors
 * open. */
void driver_replace(int id, int twin, void *function);

/* Whether the driver exports name_ptsz or name_ptds: then name treats the default stream. The twin's address or NULL. */
void *driver_twin_by_name(const char *name);
/* The other way round, of a name with such an ending. */
void *driver_base_by_name(const char *name);

/* The path of the driver's object; "" before it is known. */
const char *driver_path(void);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * What the simulated driver exports besides cu...: for tests in the same process, which find these by dlsym in
 * libcuda.so.1. A symbol is named as it was entered, with its twin suffix; an unknown one aborts.
 */
#ifndef PTDS_TESTS_SIM_TEST_API_H
#define PTDS_TESTS_SIM_TEST_API_H

#include <cuda.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SIM_API __attribute__((visibility("default")))

SIM_API unsigned long sim_calls(const char *symbol);   /* how often it was entered */
SIM_API uintptr_t sim_last_stream(const char *symbol); /* the handle that it was last given */
SIM_API void sim_reset_calls(void);
SIM_API void sim_fail(const char *symbol, unsigned long calls_from_now, CUresult code); /* 1: the next; 0: no more */
SIM_API int sim_symbols(const char **symbols, int capacity); /* all exported cu... names; returns how many there are */

/* Waits until all work is done that was given to the driver. No call of the driver's interface is made. */
SIM_API void sim_settle(void);

/* A kernel of the test's own: `signature` has a letter a parameter, p pointer, q 64 bits, d 32 bits, f float. The
 * function runs on a thread of the simulator; sim_bytes turns a device pointer into one that it can follow. */
typedef void (*sim_kernel)(const unsigned char *parameters);
SIM_API void sim_define_kernel(const char *name, const char *signature, sim_kernel run);
SIM_API void *sim_bytes(uint64_t device_pointer);

/* What this thread's next launch (of a kernel, or of a graph: each of its kernels) was said to touch, as device addresses;
 * an array by its handle, the variables of the kernel's module as 0 to 0. Each other access to global memory or a module's
 * variable is an error: it is counted, said on stderr, and the process ends with that launch but for SIM_CLAIMS=tell.
 * everything: no access is an error. */
struct sim_range {
    uint64_t begin, end;
    uint32_t writes;
};
SIM_API void sim_claim_next(const struct sim_range *ranges, unsigned count, int everything);
SIM_API unsigned long sim_unclaimed_accesses(void);
SIM_API const char *sim_unclaimed_text(void); /* of the first */
SIM_API void sim_reset_unclaimed(void);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * The driver calls that scripts/bench measures, the doors to them, and what a thread needs of its own to make them. Shared
 * by the programs of this folder, which know nothing of libptds.
 */
#ifndef PTDS_TESTS_BENCH_LANE_H
#define PTDS_TESTS_BENCH_LANE_H

#include <cuda.h>
#include <stdint.h>

/* Ends the program with a line that names the call. */
void must(CUresult result, const char *call);
#define CU(call) must((call), #call)

/* The functions that are timed, with the names that cuda.h gives them here. */
#define TIMED(F) \
    F(cuLaunchKernel) \
    F(cuStreamQuery) \
    F(cuEventRecord) \
    F(cuEventQuery) \
    F(cuStreamWaitEvent) \
    F(cuCtxGetCurrent) \
    F(cuMemcpyHtoDAsync) F(cuMemcpyDtoDAsync) F(cuMemsetD8Async) F(cuPointerGetAttribute) F(cuDeviceGetAttribute)

#define POINTER(f) __typeof__(&f) f##_p;

struct door {
    const char *name;
    TIMED(POINTER)
};

enum { DOORS = 3, LANE_BUFFERS = 4 };

struct setting {
    struct door doors[DOORS]; /* the ELF link, cuGetProcAddress, dlsym */
    CUcontext context;
    CUfunction empty, four; /* without parameters; with four pointers that it does not follow */
};

/* One thread's own, so that threads meet in the driver only. */
struct lane {
    const struct door *door;
    CUfunction empty, four;
    CUstream own, blocking;
    CUevent event;
    CUdeviceptr words, others[LANE_BUFFERS];
    void *pinned;
};

struct call {
    const char *name;
    CUresult (*run)(const struct lane *l);
    unsigned made;  /* calls that one run makes */
    unsigned batch; /* runs */
    int queues;     /* leaves work in a stream's queue: if that gets full, the host waits for the GPU */
};

extern const struct call calls[];
extern const unsigned call_count;

/* Whether NAME is a word of the comma list; every name is one of NULL and of "all". */
int in_list(const char *list, const char *name);

/* The call of that name; ends the program if there is none. */
const struct call *find_call(const char *name);

void make_setting(struct setting *setting);
struct lane make_lane(const struct setting *setting, const struct door *door);
void drop_lane(struct lane *lane);

uint64_t now_ns(void);

/* The number that argument i is, or the fallback where there is none. */
unsigned number(int argc, char **argv, int i, unsigned fallback);

/* Sorts, and gives the value below which the share (in percent) of them lies. */
double percentile(double *values, unsigned count, unsigned share);

#endif

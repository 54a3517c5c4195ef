/* SPDX-License-Identifier: Apache-2.0
 *
 * The arguments of a call as text, each behind a letter for what it is: for SIM_LOG. Included by entry.c and arguments.c.
 */
#ifndef PTDS_TESTS_SIM_ARGUMENTS_H
#define PTDS_TESTS_SIM_ARGUMENTS_H

#include "tests/sim/impl.h"

struct argument {
    char letter;
    uint64_t value;
};

extern bool arguments_wanted;

/* Keeps them for the log line of the thread's next call. */
void arguments_keep(const struct argument *arguments, int count);
const char *arguments_kept(void);

/* clang-format off */
/* What is passed by value and is no number is left out. */
#define ARGUMENT(x) \
    {_Generic((x), \
         CUstream: 's', CUevent: 'e', CUcontext: 'c', CUfunction: 'f', CUgraph: 'g', CUgraphExec: 'x', CUmodule: 'm', \
         CUmemoryPool: 'o', CUdeviceptr: 'd', unsigned long: 'n', int: 'n', unsigned int: 'n', unsigned short: 'n', \
         unsigned char: 'n', float: 'n', default: 'p'), \
     (uint64_t)_Generic((x), \
         CUipcMemHandle: 0, CUipcEventHandle: 0, CUmemLocation: 0, CUdevResource: 0, struct ptds_egl_frame: 0, \
         default: (x))},
/* clang-format on */

/* Each of up to 20. */
#define EACH_0()
#define EACH_1(a) ARGUMENT(a)
#define EACH_2(a, ...) ARGUMENT(a) EACH_1(__VA_ARGS__)
#define EACH_3(a, ...) ARGUMENT(a) EACH_2(__VA_ARGS__)
#define EACH_4(a, ...) ARGUMENT(a) EACH_3(__VA_ARGS__)
#define EACH_5(a, ...) ARGUMENT(a) EACH_4(__VA_ARGS__)
#define EACH_6(a, ...) ARGUMENT(a) EACH_5(__VA_ARGS__)
#define EACH_7(a, ...) ARGUMENT(a) EACH_6(__VA_ARGS__)
#define EACH_8(a, ...) ARGUMENT(a) EACH_7(__VA_ARGS__)
#define EACH_9(a, ...) ARGUMENT(a) EACH_8(__VA_ARGS__)
#define EACH_10(a, ...) ARGUMENT(a) EACH_9(__VA_ARGS__)
#define EACH_11(a, ...) ARGUMENT(a) EACH_10(__VA_ARGS__)
#define EACH_12(a, ...) ARGUMENT(a) EACH_11(__VA_ARGS__)
#define EACH_13(a, ...) ARGUMENT(a) EACH_12(__VA_ARGS__)
#define EACH_14(a, ...) ARGUMENT(a) EACH_13(__VA_ARGS__)
#define EACH_15(a, ...) ARGUMENT(a) EACH_14(__VA_ARGS__)
#define EACH_16(a, ...) ARGUMENT(a) EACH_15(__VA_ARGS__)
#define EACH_17(a, ...) ARGUMENT(a) EACH_16(__VA_ARGS__)
#define EACH_18(a, ...) ARGUMENT(a) EACH_17(__VA_ARGS__)
#define EACH_19(a, ...) ARGUMENT(a) EACH_18(__VA_ARGS__)
#define EACH_20(a, ...) ARGUMENT(a) EACH_19(__VA_ARGS__)
#define EACH_OF(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, each, ...) \
    each
#define ARGUMENTS(...) \
    EACH_OF(0, ##__VA_ARGS__, EACH_20, EACH_19, EACH_18, EACH_17, EACH_16, EACH_15, EACH_14, EACH_13, EACH_12, EACH_11, \
            EACH_10, EACH_9, EACH_8, EACH_7, EACH_6, EACH_5, EACH_4, EACH_3, EACH_2, EACH_1, EACH_0) \
    (__VA_ARGS__)

#define ARGUMENTS_KEEP(args) \
    do { \
        if (__builtin_expect(arguments_wanted, 0)) { \
            const struct argument kept_[] = {ARGUMENTS args{0, 0}}; \
            arguments_keep(kept_, (int)(sizeof kept_ / sizeof *kept_) - 1); \
        } \
    } while (0)

#endif

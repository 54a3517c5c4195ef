/* SPDX-License-Identifier: Apache-2.0
 *
 * What is known of a kernel.
 */
#ifndef PTDS_KERNELS_H
#define PTDS_KERNELS_H

#include "interpose/footprint/footprint.h"
#include "interpose/footprint/modules.h"

/* Eight bytes of its parameters that may be a pointer. */
struct kernel_word {
    uint16_t param, at; /* in which parameter, so many bytes from its start */
    uint16_t place;     /* the how manyth word of all parameters it is */
    uint16_t flags;     /* the parameter's */
};
enum { KERNEL_WORDS = 96 }; /* a structure of 388 bytes */

struct kernel {
    uint64_t handle;
    uint32_t uid;
    uint32_t params;       /* UINT32_MAX: unknown */
    uint32_t *layout;      /* offset << 16 | size each */
    uint8_t *flags;        /* enum signature_flag each; 0 where the name does not tell */
    struct module *module; /* NULL unknown */
    uint32_t capacity;     /* of layout and flags */
    uint32_t plain;        /* 1: `word` has all its words, and there is nothing to find behind them */
    uint32_t words;
    struct kernel_word word[KERNEL_WORDS];
    struct kernel *next_free;
};

/* How far apart pointers in a parameter may begin. What is larger than one may be a packed structure: to four bytes, which
 * its layout does not show, or to fewer, which it shows by an odd end. */
static inline uint32_t kernels_stride(uint32_t layout)
{
    uint32_t offset = layout >> 16, size = layout & 0xffffu;
    return size <= 8 ? 8 : (offset | size) % 4 ? 1 : 4;
}

/* The thread's last kernels, so that a launch usually takes no lock. */
enum { KERNELS_MET = 64 };
struct kernel_entry {
    uint64_t handle;
    const struct kernel *kernel;
    uint32_t forgotten; /* kernels_forgotten when it was looked up */
};
extern uint32_t kernels_forgotten; /* grows whenever kernels go */
static inline uint64_t kernels_place(CUfunction function)
{
    return ((uint64_t)function >> 4) % KERNELS_MET;
}

/* NULL: not among those. */
static inline const struct kernel *kernels_met(const struct thread *thread, CUfunction function)
{
    const struct kernel_entry *entry = thread->kernels ? &thread->kernels[kernels_place(function)] : NULL;
    int met = entry && entry->handle == (uint64_t)function &&
              entry->forgotten == __atomic_load_n(&kernels_forgotten, __ATOMIC_ACQUIRE);
    return __builtin_expect(met, 1) ? entry->kernel : NULL;
}

/* Made on first sight; NULL inside a capture, if it was not seen before. */
const struct kernel *kernels_find_anew(struct thread *thread, CUfunction function);
static inline const struct kernel *kernels_find(struct thread *thread, CUfunction function)
{
    const struct kernel *kernel = kernels_met(thread, function);
    return __builtin_expect(kernel != NULL, 1) ? kernel : kernels_find_anew(thread, function);
}

/* 1: kernels may launch graphs, or change their nodes: nobody sees what those touch. */
extern uint32_t kernels_launch_graphs;
void kernels_may_launch_graphs(void);

/* Adds what a launch with these parameters touches; one of both may be NULL, as in cuLaunchKernel. Keeps the words of C,
 * too, where it is recorded. 0: the parameters are not known. */
int kernels_touch(struct call *C, const struct kernel *kernel, void *const *params, void *const *extra);

/* The launch has neither pointers nor variables: there is nothing to look at. */
static inline int kernels_touch_nothing(const struct kernel *kernel, void *const *params)
{
    const struct module *module = kernel->module;
    return kernel->plain && !kernel->words && (params || !kernel->params) && module && !module->memory &&
           !module->textures && !__atomic_load_n(&kernels_launch_graphs, __ATOMIC_RELAXED);
}

/* The same for launches that touch nothing but memory of the device, by pointers to it (plain.c), without a call, and with
 * one. 0: this one has to be looked at in full, and what `touched` says is of no use; the call is as it was. */
int kernels_touch_plainly(struct thread *thread, const struct kernel *kernel, void *const *params, struct touched *touched);
/* The first one, and the words for a record behind its SHAPE_WORDS, as many as CALL_WORDS with those. Their number with
 * those; 0 as above. */
unsigned kernels_list_plainly(struct thread *thread, const struct kernel *kernel, void *const *params,
                              struct touched *touched, uint64_t *kept);
int kernels_keep_plainly(struct call *C, const struct kernel *kernel, void *const *params);

#endif

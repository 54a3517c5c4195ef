/* SPDX-License-Identifier: Apache-2.0
 *
 * What is known of a kernel.
 */
#ifndef PTDS_KERNELS_H
#define PTDS_KERNELS_H

#include "interpose/footprint/footprint.h"
#include "interpose/footprint/modules.h"

/* A parameter that may be a pointer, or have some in it. */
struct kernel_param {
    uint16_t number, offset, size, flags;
};
enum { KERNEL_PARAMS = 96 };

struct kernel {
    uint64_t handle;
    uint32_t uid;
    uint32_t params;       /* UINT32_MAX: unknown */
    uint32_t *layout;      /* offset << 16 | size each */
    uint8_t *flags;        /* enum signature_flag each; 0 where the name does not tell */
    struct module *module; /* NULL unknown */
    uint32_t capacity;     /* of layout and flags */
    uint32_t plain;        /* 1: `param` has all that matter, and there is nothing to find behind them */
    uint32_t listed;       /* in `param` */
    struct kernel_param param[KERNEL_PARAMS];
    struct kernel *next_free;
};

static inline uint32_t kernels_offset(uint32_t layout)
{
    return layout >> 16;
}
static inline uint32_t kernels_size(uint32_t layout)
{
    return layout & 0xffffu;
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

/* enum opaque_reason; not 0: kernels may launch graphs, or change their nodes, and nobody sees what those touch; or they
 * have pointers into memory of which nobody knows how far it goes. */
extern uint32_t kernels_opaque;
void kernels_are_opaque(enum opaque_reason why);

/* Adds what a launch with these parameters touches; one of both may be NULL, as in cuLaunchKernel. Keeps the words of C,
 * too, where it is recorded. 0: the parameters are not known. */
int kernels_touch(struct call *C, const struct kernel *kernel, void *const *params, void *const *extra);

/* A node of a graph as a launch that nobody makes, with this among its flags. The graph has to ask again at each launch
 * what is asked here once: of each memory that it touches, whether pointers in it are known (enum signature_flag). */
#define NODE_FLAG (1u << 31)
struct node_launch {
    struct call call;
    uint8_t asked[TOUCHED_MOST];
};

/* The launch has neither pointers nor variables: there is nothing to look at. */
static inline int kernels_touch_nothing(const struct kernel *kernel, void *const *params)
{
    const struct module *module = kernel->module;
    return kernel->plain && !kernel->listed && (params || !kernel->params) && module && !module->memory &&
           !module->textures && !__atomic_load_n(&kernels_opaque, __ATOMIC_RELAXED);
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

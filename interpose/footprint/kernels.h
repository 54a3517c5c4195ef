/* SPDX-License-Identifier: Apache-2.0
 *
 * What is known of a kernel.
 */
#ifndef PTDS_KERNELS_H
#define PTDS_KERNELS_H

#include "interpose/footprint/facts.h"
#include "interpose/footprint/follow.h"
#include "interpose/footprint/footprint.h"
#include "interpose/footprint/modules.h"

/* A pointer among the parameters: in which one, at which byte of it, and of all of them. far: where it is 0, what is added
 * to it may be one. */
struct kernel_pointer {
    uint16_t number, at, offset;
    uint8_t writes, far;
};
enum { KERNEL_POINTERS = 96 };

struct kernel {
    uint64_t handle;
    uint32_t uid;
    uint32_t params;       /* UINT32_MAX: unknown */
    uint32_t *layout;      /* offset << 16 | size each */
    struct module *module; /* NULL unknown */
    uint32_t capacity;     /* of layout */
    uint16_t listed;       /* in `pointer` */
    uint8_t plain;         /* `pointer` has all that its launches touch, but for variables */
    uint8_t variables;     /* of a plain one: enum code_use of its module's variables */
    uint8_t ends;          /* it may get a pointer to the end of memory, as if it were one to what begins there */
    uint8_t addresses;     /* it follows pointers in its module's variables, which may begin as addresses of each other */
    struct kernel_pointer pointer[KERNEL_POINTERS];
    struct facts facts;
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

/* What its code says, from now on. */
void kernels_take(struct kernel *kernel, const struct code_facts *facts);

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
int kernels_touch(struct call *C, const struct kernel *kernel, CUstream named, void *const *params, void *const *extra);

/* The same of a node of a graph, but for what is reached through memory: that each launch of the graph has to follow. */
void kernels_touch_node(struct call *C, const struct kernel *kernel, void *const *params, void *const *extra,
                        struct follows *follows);

/* The launch has neither pointers nor variables: there is nothing to look at. */
static inline int kernels_touch_nothing(const struct kernel *kernel, void *const *params)
{
    return kernel->plain && !kernel->listed && !kernel->variables && (params || !kernel->params) &&
           !kernel->module->textures && !__atomic_load_n(&kernels_opaque, __ATOMIC_RELAXED);
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

/* SPDX-License-Identifier: Apache-2.0
 *
 * What is known of the program's kernels, by handle.
 */
#ifndef PTDS_KERNEL_TABLE_H
#define PTDS_KERNEL_TABLE_H

#include "interpose/footprint/modules/launch_facts.h"
#include "interpose/footprint/modules/modules.h"
#include "interpose/state/thread.h"

/* A pointer among the parameters: in which one, at which byte of it, and of all of them. far: where the pointer is 0, what
 * is added to it may be one. */
struct kernel_pointer {
    uint16_t number, at, offset;
    uint8_t writes, far;
};
enum { KERNEL_POINTERS = 96 };

/* Owned by kernel_table.c. Does not change once a launch can find it. */
struct kernel {
    uint64_t handle; /* CUfunction or CUkernel */
    uint32_t uid;
    uint32_t params;       /* UINT32_MAX: unknown */
    uint32_t *layout;      /* offset << 16 | size of each parameter, in bytes */
    struct module *module; /* NULL unknown */
    uint32_t capacity;     /* of layout */
    uint16_t listed;       /* in `pointer` */
    uint8_t plain;         /* `pointer` has all that its launches touch, but for variables */
    uint8_t variables;     /* of a plain one: enum code_use of its module's variables */
    uint8_t ends;          /* it may get a pointer to the end of memory, as if it were one to what begins there */
    uint8_t addresses;     /* it follows pointers in its module's variables, which may begin as addresses of each other */
    struct kernel_pointer pointer[KERNEL_POINTERS];
    uint16_t extent_steps; /* of a plain one: how far it goes from its pointers (kernel_extents.h); 0: not known of any */
    uint8_t has_extent[KERNEL_POINTERS];
    struct code_extent_step *extent_step;
    struct launch_facts facts;
    struct kernel *next_free;
};

static inline uint32_t kernel_table_offset(uint32_t layout)
{
    return layout >> 16;
}
static inline uint32_t kernel_table_size(uint32_t layout)
{
    return layout & 0xffffu;
}

/* The kernel does what these facts say, from now on. For a kernel that no launch can find yet. */
void kernel_table_take(struct kernel *kernel, const struct code_facts *facts);

/* The thread's last kernels, so that a launch usually takes no lock. */
enum { KERNELS_MET = 64 };
struct kernel_entry {
    uint64_t handle;
    const struct kernel *kernel;
    uint32_t forgotten; /* kernel_table_forgotten when it was looked up */
};
extern uint32_t kernel_table_forgotten; /* grows whenever kernels go */
static inline uint64_t kernel_table_place(CUfunction function)
{
    return ((uint64_t)function >> 4) % KERNELS_MET;
}

/* The kernel, if it is among the thread's last ones; else NULL. Takes no lock. */
static inline const struct kernel *kernel_table_met(const struct thread *thread, CUfunction function)
{
    const struct kernel_entry *entry = thread->kernels ? &thread->kernels[kernel_table_place(function)] : NULL;
    int met = entry && entry->handle == (uint64_t)function &&
              entry->forgotten == __atomic_load_n(&kernel_table_forgotten, __ATOMIC_ACQUIRE);
    return __builtin_expect(met, 1) ? entry->kernel : NULL;
}

/* The kernel, read and recorded on first sight; keeps errno. NULL: it was not seen before and a capture is open, or there
 * is no memory. */
const struct kernel *kernel_table_find_anew(struct thread *thread, CUfunction function);
static inline const struct kernel *kernel_table_find(struct thread *thread, CUfunction function)
{
    const struct kernel *kernel = kernel_table_met(thread, function);
    return __builtin_expect(kernel != NULL, 1) ? kernel : kernel_table_find_anew(thread, function);
}

/* Forgets the kernels of a module, or with NULL all: their handles may come back as other kernels. */
void kernel_table_forget(const struct module *module);

/* Forgets the thread's last kernels: the thread has ended. */
void kernel_table_forget_cache(struct thread *thread);

/* In a forked child: no kernel is known. */
void kernel_table_after_fork(void);

#endif

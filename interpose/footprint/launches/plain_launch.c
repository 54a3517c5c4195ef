/* SPDX-License-Identifier: Apache-2.0
 *
 * What most launches touch: memory of the device, by pointers that lie among the kernel's parameters, and nothing else.
 * Called for every launch, before anything else looks at it. Must never find less than launches.c would: a launch that
 * is not so simple is left to launches.c.
 */
#include "interpose/footprint/launches/plain_launch.h"

#include "interpose/base/program_array.h"
#include "interpose/footprint/memories/lookup.h"
#include "interpose/footprint/pointers/pointer_tables.h"
#include "interpose/footprint/pointers/scan.h"
#include "interpose/state/call_words.h"

/* Adds the memory behind `count` others, fewer than TOUCHED_MOST. Returns how many there are then. */
static inline unsigned add(struct touched *touched, unsigned count, struct memory *memory, uint32_t writes)
{
    for (unsigned i = 0; i < count; i++) {
        if (touched->at[i].memory == memory) {
            touched->at[i].writes |= writes;
            return count;
        }
    }
    touched->at[count] = (struct access){memory, 0, UINT64_MAX, writes};
    return count + 1;
}

/* Keeps for the record the word, and the number `place` of the eight bytes of parameters where it lies. 0: there is no
 * room. */
static inline int keep(uint64_t *kept, unsigned *count, uint64_t address, unsigned place)
{
    if (*count == CALL_WORDS)
        return 0;
    kept[(*count)++] = address | (uint64_t)place << PTDS_LAUNCH_ADDRESS_BITS;
    return 1;
}

/* 0: the launch is not plain. */
static inline __attribute__((always_inline)) int add_pointers(struct thread *thread, const struct kernel *kernel,
                                                              void *const *params, struct touched *touched, uint64_t *kept,
                                                              unsigned *kept_count)
{
    const struct kernel_pointer *pointer = kernel->pointer, *end = pointer + kernel->listed;
    unsigned count = 0;
    for (; pointer < end; pointer++) {
        const uint8_t *bytes = params[pointer->number];
        if (__builtin_expect(!bytes, 0))
            return 0;
        uint64_t word = scan_load(bytes + pointer->at);
        if (__builtin_expect(!word, 0)) {
            if (pointer->far)
                return 0;
            continue;
        }
        struct memory *memory = lookup_memory(thread, word, pointer->offset / 8u);
        if (!memory || memory->host) /* the host's, or part of a reservation */
            return 0;
        if (pointer->writes)
            pointer_tables_stored(memory);
        count = add(touched, count, memory, pointer->writes);
        if (__builtin_expect(count == TOUCHED_MOST, 0)) /* there must be room for the module's variables, too */
            return 0;
        if (kept && !keep(kept, kept_count, word, pointer->offset / 8u))
            return 0;
    }
    touched->count = (uint16_t)count;
    return 1;
}

/* The module's variables count like any other memory, but for the constant ones, which kernels don't write by name. */
static inline int add_variables(const struct kernel *kernel, struct touched *touched)
{
    if (__builtin_expect(!kernel->variables, 1))
        return 1;
    struct memory *memory = kernel->module->memory;
    uint32_t writes = (kernel->variables & CODE_WRITE) != 0;
    if (writes && !__atomic_load_n(&memory->unknown, __ATOMIC_RELAXED))
        __atomic_store_n(&memory->unknown, UNKNOWN_BY_KERNELS, __ATOMIC_RELAXED);
    touched->count = (uint16_t)add(touched, touched->count, memory, writes);
    return !memory->host;
}

static inline int is_plain(const struct kernel *kernel, void *const *params)
{
    return kernel->plain && (program_array_may_be(params) || !kernel->params) && !kernel->module->textures &&
           !__atomic_load_n(&touch_memory_kernels_opaque, __ATOMIC_RELAXED);
}

static inline __attribute__((always_inline)) int look(struct thread *thread, const struct kernel *kernel,
                                                      void *const *params, struct touched *touched, uint64_t *kept,
                                                      unsigned *count)
{
    return is_plain(kernel, params) && add_pointers(thread, kernel, params, touched, kept, count) &&
           add_variables(kernel, touched);
}

int plain_launch_touch(struct thread *thread, const struct kernel *kernel, void *const *params, struct touched *touched)
{
    return look(thread, kernel, params, touched, NULL, NULL);
}

unsigned plain_launch_list(struct thread *thread, const struct kernel *kernel, void *const *params, struct touched *touched,
                           uint64_t *kept)
{
    unsigned count = SHAPE_WORDS;
    return look(thread, kernel, params, touched, kept, &count) ? count : 0;
}

int plain_launch_keep(struct call *C, const struct kernel *kernel, void *const *params)
{
    unsigned count = C->words;
    if (look(C->thread, kernel, params, &C->touched, C->enter ? C->word : NULL, &count)) {
        C->words = (uint8_t)count;
        return 1;
    }
    C->touched.count = C->touched.opaque = C->touched.host = 0;
    return 0;
}

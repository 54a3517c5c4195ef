/* SPDX-License-Identifier: Apache-2.0
 *
 * What most launches touch: memory of the device, by pointers that lie among the kernel's parameters, and nothing else.
 * Called for every launch, before anything else looks at it. Must never say less of a launch than launches.c: at anything
 * that is not as simple as that it gives up.
 */
#include "interpose/footprint/kernels.h"
#include "interpose/footprint/pageable.h"
#include "interpose/footprint/scan.h"
#include "interpose/footprint/signature.h"
#include "interpose/footprint/tables.h"
#include "interpose/footprint/textures.h"

/* Of the host, mapped in parts, or perhaps with pointers in it. */
static inline int is_special(const struct memory *memory, unsigned flags)
{
    return memory->host || (flags & SIGNATURE_UNKNOWN && ((const struct memory_object *)memory)->table);
}

/* Behind `count` others, fewer than TOUCHED_MOST. Returns how many there are then. */
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

/* For the record: the word, and where it lies. 0: there is no room. */
static inline int keep(uint64_t *kept, unsigned *count, uint64_t address, unsigned place)
{
    if (*count == CALL_WORDS)
        return 0;
    kept[(*count)++] = address | (uint64_t)place << PTDS_LAUNCH_ADDRESS_BITS;
    return 1;
}

/* What a launch touches, as far as it is known. kept: the record's words; NULL where nothing is recorded. */
struct plain {
    struct thread *thread;
    struct touched *touched;
    uint64_t *kept;
    unsigned *kept_count, count;
};

/* A pointer in a parameter, so many bytes from the beginning of all of them. 0: the launch is not plain. */
static inline __attribute__((always_inline)) int add_pointer(struct plain *plain, uint64_t address, unsigned offset,
                                                             unsigned flags)
{
    struct memory *memory = memories_memory(plain->thread, address, offset / 8);
    if (!memory || is_special(memory, flags))
        return 0;
    plain->count = add(plain->touched, plain->count, memory, !(flags & SIGNATURE_READS));
    if (__builtin_expect(plain->count == TOUCHED_MOST, 0)) /* there may be its module's variables, too */
        return 0;
    return !plain->kept || keep(plain->kept, plain->kept_count, address, offset / 8);
}

static inline __attribute__((always_inline)) int add_structure(struct plain *plain, const struct kernel_param *param,
                                                               const uint8_t *bytes, struct span textures,
                                                               struct spans memories)
{
    struct scan scan;
    scan_begin(&scan, textures, bytes, param->size);
    if (scan.at != SIZE_MAX)
        return 0;
    for (unsigned i = 0; i < SPANS; i++) {
        for (scan_begin(&scan, memories.at[i], bytes, param->size); scan.at != SIZE_MAX; scan_on(&scan)) {
            if (!add_pointer(plain, scan_word(&scan), param->offset + (unsigned)scan.at, param->flags))
                return 0;
        }
    }
    return 1;
}

/* 0: the launch is not plain. What does not change from parameter to parameter is loaded once. */
static inline __attribute__((always_inline)) int add_params(struct thread *thread, const struct kernel *kernel,
                                                            void *const *params, struct touched *touched, uint64_t *kept,
                                                            unsigned *kept_count)
{
    const struct span textures = textures_span();
    const struct spans memories = memories_spans();
    const struct kernel_param *param = kernel->param, *end = param + kernel->listed;
    struct plain plain = {thread, touched, kept, kept_count, 0};
    for (; param < end; param++) {
        const uint8_t *bytes = params[param->number];
        if (__builtin_expect(!bytes, 0))
            continue;
        if (param->size != sizeof(uint64_t)) {
            if (!add_structure(&plain, param, bytes, textures, memories))
                return 0;
            continue;
        }
        uint64_t word = scan_load(bytes);
        if (span_has(textures, word) ||
            (spans_have(memories, word) && !add_pointer(&plain, word, param->offset, param->flags)))
            return 0;
    }
    touched->count = (uint16_t)plain.count;
    return 1;
}

/* Its module's variables are as any other memory. */
static inline int add_variables(const struct module *module, struct touched *touched)
{
    if (__builtin_expect(!module || module->textures, 0))
        return 0;
    struct memory *memory = module->memory;
    if (!memory)
        return 1;
    touched->count = (uint16_t)add(touched, touched->count, memory, module->writes);
    return !memory->host;
}

static inline int is_plain(const struct kernel *kernel, void *const *params)
{
    return kernel->plain && (params || !kernel->params) && !pageable_is_read() &&
           !__atomic_load_n(&kernels_opaque, __ATOMIC_RELAXED);
}

static inline __attribute__((always_inline)) int look(struct thread *thread, const struct kernel *kernel,
                                                      void *const *params, struct touched *touched, uint64_t *kept,
                                                      unsigned *count)
{
    return is_plain(kernel, params) && add_params(thread, kernel, params, touched, kept, count) &&
           add_variables(kernel->module, touched) && !tables_among(touched);
}

int kernels_touch_plainly(struct thread *thread, const struct kernel *kernel, void *const *params, struct touched *touched)
{
    return look(thread, kernel, params, touched, NULL, NULL);
}

unsigned kernels_list_plainly(struct thread *thread, const struct kernel *kernel, void *const *params,
                              struct touched *touched, uint64_t *kept)
{
    unsigned count = SHAPE_WORDS;
    return look(thread, kernel, params, touched, kept, &count) ? count : 0;
}

int kernels_keep_plainly(struct call *C, const struct kernel *kernel, void *const *params)
{
    unsigned count = C->words;
    if (look(C->thread, kernel, params, &C->touched, C->enter ? C->word : NULL, &count)) {
        C->words = (uint8_t)count;
        return 1;
    }
    C->touched.count = C->touched.opaque = C->touched.host = 0;
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * The footprints of kernel launches: which kernel, and every argument word that may point into an allocation. Called by the
 * wrappers before the call, on the hottest path there is.
 */
#include "interpose/footprint/kernels.h"
#include "interpose/footprint/pageable.h"
#include "interpose/footprint/scan.h"
#include "interpose/footprint/signature.h"
#include "interpose/footprint/tables.h"
#include "interpose/footprint/textures.h"
#include "interpose/state/hooks.h"

#include <string.h>

/* That a launch may touch memory past what the record's words point to: past its pointers, or there are too few words. */
enum { FOLLOWED = 1, FOLLOWED_UNKEPT = 2 };

/* The word, for the record: there is room for so many. */
static void keep_word(struct call *C, uint64_t word, size_t offset)
{
    if (C->words == CALL_WORDS)
        C->followed |= FOLLOWED_UNKEPT;
    else
        C->word[C->words++] = word | (uint64_t)(offset / 8) << PTDS_LAUNCH_ADDRESS_BITS;
}

/* A word that lies in no memory that is known. */
static __attribute__((noinline)) void touch_unknown(struct call *C, uint64_t word)
{
    if (pageable_is(word))
        touch_opaque(&C->touched, OPAQUE_OTHER);
}

/* Kernels that run from ends downwards: where another memory begins, it may be the end of the one before. */
static void touch_before(struct call *C, uint64_t word, unsigned flags)
{
    struct place place = memories_find(C->thread, word);
    struct memory *before = place.memory && place.begin == word ? memories_find(C->thread, word - 1).memory : NULL;
    if (before)
        touch_whole(&C->touched, before, !(flags & SIGNATURE_READS));
}

static void keep_asked(struct node_launch *node, const struct memory *memory, unsigned flags)
{
    for (unsigned i = 0; i < node->call.touched.count; i++) {
        if (node->call.touched.at[i].memory == memory)
            node->asked[i] |= (uint8_t)(flags & (SIGNATURE_POINTS | SIGNATURE_HEAP));
    }
}

/* Pointers may lie in it that were not seen coming. */
static __attribute__((noinline)) void look_inside(struct call *C, struct memory *memory, uint64_t word, unsigned flags)
{
    struct memory *where = memories_for_table(memory);
    C->followed |= FOLLOWED;
    if (C->flags & NODE_FLAG && flags & SIGNATURE_POINTS)
        keep_asked((struct node_launch *)C, memory, flags);
    if (flags & SIGNATURE_POINTS && !tables_known(where, flags & SIGNATURE_HEAP))
        touch_opaque(&C->touched, OPAQUE_POINTERS);
    if (flags & SIGNATURE_UNKNOWN && !tables_look(C->thread, &C->touched, where, C->flags & PTDS_CALL_CAPTURING))
        touch_opaque(&C->touched, OPAQUE_POINTERS);
    if (flags & SIGNATURE_ENDS)
        touch_before(C, word, flags);
}

static inline int may_hold_pointers(const struct memory *memory, unsigned flags)
{
    if (flags & SIGNATURE_UNKNOWN)
        return memory->host || ((const struct memory_object *)memory)->table;
    return flags & (SIGNATURE_POINTS | SIGNATURE_ENDS);
}

/* Where nothing is mapped: a reservation's address, which is the end of the memory before it, too; or beside a memory. */
static __attribute__((noinline)) struct memory *touch_beside(struct call *C, uint64_t word, unsigned flags)
{
    struct memory *memory = memories_beside(C->thread, word);
    if (memory && memory->host & MEMORY_RESERVATION) {
        struct memory *before = memories_find(C->thread, word - 1).memory;
        if (before)
            touch_whole(&C->touched, before, !(flags & SIGNATURE_READS));
        C->followed |= FOLLOWED; /* the record's reader knows it by its chunks */
    }
    if (pageable_is_read())
        touch_unknown(C, word);
    return memory;
}

/* A pointer to the end of an array counts as one into it, unless another one begins there. */
static inline void touch_word(struct call *C, uint64_t word, size_t offset, unsigned flags)
{
    struct memory *memory = memories_memory(C->thread, word, offset / 8);
    if (__builtin_expect(!memory, 0)) {
        memory = touch_beside(C, word, flags);
        if (!memory)
            return;
    }
    touch_whole(&C->touched, memory, !(flags & SIGNATURE_READS));
    if (__builtin_expect(may_hold_pointers(memory, flags) || flags & SIGNATURE_ENDS, 0))
        look_inside(C, memory, word, flags);
}

/* Each question costs a system call: asked at multiples of four, unless an odd end shows that the structure is packed. */
static __attribute__((noinline)) void touch_pageable(struct call *C, const uint8_t *bytes, size_t size, size_t offset)
{
    const struct spans memories = memories_spans();
    size_t stride = (offset | size) % 4 ? 1 : 4;
    for (size_t at = 0; at + 8 <= size; at += stride) {
        uint64_t word = scan_load(bytes + at);
        if (!spans_have(memories, word))
            touch_unknown(C, word);
    }
}

/* `offset`: where in the kernel's parameter space the bytes lie. */
static inline void keep_pointers(struct call *C, const uint8_t *bytes, size_t size, size_t offset, unsigned flags)
{
    const struct spans memories = memories_spans();
    struct scan scan;
    for (scan_begin(&scan, textures_span(), bytes, size); scan.at != SIZE_MAX; scan_on(&scan)) {
        C->followed |= FOLLOWED;
        textures_touch(&C->touched, scan_word(&scan));
    }
    for (unsigned i = 0; i < SPANS; i++) {
        for (scan_begin(&scan, memories.at[i], bytes, size); scan.at != SIZE_MAX; scan_on(&scan)) {
            if (C->enter)
                keep_word(C, scan_word(&scan), offset + scan.at);
            touch_word(C, scan_word(&scan), offset + scan.at, flags);
        }
    }
    if (pageable_is_read())
        touch_pageable(C, bytes, size, offset);
}

/* Arguments as one buffer: CU_LAUNCH_PARAM_BUFFER_POINTER, pointer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, END. */
static const void *buffer_of(void *const *extra, size_t *size)
{
    const void *buffer = NULL;
    for (int i = 0; i < 8 && extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
        if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[i + 1];
        else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE)
            *size = *(const size_t *)extra[i + 1];
        else
            return NULL;
    }
    return buffer;
}

/* Parameter by parameter where they are known; else at every place where a word can lie. */
static int scan_buffer(struct call *C, const struct kernel *kernel, void *const *extra)
{
    size_t size = 0;
    const uint8_t *buffer = buffer_of(extra, &size);
    if (!buffer)
        return 0;
    if (!kernel || kernel->params == UINT32_MAX) {
        keep_pointers(C, buffer, size, 0, SIGNATURE_UNKNOWN);
        return 1;
    }
    for (uint32_t i = 0; i < kernel->params; i++) {
        size_t offset = kernels_offset(kernel->layout[i]), bytes = kernels_size(kernel->layout[i]);
        if (offset < size) /* the last one may lie there in part */
            keep_pointers(C, buffer + offset, bytes < size - offset ? bytes : size - offset, offset, kernel->flags[i]);
    }
    return 1;
}

/* By-value structs and the arrays in them are looked through. */
static int scan_params(struct call *C, const struct kernel *kernel, void *const *params)
{
    if (!kernel || kernel->params == UINT32_MAX)
        return 0;
    for (uint32_t i = 0; i < kernel->params; i++) {
        size_t offset = kernels_offset(kernel->layout[i]), size = kernels_size(kernel->layout[i]);
        if (params[i])
            keep_pointers(C, params[i], size, offset, kernel->flags[i]);
    }
    return 1;
}

/* The variables of its module. */
static inline void touch_module(struct touched *touched, const struct kernel *kernel)
{
    const struct module *module = kernel ? kernel->module : NULL;
    if (__builtin_expect(!module || module->textures, 0))
        touch_opaque(touched, module ? OPAQUE_TEXTURE : OPAQUE_OTHER);
    else if (module->memory) {
        touch_whole(touched, module->memory, (int)module->writes);
        if (module->points && !tables_known_variables(module->memory))
            touch_opaque(touched, OPAQUE_POINTERS);
        if (__builtin_expect(module->memory->host, 0) && modules_are_hosts(module->memory)) /* as it likes */
            touch_opaque(touched, OPAQUE_POINTERS);
    }
}

/* Whether a reader of the record finds the memory by the word. */
static inline int names(uint64_t word, const struct memory *memory)
{
    return (word & PTDS_LAUNCH_ADDRESS_MASK) - memory->base < memory->bytes;
}

static int is_named(const struct call *C, const struct memory *memory)
{
    for (unsigned i = SHAPE_WORDS; i < C->words; i++) {
        if (names(C->word[i], memory))
            return 1;
    }
    return 0;
}

/* Whether the words name all, which they do in turn: most launches compare each word once. By branches, which are guessed:
 * sums would wait for each other. */
static inline int are_all_named(const struct call *C)
{
    const struct access *access = C->touched.at, *end = access + C->touched.count;
    for (const uint64_t *word = C->word + SHAPE_WORDS; access != end; word++) {
        if (word == C->word + C->words)
            return 0;
        if (__builtin_expect(names(*word, access->memory), 1))
            access++;
    }
    return 1;
}

/* A chunk of the reservation is touched as much. */
static int has_chunk(const struct call *C, const struct access *reservation)
{
    for (unsigned i = 0; i < C->touched.count; i++) {
        const struct access *access = &C->touched.at[i];
        if (memories_reservation(access->memory) == reservation->memory && access->writes >= reservation->writes)
            return 1;
    }
    return 0;
}

static int is_told(const struct call *C, const struct access *access)
{
    if (access->memory->host & MEMORY_RESERVATION)
        return has_chunk(C, access);
    return !(C->followed && access->writes) && is_named(C, access->memory);
}

/* For the record, what no word names: pointers in memory lead there, textures were made of it; and what one names that may
 * only be read, where another way leads to it. Of its module's variables the kernel's own record tells, of reservations
 * that of the memory in them, where there is some. */
static __attribute__((noinline)) void keep_reached(struct call *C, const struct memory *variables)
{
    for (unsigned i = 0; i < C->touched.count; i++) {
        const struct access *access = &C->touched.at[i];
        if (access->memory != variables && !is_told(C, access))
            fp_reaches(C, access->memory->uid, access->writes != 0);
    }
}

int kernels_touch(struct call *C, const struct kernel *kernel, void *const *params, void *const *extra)
{
    C->followed = 0;
    int known = params  ? scan_params(C, kernel, params)
                : extra ? scan_buffer(C, kernel, extra)
                        : kernel && kernel->params == 0;
    if (!known)
        touch_opaque(&C->touched, OPAQUE_PARAMETERS);
    touch_module(&C->touched, kernel);
    uint32_t opaque = __atomic_load_n(&kernels_opaque, __ATOMIC_RELAXED);
    if (__builtin_expect(opaque != 0, 0))
        touch_opaque(&C->touched, (enum opaque_reason)opaque);
    if (tables_expand(&C->touched)) {
        C->followed |= FOLLOWED;
        tables_written(&C->touched);
    }
    if (C->followed & FOLLOWED_UNKEPT) /* then a word for each memory, not for each pointer */
        C->words = SHAPE_WORDS;
    if (C->enter && (C->followed || !are_all_named(C)))
        keep_reached(C, kernel && kernel->module ? kernel->module->memory : NULL);
    return known;
}

void footprint_arguments(struct call *C, CUfunction function, void **params, void **extra)
{
    const struct kernel *kernel = kernels_find(C->thread, function);
    C->object = kernel ? kernel->uid : 0;
    if (kernel && !extra && kernels_keep_plainly(C, kernel, params))
        return;
    if (!kernels_touch(C, kernel, params, extra))
        C->flags |= PTDS_CALL_OPAQUE;
}

static unsigned attributes_of(const CUlaunchConfig *config)
{
    unsigned found = 0;
    for (unsigned i = 0; config->attrs && i < config->numAttrs; i++) {
        switch (config->attrs[i].id) {
        case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: found |= PTDS_LAUNCH_COOPERATIVE; break;
        case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION: found |= PTDS_LAUNCH_PROGRAMMATIC; break;
        case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
            kernels_are_opaque(OPAQUE_GRAPH);
            found |= PTDS_LAUNCH_OTHER;
            break;
        default: found |= PTDS_LAUNCH_OTHER; break;
        }
    }
    return found;
}

static CUevent event_in(const CUlaunchAttribute *attribute)
{
    if (attribute->id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)
        return attribute->value.launchCompletionEvent.event;
    return attribute->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT ? attribute->value.programmaticEvent.event : NULL;
}

/* The event that the launch records, if any. There may be one of each kind: a call is about the first alone, and of the
 * other one it is only known that it stands for nothing older any more. */
static CUevent event_of(const CUlaunchConfig *config)
{
    CUevent first = NULL;
    for (unsigned i = 0; config->attrs && i < config->numAttrs; i++) {
        CUevent event = event_in(&config->attrs[i]);
        if (!first)
            first = event;
        else if (event && event != first)
            STATE_TELL(event_elsewhere, event);
    }
    return first;
}

void fp_learn_launch(struct call *C, const CUlaunchConfig *config)
{
    for (unsigned i = 0; config->attrs && i < config->numAttrs; i++) {
        CUevent event = event_in(&config->attrs[i]);
        if (event)
            capture_event_recorded(C, event, config->hStream, 0);
    }
}

void fp_launch_unseen(struct call *C)
{
    fp_opaque(C, OPAQUE_OTHER);
    if (C->footprint)
        tables_unknown_work();
}

void fp_launch_ex(struct call *C, const CUlaunchConfig *config, CUfunction function, void **params, void **extra)
{
    if (!C->footprint || !config)
        return;
    fp_launch(C, function, config->gridDimX, config->gridDimY, config->gridDimZ, config->blockDimX, config->blockDimY,
              config->blockDimZ, config->sharedMemBytes, params, extra);
    C->word[2] |= (uint64_t)attributes_of(config) << 48;
    C->event = event_of(config);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * The footprints of kernel launches, and what the record says of them. Called by the wrappers before the call, on the
 * hottest path there is: most launches are plain (plain_launch.c), for the others bases.c finds what they touch. The
 * record must never name less than these two find.
 */
#include "interpose/footprint/launches/launches.h"

#include "interpose/base/program_array.h"
#include "interpose/footprint/launches/bases.h"
#include "interpose/footprint/launches/launch_parts.h"
#include "interpose/footprint/launches/plain_launch.h"
#include "interpose/footprint/pointers/pointer_tables.h"
#include "interpose/state/hooks.h"

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

/* Whether the words name all memories that are touched. Words and memories usually have the same order, so most launches
 * compare each word once. With branches, which the processor predicts: sums would have to wait for each other. */
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

/* Whether a chunk of the reservation is touched in the same way: the record of the chunk names the reservation. */
static int has_chunk(const struct call *C, const struct access *reservation)
{
    for (unsigned i = 0; i < C->touched.count; i++) {
        const struct access *access = &C->touched.at[i];
        if (memory_object_reservation(access->memory) == reservation->memory && access->writes >= reservation->writes)
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

/* Keeps for the record the memories that no word names (pointers in memory lead there, textures were made of them), and
 * those that a word names but that may be written by another way. Module variables are in the kernel's own record,
 * reservations in the records of the memory in them. */
static __attribute__((noinline)) void keep_reached(struct call *C, const struct memory *variables)
{
    for (unsigned i = 0; i < C->touched.count; i++) {
        const struct access *access = &C->touched.at[i];
        if (access->memory != variables && !is_told(C, access))
            call_words_reaches(C, access->memory->uid, access->writes != 0);
    }
}

static void add_opaque(struct touched *touched)
{
    uint32_t opaque = __atomic_load_n(&touch_memory_kernels_opaque, __ATOMIC_RELAXED);
    if (__builtin_expect(opaque != 0, 0))
        touch_memory_opaque(touched, (enum opaque_reason)opaque);
}

int launches_touch(struct call *C, const struct kernel *kernel, CUstream named, void *const *params, void *const *extra)
{
    struct follow_list follows;
    struct launch launch = {C, kernel, params, NULL, 0, &follows, 0, NULL};
    follow_clear(&follows);
    C->followed = 0;
    int known = bases_use(&launch, extra);
    add_opaque(&C->touched);
    if (follows.count) {
        follow_all(&C->touched, &follows, &launch.by_name);
        C->followed |= FOLLOWED;
    }
    if (!capture_any() || !capture_takes(C, named)) /* for a node, each launch of its graph does this */
        pointer_tables_written(&C->touched, launch.by_name);
    if (C->followed & FOLLOWED_UNKEPT) /* the words become one for each memory, instead of each pointer */
        C->words = SHAPE_WORDS;
    if (C->enter && (C->followed || !are_all_named(C)))
        keep_reached(C, kernel && kernel->facts.variables ? launch.by_name : NULL);
    return known;
}

void launches_touch_node(struct call *C, const struct kernel *kernel, void *const *params, void *const *extra,
                         struct follow_list *follows)
{
    struct launch launch = {C, kernel, params, NULL, 0, follows, 0, NULL};
    C->followed = 0;
    follow_clear(follows);
    bases_use(&launch, extra);
    add_opaque(&C->touched);
}

/* Parameters with which the driver refuses the launch without a look at them, or that it could not read. */
static int are_refused(void **params, void **extra)
{
    return (params && (extra || !program_array_may_be(params))) || (extra && !program_array_may_be(extra));
}

void launches_arguments(struct call *C, CUfunction function, CUstream named, void **params, void **extra)
{
    const struct kernel *kernel = kernel_table_find(C->thread, function);
    C->object = kernel ? kernel->uid : 0;
    if (are_refused(params, extra)) {
        kernel = NULL;
        params = extra = NULL;
    }
    if (kernel && !extra && plain_launch_keep(C, kernel, params)) {
        launch_parts_limit(C, kernel, params);
        return;
    }
    if (!launches_touch(C, kernel, named, params, extra))
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
            touch_memory_kernels_are_opaque(OPAQUE_GRAPH);
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

/* The event that the launch records; NULL none. A launch may have one of each kind: the call is about the first one, and
 * the guard is told that the second one stands for nothing older any more. */
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

void launches_learn_events_slow(struct call *C, const CUlaunchConfig *config)
{
    for (unsigned i = 0; config->attrs && i < config->numAttrs; i++) {
        CUevent event = event_in(&config->attrs[i]);
        if (event)
            capture_event_recorded(C, event, config->hStream, 0);
    }
}

void launches_unseen(struct call *C)
{
    call_words_opaque(C, OPAQUE_OTHER);
    if (C->footprint)
        pointer_tables_unknown_work();
}

void launches_kernel_ex(struct call *C, const CUlaunchConfig *config, CUfunction function, void **params, void **extra)
{
    if (!C->footprint || !config)
        return;
    launches_kernel(C, function, config->gridDimX, config->gridDimY, config->gridDimZ, config->blockDimX, config->blockDimY,
                    config->blockDimZ, config->sharedMemBytes, config->hStream, params, extra);
    C->word[2] |= (uint64_t)attributes_of(config) << 48;
    C->event = event_of(config);
}

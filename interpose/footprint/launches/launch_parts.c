/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts of memories. Called for plain launches whose kernel's code says how far it goes from its pointers. All of a memory
 * is what counts until work of another lane in it has been in the way: before that, parts would be worked out for nothing.
 * Must never say less than the kernel touches: where anything is not as expected, all of the memory stays.
 */
#include "interpose/footprint/launches/launch_parts.h"

#include "interpose/code/extents/extents.h"
#include "interpose/footprint/memories/memory_object.h"
#include "interpose/footprint/pointers/scan.h"
#include "interpose/state/call_words.h"
#include "interpose/state/capture.h"

/* Work of a thread with several lanes is spread over them by what it touches; and so whether it gets them depends on that.
 */
static int has_lanes(const struct call *C)
{
    const struct thread_context *here = C->thread->last_context;
    return here && (here->lane_count > 1 || here->measured);
}

static int is_wanted(const struct memory *memory, int always)
{
    return always || __atomic_load_n(&memory->parts, __ATOMIC_RELAXED);
}

static int is_any_wanted(const struct call *C, int always)
{
    unsigned i = 0;
    while (i < C->touched.count && !is_wanted(C->touched.at[i].memory, always))
        i++;
    return i < C->touched.count;
}

/* It lies at one place, for as long as a launch can have a pointer to it. */
static int is_one_range(const struct memory *memory)
{
    return (memory->kind == PTDS_MEMORY_DEVICE || memory->kind == PTDS_MEMORY_POOL) && memory->base && memory->bytes &&
           !memory->host;
}

static void work_out(const struct call *C, const struct kernel *kernel, void *const *params, struct extent *of)
{
    const uint64_t *word = C->word;
    const struct extents_launch launch = {{(uint32_t)(word[2] & 0xffff), (uint32_t)(word[2] >> 16 & 0xffff),
                                           (uint32_t)(word[2] >> 32 & 0xffff), (uint32_t)word[0], (uint32_t)(word[0] >> 32),
                                           (uint32_t)word[1]},
                                          (const void *const *)params};
    for (unsigned i = 0; i < kernel->listed; i++)
        of[i] = EXTENTS_NONE;
    extents_of(kernel->extent_step, kernel->extent_steps, &launch, of);
}

/* The bytes of the memory that this extent of the pointer is. 0: they are not known, or not all of them lie in it. */
static int is_inside(const struct memory *memory, uint64_t word, struct extent extent, struct access *part)
{
    uint64_t begin = word + (uint64_t)extent.low, end = word + (uint64_t)extent.high;
    if (extent.low == INT64_MIN)
        return 0;
    if (begin < memory->base || begin > end || end > memory->base + memory->bytes)
        return 0;
    part->begin = begin < part->begin ? begin : part->begin;
    part->end = end > part->end ? end : part->end;
    return 1;
}

/* Where none of the pointers goes anywhere the access is an empty one at the last of them. */
static void limit(struct access *access, const struct kernel *kernel, void *const *params, const struct extent *of)
{
    const struct memory *memory = access->memory;
    struct access part = {.begin = UINT64_MAX, .end = 0};
    uint64_t last = 0;
    for (unsigned i = 0; i < kernel->listed; i++) {
        uint64_t word = scan_load((const uint8_t *)params[kernel->pointer[i].number] + kernel->pointer[i].at);
        if (word - memory->base >= memory->bytes)
            continue;
        last = word;
        if (!kernel->has_extent[i])
            return;
        if (of[i].low <= of[i].high && !is_inside(memory, word, of[i], &part))
            return;
    }
    if (!last) /* a module's variables, or a pointer that has just changed */
        return;
    access->begin = part.end ? part.begin : last;
    access->end = part.end ? part.end : last;
    if (access->begin == memory->base && access->end == memory->base + memory->bytes) {
        access->begin = 0;
        access->end = UINT64_MAX;
    }
}

/* Behind the pointers' words. 0: there is no room. */
static int keep_words(struct call *C)
{
    unsigned words = 0;
    for (unsigned i = 0; i < C->touched.count; i++)
        words += C->touched.at[i].end != UINT64_MAX ? 2 : 0;
    if (!C->enter || !words)
        return 1;
    if (C->words + words > CALL_WORDS)
        return 0;
    for (unsigned i = 0; i < C->touched.count; i++) {
        const struct access *access = &C->touched.at[i];
        if (access->end != UINT64_MAX)
            call_words_part(C, access->begin, access->end);
    }
    return 1;
}

void launch_parts_limit_slow(struct call *C, const struct kernel *kernel, void *const *params)
{
    struct extent of[KERNEL_POINTERS];
    int always = has_lanes(C);
    if (!is_any_wanted(C, always) || capture_any())
        return;
    work_out(C, kernel, params, of);
    for (unsigned i = 0; i < C->touched.count; i++) {
        const struct memory *memory = C->touched.at[i].memory;
        if (is_wanted(memory, always) && is_one_range(memory))
            limit(&C->touched.at[i], kernel, params, of);
    }
    for (unsigned i = 0; !keep_words(C) && i < C->touched.count; i++) {
        C->touched.at[i].begin = 0;
        C->touched.at[i].end = UINT64_MAX;
    }
}

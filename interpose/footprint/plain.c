/* SPDX-License-Identifier: Apache-2.0
 *
 * What most launches touch: memory of the device, by pointers that lie among the kernel's parameters, and nothing else.
 * Called for every launch, before anything else looks at it. Must never say less of a launch than launches.c: at anything
 * that is not as simple as that it gives up.
 */
#include "interpose/footprint/kernels.h"
#include "interpose/footprint/pageable.h"
#include "interpose/footprint/signature.h"
#include "interpose/footprint/tables.h"
#include "interpose/footprint/textures.h"

#include <string.h>

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

/* kept: the record's words; NULL where nothing is recorded. 0: the launch is not plain. What does not change from word to
 * word is loaded once. */
static inline __attribute__((always_inline)) int add_words(struct thread *thread, const struct kernel *kernel,
                                                           void *const *params, struct touched *touched, uint64_t *kept,
                                                           unsigned *kept_count)
{
    const struct span textures = textures_span(), memories = memories_span();
    const struct kernel_word *word = kernel->word, *end = word + kernel->words;
    unsigned count = 0;
    for (; word < end; word++) {
        uint64_t address;
        const uint8_t *bytes = params[word->param];
        if (__builtin_expect(!bytes, 0))
            continue;
        memcpy(&address, bytes + word->at, sizeof address);
        if (span_has(textures, address))
            return 0;
        if (!span_has(memories, address))
            continue;
        struct memory *memory = memories_memory(thread, address, word->place);
        if (!memory || is_special(memory, word->flags))
            return 0;
        count = add(touched, count, memory, !(word->flags & SIGNATURE_READS));
        if (__builtin_expect(count == TOUCHED_MOST, 0)) /* there may be its module's variables, too */
            return 0;
        if (kept && !keep(kept, kept_count, address, word->place))
            return 0;
    }
    touched->count = (uint16_t)count;
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
           !__atomic_load_n(&kernels_launch_graphs, __ATOMIC_RELAXED);
}

static inline __attribute__((always_inline)) int look(struct thread *thread, const struct kernel *kernel,
                                                      void *const *params, struct touched *touched, uint64_t *kept,
                                                      unsigned *count)
{
    return is_plain(kernel, params) && add_words(thread, kernel, params, touched, kept, count) &&
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

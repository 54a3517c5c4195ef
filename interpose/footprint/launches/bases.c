/* SPDX-License-Identifier: Apache-2.0
 *
 * What the words among a launch's parameters point to that its code begins addresses with. Called for launches that are not
 * plain, and for nodes of graphs. Must never leave out a word that the code uses: where it points into nothing that is
 * known, the launch may touch anything.
 */
#include "interpose/footprint/launches/bases.h"

#include <string.h>

#include "interpose/footprint/allocations/textures.h"
#include "interpose/footprint/launches/numbers.h"
#include "interpose/footprint/memories/lookup.h"
#include "interpose/footprint/memories/pageable.h"
#include "interpose/footprint/memories/touch_memory.h"
#include "interpose/footprint/pointers/scan.h"

/* Keeps the word for the record, where there is room. */
static void keep_word(struct call *C, uint64_t word, size_t offset)
{
    if (C->words == CALL_WORDS)
        C->followed |= FOLLOWED_UNKEPT;
    else
        C->word[C->words++] = word | (uint64_t)(offset / 8) << PTDS_LAUNCH_ADDRESS_BITS;
}

/* Where so many bytes of a parameter lie; NULL: they are not all there. */
static const uint8_t *bytes_at(const struct launch *launch, unsigned number, size_t at, size_t offset, size_t size)
{
    if (launch->buffer)
        return offset <= launch->size && size <= launch->size - offset ? launch->buffer + offset : NULL;
    const uint8_t *param = launch->params ? launch->params[number] : NULL;
    return param ? param + at : NULL;
}

static size_t offset_of(const struct kernel *kernel, unsigned number, size_t at)
{
    return kernel_table_offset(kernel->layout[number]) + at;
}

/* Reads the word. 0: it is not among the bytes that the program gave. */
static int word_at(const struct launch *launch, struct launch_facts_word at, uint64_t *word)
{
    const struct kernel *kernel = launch->kernel;
    const uint8_t *low = bytes_at(launch, at.low, at.low_at, offset_of(kernel, at.low, at.low_at), 4);
    const uint8_t *high = bytes_at(launch, at.high, at.high_at, offset_of(kernel, at.high, at.high_at), 4);
    uint32_t halves[2];
    if (!low || !high) {
        touch_memory_opaque(&launch->call->touched, OPAQUE_PARAMETERS);
        return 0;
    }
    memcpy(&halves[0], low, 4);
    memcpy(&halves[1], high, 4);
    *word = halves[0] | (uint64_t)halves[1] << 32;
    return 1;
}

static void use(struct launch *launch, struct memory *memory, const struct launch_facts_base *base)
{
    int writes = (base->use & CODE_WRITE) != 0;
    touch_memory_whole(&launch->call->touched, memory, writes);
    if (writes && memory == launch->by_name)
        launch->by_name = NULL;
    if (base->through)
        follow_add(launch->follows,
                   (struct follow){memory, base->through, base->beyond, 0, memory->kind == PTDS_MEMORY_GLOBAL});
}

/* For kernels that run from an end downwards: the address where a memory begins may stand for the end of the memory before.
 */
static void use_before(struct launch *launch, uint64_t word, const struct launch_facts_base *base)
{
    struct memory *before = lookup_range(launch->call->thread, word - 1).memory;
    if (!before)
        return;
    use(launch, before, base);
    launch->call->followed |= FOLLOWED;
}

/* The rare cases: the word means several memories, or none, or the program's own memory, which some devices read. 0: none.
 */
static __attribute__((noinline)) int use_around(struct launch *launch, uint64_t word, const struct launch_facts_base *base)
{
    struct call *C = launch->call;
    struct memory *found[TOUCHED_MOST];
    unsigned count = lookup_around(C->thread, word, found, TOUCHED_MOST);
    if (count > TOUCHED_MOST) {
        touch_memory_opaque(&C->touched, OPAQUE_MANY);
        return 1;
    }
    for (unsigned i = 0; i < count; i++)
        use(launch, found[i], base);
    if (count)
        C->followed |= FOLLOWED; /* the record's reader knows one memory of a word at most */
    if (pageable_is_read() && !lookup_range(C->thread, word).memory && pageable_is(word)) {
        touch_memory_opaque(&C->touched, OPAQUE_OTHER);
        return 1;
    }
    return count != 0;
}

/* The kernel uses the word as this base. 0: it points into nothing that is known. */
static int use_word(struct launch *launch, uint64_t word, size_t offset, const struct launch_facts_base *base)
{
    struct call *C = launch->call;
    struct memory *memory = lookup_memory(C->thread, word, offset / 8);
    if (__builtin_expect(memory != NULL, 1))
        use(launch, memory, base);
    else if (!use_around(launch, word, base))
        return 0;
    if (__builtin_expect(launch->kernel->ends, 0) && lookup_range(C->thread, word).begin == word)
        use_before(launch, word, base);
    if (C->enter)
        keep_word(C, word, offset);
    return 1;
}

/* ---- ranges of parameters: any word in them may be a pointer ---- */

/* What was found in a range of parameters: how many words point into known memory, and whether another word may be a
 * pointer. */
struct words {
    unsigned used;
    int strange;
};

static void use_bytes(struct launch *launch, const uint8_t *bytes, size_t size, size_t offset,
                      const struct launch_facts_base *base, struct words *words)
{
    const struct address_spans memories = addresses_spans();
    struct scan scan;
    for (unsigned i = 0; i < ADDRESS_SPANS; i++) {
        for (scan_begin(&scan, memories.at[i], bytes, size); scan.at != SIZE_MAX; scan_on(&scan)) {
            if ((offset + scan.at) % 4 || !scan_word(&scan))
                continue;
            if (use_word(launch, scan_word(&scan), offset + scan.at, base))
                words->used++;
            else
                touch_memory_opaque(&launch->call->touched, OPAQUE_BASE);
        }
    }
    for (size_t at = -offset % 4; at + 8 <= size; at += 4) {
        uint64_t word = scan_load(bytes + at);
        words->strange |= word >> 40 && !(word >> 48);
        if (pageable_is_read() && !address_spans_have(memories, word) && pageable_is(word))
            touch_memory_opaque(&launch->call->touched, OPAQUE_OTHER);
    }
}

/* The words that begin in the bytes [from, to) of the parameters. */
static void use_range(struct launch *launch, size_t from, size_t to, const struct launch_facts_base *base,
                      struct words *words)
{
    const struct kernel *kernel = launch->kernel;
    for (uint32_t i = 0; i < kernel->params; i++) {
        size_t begin = kernel_table_offset(kernel->layout[i]), end = begin + kernel_table_size(kernel->layout[i]);
        size_t first = from > begin ? from : begin, last = to + 7 < end ? to + 7 : end;
        if (first >= last)
            continue;
        const uint8_t *bytes = bytes_at(launch, i, first - begin, first, last - first);
        if (bytes)
            use_bytes(launch, bytes, last - first, first, base, words);
        else
            touch_memory_opaque(&launch->call->touched, OPAQUE_PARAMETERS);
    }
}

/* ---- bases ---- */

/* What the terms of a base were found to be. */
struct found {
    int known;     /* a term points into memory that is known */
    int loaded;    /* a term is a pointer that was loaded; where it leads, the base says through which it was loaded */
    int strange;   /* a range has words that may be pointers, and lead nowhere known */
    uint64_t size; /* how far the terms that are numbers lead from 0, in bytes */
    unsigned addresses;
    uint64_t address[CODE_TERMS]; /* the words of the other terms, which may be addresses */
};

static void weigh(struct found *found, uint64_t word)
{
    uint64_t size = numbers_size(word);
    if (size == UINT64_MAX)
        found->address[found->addresses++] = word;
    else
        found->size += size;
}

static void use_term(struct launch *launch, const struct launch_facts_term *term, const struct launch_facts_base *base,
                     struct found *found)
{
    struct words words = {0, 0};
    uint64_t word;
    switch (term->kind) {
    case CODE_PARAMETER:
        if (!word_at(launch, term->word, &word) || !word)
            return;
        if (use_word(launch, word, term->from, base))
            found->known = 1;
        else
            weigh(found, word);
        return;
    case CODE_RANGE:
        use_range(launch, term->from, term->to, base, &words);
        found->known |= words.used != 0;
        found->strange |= !words.used && words.strange;
        return;
    case CODE_VARIABLE: found->known = 1; return; /* use_variables touches them */
    default: found->loaded = 1; return;
    }
}

/* With differences of pointers, the sum may be an address though no term is. */
static void use_sum(struct launch *launch, const struct launch_facts_base *base, struct found *found)
{
    uint64_t sum = 0, word;
    for (unsigned i = 0; i < base->terms; i++) {
        const struct launch_facts_term *term = &launch->kernel->facts.term[base->first + i];
        if (term->kind != CODE_PARAMETER || !word_at(launch, term->word, &word))
            return;
        sum += word;
    }
    if (sum && use_word(launch, sum, launch->kernel->facts.term[base->first].from, base))
        found->known = 1;
}

/* The same where it is not known which terms are added: any two of them. */
static void use_pairs(struct launch *launch, const struct launch_facts_base *base)
{
    const struct launch_facts_term *term = &launch->kernel->facts.term[base->first];
    for (unsigned i = 0; i < base->terms; i++) {
        for (unsigned k = i + 1; k < base->terms; k++) {
            uint64_t one, other;
            if (term[i].kind == CODE_PARAMETER && term[k].kind == CODE_PARAMETER && word_at(launch, term[i].word, &one) &&
                word_at(launch, term[k].word, &other) && one && other)
                use_word(launch, one + other, term[i].from, base);
        }
    }
}

/* Whether the words that are added to the terms may themselves hold an address, perhaps a shifted one. */
static int may_be_mixed(const struct launch *launch, const struct launch_facts_base *base)
{
    const struct launch_facts_term *term = &launch->kernel->facts.term[base->first + base->terms];
    if (base->mixes == CODE_MIXED_ANY)
        return 1;
    for (unsigned i = 0; i < base->mixes; i++) {
        uint64_t word;
        if (!word_at(launch, term[i].word, &word))
            return 1;
        if (numbers_may_lead(term[i].to ? word : (uint32_t)word))
            return 1;
    }
    return 0;
}

/* Whether the base may lead to other memory than its terms do. */
static int is_strange(const struct launch *launch, const struct launch_facts_base *base, const struct found *found)
{
    if (found->known && !(base->use & CODE_EITHER))
        return 0;
    for (unsigned i = 0; i < found->addresses; i++) {
        if (!numbers_are_host(found->address[i]))
            return 1;
    }
    if (found->strange)
        return 1;
    return !found->known && !found->loaded && (!numbers_are_nowhere(found->size) || may_be_mixed(launch, base));
}

static void use_base(struct launch *launch, const struct launch_facts_base *base)
{
    struct found found = {0};
    for (unsigned i = 0; i < base->terms; i++)
        use_term(launch, &launch->kernel->facts.term[base->first + i], base, &found);
    if (base->use & CODE_EITHER)
        use_pairs(launch, base);
    else if (base->terms > 1)
        use_sum(launch, base, &found);
    if (is_strange(launch, base, &found))
        touch_memory_opaque(&launch->call->touched, OPAQUE_BASE);
    launch->is_loaded |= found.loaded && (!found.known || base->use & CODE_EITHER);
}

static void use_bases(struct launch *launch)
{
    const struct launch_facts *facts = &launch->kernel->facts;
    for (unsigned i = 0; i < facts->bases; i++)
        use_base(launch, &facts->base[i]);
    for (unsigned i = 0; launch->is_loaded && i < facts->bases; i++) {
        struct launch_facts_base base = facts->base[i];
        if (!base.sum_through && !base.sum_beyond)
            continue;
        base.through |= base.sum_through;
        base.beyond |= base.sum_beyond;
        use_base(launch, &base);
    }
}

/* The variables of the kernel's module. */
static void use_variables(struct launch *launch)
{
    const struct launch_facts *facts = &launch->kernel->facts;
    struct memory *memory = launch->kernel->module ? launch->kernel->module->memory : NULL;
    if (!facts->variables)
        return;
    if (!memory) {
        touch_memory_opaque(&launch->call->touched, OPAQUE_OTHER);
        return;
    }
    touch_memory_whole(&launch->call->touched, memory, (facts->variables & CODE_WRITE) != 0);
    for (unsigned i = 0; i < facts->bases; i++) {
        const struct launch_facts_base *base = &facts->base[i];
        uint8_t through = base->through | (launch->is_loaded ? base->sum_through : 0),
                beyond = base->beyond | (launch->is_loaded ? base->sum_beyond : 0);
        for (unsigned k = 0; through && k < base->terms; k++) {
            const struct launch_facts_term *term = &facts->term[base->first + k];
            if (term->kind == CODE_VARIABLE)
                follow_add(launch->follows,
                           (struct follow){memory, through, beyond, term->constant, launch->kernel->addresses});
        }
    }
}

static void use_handles(struct launch *launch)
{
    const struct launch_facts *facts = &launch->kernel->facts;
    for (unsigned i = 0; i < facts->handles; i++) {
        uint64_t word;
        if (!word_at(launch, facts->handle[i].word, &word) || !word)
            continue;
        launch->call->followed |= FOLLOWED;
        if (!textures_touch(&launch->call->touched, word, facts->handle[i].use & CODE_WRITE))
            touch_memory_opaque(&launch->call->touched, OPAQUE_TEXTURE);
    }
}

/* One of the words of a tensor map is the address of its memory. */
enum { TENSOR_MAP = 128 };
static void use_maps(struct launch *launch)
{
    const struct kernel *kernel = launch->kernel;
    const struct launch_facts_base both = {.use = CODE_READ | CODE_WRITE};
    struct words words = {0, 0};
    for (uint32_t i = 0; kernel->facts.maps && i < kernel->params; i++) {
        size_t begin = kernel_table_offset(kernel->layout[i]), size = kernel_table_size(kernel->layout[i]);
        const uint8_t *bytes = size >= TENSOR_MAP ? bytes_at(launch, i, 0, begin, size) : NULL;
        for (size_t at = 0; bytes && at + 8 <= size; at += 8)
            words.used += (unsigned)use_word(launch, scan_load(bytes + at), begin + at, &both);
    }
    if (kernel->facts.maps && !words.used)
        touch_memory_opaque(&launch->call->touched, OPAQUE_BASE);
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

int bases_use(struct launch *launch, void *const *extra)
{
    struct touched *touched = &launch->call->touched;
    const struct kernel *kernel = launch->kernel;
    if (!launch->params && extra)
        launch->buffer = buffer_of(extra, &launch->size);
    int known = launch->params || launch->buffer || (kernel && kernel->params == 0);
    if (!kernel || !known || kernel->facts.opaque) {
        touch_memory_opaque(touched, kernel && known ? (enum opaque_reason)kernel->facts.opaque : OPAQUE_PARAMETERS);
        return 0;
    }
    launch->by_name = kernel->module ? kernel->module->memory : NULL;
    use_bases(launch);
    use_maps(launch);
    use_handles(launch);
    use_variables(launch);
    if (kernel->module && kernel->module->textures)
        touch_memory_opaque(touched, OPAQUE_TEXTURE);
    return 1;
}

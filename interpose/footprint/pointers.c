/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds pointers, and handles of textures and surfaces, among bytes that are to lie in memory. Called for what copies
 * bring, and by launches whose parameters have no types. Must not read the bytes twice as long as there is nothing to find.
 */
#include "interpose/footprint/pointers.h"

#include "interpose/footprint/textures.h"

enum { TEXTURES = SPANS, SURFACES, ALL };

void pointers_begin(struct pointers *pointers, const uint8_t *bytes, size_t size)
{
    const struct spans memories = memories_spans();
    for (unsigned i = 0; i < SPANS; i++)
        scan_begin(&pointers->of[i], memories.at[i], bytes, size);
    scan_begin(&pointers->of[TEXTURES], textures_span(), bytes, size);
    pointers->of[SURFACES] = pointers->of[TEXTURES];
}

/* Which of them comes next. */
static unsigned first_of(const struct pointers *pointers)
{
    unsigned first = 0;
    for (unsigned i = 1; i < ALL; i++) {
        if (pointers->of[i].at < pointers->of[first].at)
            first = i;
    }
    return first;
}

static struct memory *memory_at(struct thread *thread, uint64_t word)
{
    struct memory *memory = memories_find(thread, word).memory;
    return memory ? memory : memories_beside(thread, word);
}

size_t pointers_next(struct pointers *pointers, struct thread *thread, struct pointed *found)
{
    for (;;) {
        unsigned i = first_of(pointers);
        size_t at = pointers->of[i].at;
        if (at == SIZE_MAX)
            return SIZE_MAX;
        uint64_t word = scan_word(&pointers->of[i]);
        scan_on(&pointers->of[i]);
        struct memory *memory = i < TEXTURES ? memory_at(thread, word) : NULL;
        if (memory || (i >= TEXTURES && textures_find(word, i == SURFACES, &memory))) {
            uint32_t uid = memory ? __atomic_load_n(&memory->uid, __ATOMIC_RELAXED) : 0;
            *found = (struct pointed){0, 0, memory, uid, i != TEXTURES};
            return at;
        }
    }
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds pointers, and handles of textures and surfaces, among bytes that are to lie in memory. Called for what copies
 * bring, and by launches whose parameters have no types. Must not read the bytes twice as long as there is nothing to find.
 */
#include "interpose/footprint/pointers.h"

#include "interpose/footprint/reservations.h"
#include "interpose/footprint/textures.h"
#include "interpose/footprint/touch.h"

enum { TEXTURES = SPANS, SURFACES, ALL };

void pointers_begin(struct pointers *pointers, const uint8_t *bytes, size_t size)
{
    const struct spans memories = memories_spans();
    for (unsigned i = 0; i < SPANS; i++)
        scan_begin(&pointers->of[i], memories.at[i], bytes, size);
    scan_begin(&pointers->of[TEXTURES], textures_span(), bytes, size);
    pointers->of[SURFACES] = pointers->of[TEXTURES];
    pointers->also = NULL;
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
    if (!memory)
        memory = memories_beside(thread, word);
    return memory ? reservations_lasting(memory, word) : NULL;
}

static struct pointed pointed(struct memory *memory, uint32_t writes)
{
    return (struct pointed){0, 0, memory, memory ? __atomic_load_n(&memory->uid, __ATOMIC_RELAXED) : 0, writes};
}

/* A reservation's address where nothing is mapped may be the end of the memory before it. */
static struct memory *before(struct thread *thread, const struct memory *memory, uint64_t word)
{
    if (!(memory->host & MEMORY_RESERVATION) || memories_find(thread, word).memory)
        return NULL;
    struct memory *found = memories_find(thread, word - 1).memory;
    return found && memories_reservation(found) != memory ? reservations_lasting(found, word - 1) : NULL;
}

static size_t also(struct pointers *pointers, struct pointed *found)
{
    *found = pointed(pointers->also, 1);
    pointers->also = NULL;
    return pointers->also_at;
}

size_t pointers_next(struct pointers *pointers, struct thread *thread, struct pointed *found)
{
    if (pointers->also)
        return also(pointers, found);
    for (;;) {
        unsigned i = first_of(pointers);
        size_t at = pointers->of[i].at;
        if (at == SIZE_MAX)
            return SIZE_MAX;
        uint64_t word = scan_word(&pointers->of[i]);
        scan_on(&pointers->of[i]);
        struct memory *memory = i < TEXTURES ? memory_at(thread, word) : NULL;
        if (memory || (i >= TEXTURES && textures_find(word, i == SURFACES, &memory))) {
            *found = pointed(memory, i != TEXTURES);
            pointers->also = i < TEXTURES ? before(thread, memory, word) : NULL;
            pointers->also_at = at;
            return at;
        }
    }
}

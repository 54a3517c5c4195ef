/* SPDX-License-Identifier: Apache-2.0
 *
 * A table of names with scopes. Called for every word of a kernel's text that is a name.
 */
#include "interpose/code/ptx/ptx_symbols.h"

#include <string.h>

#include "interpose/code/arena.h"

enum { FIRST_SLOTS = 1024, DIGITS_MOST = 9 };

/* Begins differently in each table, so that no text can be made whose names all meet in one slot. */
static uint32_t hash_of(const struct symbols *symbols, struct span name)
{
    uint64_t hash = symbols->seed ^ name.size;
    for (uint32_t i = 0; i < name.size; i++)
        hash = (hash ^ (uint8_t)name.at[i]) * 0x100000001b3u;
    return (uint32_t)(hash ^ hash >> 29);
}

int ptx_symbols_begin(struct symbols *symbols, struct arena *arena)
{
    *symbols = (struct symbols){.arena = arena, .slots = FIRST_SLOTS};
    symbols->slot = arena_get(arena, FIRST_SLOTS * sizeof(struct symbol *));
    symbols->seed = (uint64_t)(uintptr_t)symbols->slot * 0x9e3779b97f4a7c15u;
    return symbols->slot != NULL;
}

static void put(struct symbols *symbols, struct symbol *symbol)
{
    struct symbol **slot = &symbols->slot[hash_of(symbols, symbol->name) & (symbols->slots - 1)];
    symbol->next = *slot;
    *slot = symbol;
}

/* The newest of a slot comes first, so they are put there again from the oldest on. */
static void grow(struct symbols *symbols)
{
    struct symbol **slot = arena_get(symbols->arena, 2ul * symbols->slots * sizeof *slot);
    struct symbol **all = slot ? arena_get(symbols->arena, symbols->count * sizeof *all) : NULL;
    if (!all)
        return; /* slower, but right */
    uint32_t count = symbols->count;
    for (struct symbol *symbol = symbols->newest; symbol && count; symbol = symbol->older)
        all[--count] = symbol;
    symbols->slot = slot;
    symbols->slots *= 2;
    for (uint32_t i = count; i < symbols->count; i++)
        put(symbols, all[i]);
}

struct symbol *ptx_symbols_add(struct symbols *symbols, struct span name, enum symbol_kind kind)
{
    if (symbols->count >= 2 * symbols->slots)
        grow(symbols);
    struct symbol *symbol = arena_get(symbols->arena, sizeof *symbol);
    if (!symbol)
        return NULL;
    symbol->name = name;
    symbol->kind = (uint8_t)kind;
    symbol->scope = symbols->scope;
    symbol->older = symbols->newest;
    symbols->newest = symbol;
    symbols->count++;
    put(symbols, symbol);
    return symbol;
}

struct symbol *ptx_symbols_find(const struct symbols *symbols, struct span name)
{
    struct symbol *symbol = symbols->slot[hash_of(symbols, name) & (symbols->slots - 1)];
    while (symbol && !(symbol->name.size == name.size && memcmp(symbol->name.at, name.at, name.size) == 0))
        symbol = symbol->next;
    return symbol;
}

/* The name without its last digits, one digit more at a time: %p12 is the second of %p1<8> or the 12th of %p<16>. */
static struct symbol *find_range(const struct symbols *symbols, struct span name, uint32_t *index)
{
    uint32_t value = 0, unit = 1;
    for (int digits = 0; digits < DIGITS_MOST && name.size > 1; digits++) {
        char last = name.at[--name.size];
        if (last < '0' || last > '9')
            return NULL;
        value += (uint32_t)(last - '0') * unit;
        unit *= 10;
        if (last == '0' && digits > 0)
            continue; /* numbers don't begin with 0 */
        struct symbol *symbol = ptx_symbols_find(symbols, name);
        if (symbol && symbol->count > value) {
            *index = value;
            return symbol;
        }
    }
    return NULL;
}

struct symbol *ptx_symbols_find_numbered(const struct symbols *symbols, struct span name, uint32_t *index)
{
    *index = 0;
    struct symbol *symbol = ptx_symbols_find(symbols, name);
    return symbol && !symbol->count ? symbol : find_range(symbols, name, index);
}

void ptx_symbols_leave(struct symbols *symbols)
{
    while (symbols->newest && symbols->newest->scope == symbols->scope) {
        struct symbol *symbol = symbols->newest;
        struct symbol **slot = &symbols->slot[hash_of(symbols, symbol->name) & (symbols->slots - 1)];
        *slot = symbol->next; /* the newest of all is the newest of its slot */
        symbols->newest = symbol->older;
        symbols->count--;
    }
    symbols->scope--;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds what makes steps of an instruction. Called for every instruction. A name that has a part which the table does not
 * know must never be taken for the same name without that part: who knows what it means.
 */
#include "interpose/code/ptx/ptx.h"

#include <string.h>

#include "interpose/code/ptx/modifiers.h"

struct row {
    const char *name;
    void (*lower)(struct ptx *ptx, const struct instruction *in);
    const char *modifiers;
};

static const struct row rows[] = {
#define INSTRUCTION(name, class, modifiers) {#name, lower_##class, modifiers},
#include "interpose/code/ptx/instructions.def"
#undef INSTRUCTION
};

static int add(struct ptx *ptx, struct span name, uint32_t row)
{
    struct symbol *symbol = ptx_symbols_add(&ptx->mnemonics, name, SYMBOL_MNEMONIC);
    if (symbol)
        symbol->mnemonic = row;
    return symbol != NULL;
}

int ptx_table_begin(struct ptx *ptx)
{
    if (!ptx_symbols_begin(&ptx->mnemonics, ptx->arena))
        return 0;
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!add(ptx, (struct span){rows[i].name, (uint32_t)strlen(rows[i].name)}, i))
            return 0;
    }
    return 1;
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* at: a word of a row's, which a blank or the end follows. In it # stands for a number. */
static int is_word(struct span part, const char *at)
{
    uint32_t i = 0;
    for (; *at && *at != ' '; at++) {
        uint32_t first = i;
        if (*at != '#' && (i == part.size || part.at[i++] != *at))
            return 0;
        while (*at == '#' && i < part.size && is_digit(part.at[i]))
            i++;
        if (i == first)
            return 0;
    }
    return i == part.size;
}

static int is_modifier(struct span part, const char *modifiers)
{
    for (const char *at = modifiers; (at = strchr(at, ' '));) {
        if (is_word(part, ++at))
            return 1;
    }
    return 0;
}

static int are_modifiers(const struct instruction *in, const struct row *row)
{
    for (uint32_t i = 1; i < in->parts; i++) {
        if (!is_modifier(in->part[i], row->modifiers))
            return 0;
    }
    return 1;
}

/* The whole name, if it stands in one piece; it is kept when all of it is known, since the same names come again and again.
 */
static struct span whole_name(const struct instruction *in)
{
    const struct span *first = &in->part[0], *last = &in->part[in->parts - 1];
    uint32_t size = in->parts - 1;
    for (uint32_t i = 0; i < in->parts; i++)
        size += in->part[i].size;
    return last->at + last->size == first->at + size ? (struct span){first->at, size} : (struct span){NULL, 0};
}

static const struct row *find(struct ptx *ptx, const struct instruction *in)
{
    struct span name = whole_name(in);
    const struct symbol *symbol = name.size ? ptx_symbols_find(&ptx->mnemonics, name) : NULL;
    if (symbol)
        return &rows[symbol->mnemonic];
    symbol = ptx_symbols_find(&ptx->mnemonics, in->part[0]);
    if (!symbol || !are_modifiers(in, &rows[symbol->mnemonic]))
        return NULL;
    if (name.size)
        add(ptx, name, symbol->mnemonic);
    return &rows[symbol->mnemonic];
}

void ptx_table_lower(struct ptx *ptx, const struct instruction *in)
{
    const struct row *row = find(ptx, in);
    if (row)
        row->lower(ptx, in);
    else
        ptx_emit_not_known(ptx, in);
}

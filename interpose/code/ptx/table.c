/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds what makes steps of an instruction. Called for every instruction.
 */
#include "interpose/code/ptx/ptx.h"

#include <string.h>

struct row {
    const char *name;
    void (*lower)(struct ptx *ptx, const struct instruction *in);
};

static const struct row rows[] = {
#define INSTRUCTION(name, class) {#name, lower_##class},
#include "interpose/code/ptx/instructions.def"
#undef INSTRUCTION
};

int table_begin(struct ptx *ptx)
{
    if (!ptx_symbols_begin(&ptx->mnemonics, ptx->arena))
        return 0;
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct span name = {rows[i].name, (uint32_t)strlen(rows[i].name)};
        struct symbol *symbol = symbols_add(&ptx->mnemonics, name, SYMBOL_MNEMONIC);
        if (!symbol)
            return 0;
        symbol->mnemonic = i;
    }
    return 1;
}

void table_lower(struct ptx *ptx, const struct instruction *in)
{
    const struct symbol *symbol = symbols_find(&ptx->mnemonics, in->part[0]);
    if (symbol)
        rows[symbol->mnemonic].lower(ptx, in);
    else
        ptx_not_known(ptx, in);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of operations (opcodes.def), found by code. Called by the decoder for each instruction.
 */
#include "interpose/code/sass/sass.h"

enum {
    F1 = 1 << 1,
    F2 = 1 << 2,
    F3 = 1 << 3,
    F4 = 1 << 4,
    F5 = 1 << 5,
    F6 = 1 << 6,
    F7 = 1 << 7,
    FALL = 0xfe,
    ANY = 0xffff
};

static const struct opcode table[] = {
#define OPCODE(code, forms, name, operation, width, sets, file, from, to) \
    {code, forms, OP_##operation, WIDTH_##width, SETS_##sets, FILE_##file, from, to, #name},
#include "interpose/code/sass/opcodes.def"
#undef OPCODE
};
enum { ROWS = sizeof table / sizeof *table };

void opcodes_begin(struct opcodes *opcodes, uint32_t arch)
{
    for (uint32_t i = 0; i < ROWS; i++) {
        if (arch < table[i].from || arch > table[i].to)
            continue;
        for (uint32_t form = 0; form < 8; form++) {
            if (table[i].forms >> form & 1)
                opcodes->of[form << 9 | table[i].code] = (uint8_t)(i + 1);
        }
    }
}

const struct opcode *opcodes_find(const struct opcodes *opcodes, uint32_t code)
{
    uint32_t row = opcodes->of[code & (CODES - 1)];
    return row ? &table[row - 1] : NULL;
}
_Static_assert(ROWS < 256, "a row's number is kept in a byte");

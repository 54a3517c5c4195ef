/* SPDX-License-Identifier: Apache-2.0
 *
 * The address space and the address of an access. Called for all that touches memory.
 */
#include "interpose/code/ptx/ptx.h"

struct access ptx_access_of(const struct instruction *in)
{
    for (uint32_t i = 1; i < in->parts; i++) {
        struct span part = in->part[i];
        if (lexer_span_is(part, "global"))
            return (struct access){ACCESS_MEMORY, SPACE_GLOBAL};
        if (lexer_span_begins(part, "shared"))
            return (struct access){ACCESS_MEMORY, SPACE_SHARED};
        if (lexer_span_is(part, "local"))
            return (struct access){ACCESS_MEMORY, SPACE_LOCAL};
        if (lexer_span_begins(part, "const"))
            return (struct access){ACCESS_MEMORY, SPACE_CONSTANT};
        if (lexer_span_begins(part, "param"))
            return (struct access){ACCESS_PARAMETER, SPACE_GENERIC};
    }
    return (struct access){ACCESS_MEMORY, SPACE_GENERIC};
}

const struct argument *ptx_access_argument(const struct instruction *in, uint32_t which)
{
    for (uint32_t i = 0; i < in->count; i++) {
        if (in->argument[i].kind == ARGUMENT_ADDRESS && which-- == 0)
            return &in->argument[i];
    }
    return NULL;
}

/* Memory of the program's has addresses of 64 bits. */
static int is_wide(uint8_t space)
{
    return space == SPACE_GLOBAL || space == SPACE_GENERIC || space == SPACE_CONSTANT;
}

int ptx_access_address(struct ptx *ptx, const struct instruction *in, const struct argument *address, int64_t more,
                       struct step *step)
{
    const struct argument *base = address ? &address->items[0] : NULL;
    if (!base || base->kind == ARGUMENT_NAME || base->kind == ARGUMENT_VECTOR) {
        ptx_emit_not_known(ptx, in);
        return 0;
    }
    if (base->kind == ARGUMENT_REGISTER && base->words < 2 && is_wide(step->space)) {
        ptx_emit_unknown(ptx, CODE_WHY_ADDRESS, in->line, in->text);
        return 0;
    }
    step->part[0] = ptx_emit_source(ptx, in, base);
    step->parts = 1;
    int64_t offset = more + (base->kind == ARGUMENT_REGISTER ? base->value : 0);
    if (step->part[0].kind != OPERAND_REGISTER)
        step->part[0].value += more;
    else if (offset) {
        step->part[1] = ptx_emit_operand_constant(offset);
        step->parts = 2;
    }
    for (uint32_t i = 0; i < step->parts; i++)
        step->part[i].words = base->kind == ARGUMENT_REGISTER ? base->words : step->space == SPACE_SHARED ? 1 : 2;
    return 1;
}

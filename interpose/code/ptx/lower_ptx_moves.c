/* SPDX-License-Identifier: Apache-2.0
 *
 * Instructions that move and convert values. Called by the table.
 */
#include "interpose/code/ptx/ptx.h"

/* {a, b} of so many bytes all together: into one register. */
static void pack(struct ptx *ptx, const struct instruction *in, uint32_t bytes)
{
    const struct argument *from = &in->argument[1];
    struct result result;
    uint32_t each = from->count ? bytes / from->count : 0;
    if (!each || !ptx_emit_result(ptx, in, &in->argument[0], &result) || result.words * 4u < bytes)
        return ptx_emit_not_known(ptx, in);
    for (uint32_t i = 0; i < from->count && each >= 4; i++)
        ptx_emit_move(ptx, in, (uint16_t)(result.number + i * each / 4), (uint8_t)(each / 4),
                      ptx_emit_source(ptx, in, &from->items[i]));
    for (uint32_t word = 0; word < bytes / 4 && each < 4; word++) {
        struct step step = {.kind = STEP_MIX, .result = (uint16_t)(result.number + word), .words = 1};
        for (uint32_t i = 0; i < 4 / each && step.sources < STEP_SOURCES; i++)
            step.source[step.sources++] = ptx_emit_source(ptx, in, &from->items[word * (4 / each) + i]);
        ptx_emit(ptx, in, step);
    }
    if (bytes < 4)
        ptx_emit(ptx, in, (struct step){.kind = STEP_FLOAT, .result = result.number, .words = result.words});
}

/* So many bytes of an operand from that byte on. */
static struct operand part_of(struct operand from, uint32_t at, uint32_t bytes)
{
    from.words = (uint8_t)((bytes + 3) / 4);
    if (from.kind == OPERAND_REGISTER)
        from.number = (uint16_t)(from.number + at / 4);
    else if (from.kind == OPERAND_CONSTANT)
        from.value = at < 8 ? from.value >> 8 * at : 0;
    return from;
}

/* One register or number of so many bytes: into {a, b}. */
static void unpack(struct ptx *ptx, const struct instruction *in, uint32_t bytes)
{
    const struct argument *to = &in->argument[0];
    struct operand from = ptx_emit_source(ptx, in, &in->argument[1]);
    uint32_t each = to->count ? bytes / to->count : 0;
    if (!each || (from.kind == OPERAND_REGISTER && from.words * 4u < bytes))
        return ptx_emit_not_known(ptx, in);
    for (uint32_t i = 0; i < to->count; i++) {
        struct result result;
        if (!ptx_emit_result(ptx, in, &to->items[i], &result))
            continue;
        ptx_emit(ptx, in,
                 (struct step){.kind = each < 4 ? STEP_MIX : STEP_MOVE,
                               .result = result.number,
                               .words = result.words,
                               .sources = 1,
                               .source = {part_of(from, i * each, each)}});
    }
}

static int is_passed(const struct argument *argument)
{
    return argument->kind == ARGUMENT_SYMBOL && argument->symbol->kind == SYMBOL_PASSED;
}

void lower_move(struct ptx *ptx, const struct instruction *in)
{
    const struct argument *to = &in->argument[0], *from = &in->argument[1];
    struct result result;
    if (to->kind == ARGUMENT_PREDICATE || in->count != 2)
        return to->kind == ARGUMENT_PREDICATE ? (void)0 : ptx_emit_not_known(ptx, in);
    if (from->kind == ARGUMENT_VECTOR && to->kind != ARGUMENT_VECTOR)
        return pack(ptx, in, ptx_emit_last_type(in).bytes);
    if (to->kind == ARGUMENT_VECTOR)
        return from->kind == ARGUMENT_VECTOR ? ptx_emit_not_known(ptx, in) : unpack(ptx, in, ptx_emit_last_type(in).bytes);
    if (is_passed(from)) { /* where it lies is nobody's business but that of what loads from there by this register */
        if (ptx_emit_result(ptx, in, to, &result))
            ptx_emit(ptx, in, (struct step){.kind = STEP_FORGET, .result = result.number, .words = result.words});
    } else if (from->kind == ARGUMENT_NAME) { /* where code lies */
        if (ptx_emit_result(ptx, in, to, &result))
            ptx_emit_move(ptx, in, result.number, result.words,
                          (struct operand){.kind = OPERAND_OTHER, .number = NO_REGISTER});
    } else {
        ptx_emit_plain(ptx, in, (struct step){.kind = STEP_MOVE}, 1);
    }
    ptx_places_note(ptx, in, to);
}

/* Addresses of shared memory, also of other blocks: nothing of the program's begins there. */
void lower_window(struct ptx *ptx, const struct instruction *in)
{
    struct result result;
    if (ptx_emit_result(ptx, in, &in->argument[0], &result))
        ptx_emit_move(ptx, in, result.number, result.words, (struct operand){.kind = OPERAND_OTHER, .number = NO_REGISTER});
}

void lower_cvta(struct ptx *ptx, const struct instruction *in)
{
    if (ptx_access_of(in).space == SPACE_SHARED)
        return lower_window(ptx, in);
    if (in->count != 2 || is_passed(&in->argument[1]))
        return ptx_emit_not_known(ptx, in);
    ptx_emit_plain(ptx, in, (struct step){.kind = STEP_MOVE}, 1);
    ptx_places_note(ptx, in, &in->argument[0]);
}

static int is_integer(struct type type)
{
    return type.kind == TYPE_UNSIGNED || type.kind == TYPE_SIGNED || type.kind == TYPE_BITS;
}

void lower_convert(struct ptx *ptx, const struct instruction *in)
{
    struct type to = in->type[0], from = in->type[1];
    struct result result;
    if (in->types != 2 || !is_integer(to) || !is_integer(from))
        return in->types >= 2 && ptx_emit_any_float(in) ? lower_numbers(ptx, in) : lower_mix(ptx, in);
    if (ptx_emit_has_part(in, "sat") || ptx_emit_has_part(in, "pack") || in->argument[1].kind != ARGUMENT_REGISTER)
        return lower_mix(ptx, in);
    struct operand source = ptx_emit_source(ptx, in, &in->argument[1]);
    if (!ptx_emit_result(ptx, in, &in->argument[0], &result))
        return;
    uint8_t smaller = to.bytes < from.bytes ? to.bytes : from.bytes, words = smaller < 8 ? 1 : 2;
    if (words > result.words || words > source.words)
        return ptx_emit_not_known(ptx, in);
    source.words = words;
    ptx_emit(ptx, in,
             (struct step){.kind = smaller < 4 ? STEP_MIX : STEP_MOVE,
                           .result = result.number,
                           .words = words,
                           .sources = 1,
                           .source = {source}});
    ptx_emit_extend(ptx, in, result, words,
                    smaller == to.bytes && to.bytes < from.bytes ? to.kind == TYPE_SIGNED : from.kind == TYPE_SIGNED);
}

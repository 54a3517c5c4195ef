/* SPDX-License-Identifier: Apache-2.0
 *
 * Instructions that make numbers of numbers. Called by the table.
 */
#include "interpose/code/ptx/ptx.h"

void lower_none(struct ptx *ptx, const struct instruction *in)
{
    (void)ptx;
    (void)in;
}

void lower_numbers(struct ptx *ptx, const struct instruction *in)
{
    if (in->count)
        ptx_emit_numbers(ptx, in, &in->argument[0]);
}

void lower_mix(struct ptx *ptx, const struct instruction *in)
{
    if (ptx_emit_any_float(in))
        lower_numbers(ptx, in);
    else
        ptx_emit_plain(ptx, in, (struct step){.kind = STEP_MIX}, 4);
}

/* Whole words, each one number. */
static int is_whole(struct type type)
{
    return type.kind != TYPE_PACKED && type.bytes >= 4;
}

void lower_sum(struct ptx *ptx, const struct instruction *in)
{
    struct step step = {.kind = STEP_SUM};
    step.source[1].negated = *in->part[0].at == 's';
    if (!is_whole(ptx_emit_last_type(in)) || ptx_emit_any_float(in) || in->count != 3) {
        lower_mix(ptx, in);
        return;
    }
    ptx_emit_plain(ptx, in, step, 2);
    if (!step.source[1].negated)
        ptx_places_note(ptx, in, &in->argument[0]);
}

void lower_negate(struct ptx *ptx, const struct instruction *in)
{
    struct step step = {.kind = STEP_SUM};
    step.source[0].negated = 1;
    if (!is_whole(ptx_emit_last_type(in)) || ptx_emit_any_float(in))
        lower_mix(ptx, in);
    else
        ptx_emit_plain(ptx, in, step, 1);
}

void lower_product(struct ptx *ptx, const struct instruction *in)
{
    struct step step = {.kind = STEP_PRODUCT};
    if (!is_whole(ptx_emit_last_type(in)) || ptx_emit_any_float(in)) {
        lower_mix(ptx, in);
        return;
    }
    if (lexer_span_is(in->part[0], "mul24") || lexer_span_is(in->part[0], "mad24")) { /* of some bits of the factors */
        step.kind = STEP_SUM;
        step.source[0].scaled = step.source[1].scaled = 1;
    }
    step.wide = (uint8_t)ptx_emit_has_part(in, "wide");
    step.upper = (uint8_t)ptx_emit_has_part(in, "hi");
    ptx_emit_plain(ptx, in, step, 3);
}

void lower_join(struct ptx *ptx, const struct instruction *in)
{
    int chosen = lexer_span_is(in->part[0], "selp") || lexer_span_is(in->part[0], "slct");
    if (chosen)
        ptx_emit_plain(ptx, in, (struct step){.kind = STEP_JOIN}, 2);
    else if (is_whole(ptx_emit_last_type(in)))
        ptx_emit_plain(ptx, in, (struct step){.kind = ptx_emit_any_float(in) ? STEP_FLOAT : STEP_JOIN},
                       ptx_emit_any_float(in) ? 0 : 2);
    else
        lower_mix(ptx, in);
}

static uint8_t table_of(const struct instruction *in)
{
    struct span name = in->part[0];
    if (lexer_span_is(name, "and"))
        return 0xf0 & 0xcc;
    if (lexer_span_is(name, "or"))
        return 0xf0 | 0xcc;
    return lexer_span_is(name, "xor") ? 0xf0 ^ 0xcc : 0x0f;
}

void lower_logic(struct ptx *ptx, const struct instruction *in)
{
    struct step step = {.kind = STEP_LOGIC, .table = table_of(in)};
    uint32_t sources = 2;
    if (in->argument[0].kind == ARGUMENT_PREDICATE)
        return;
    if (lexer_span_is(in->part[0], "lop3")) {
        if (in->count < 5 || in->argument[4].kind != ARGUMENT_NUMBER)
            return lower_mix(ptx, in);
        step.table = (uint8_t)in->argument[4].value;
        sources = 3;
    }
    if (is_whole(ptx_emit_last_type(in)))
        ptx_emit_plain(ptx, in, step, sources);
    else
        lower_mix(ptx, in);
}

/* Whether the arguments from `at` on are the place and the number of bits of one word of 64 bits. */
static int is_word_at(const struct instruction *in, uint32_t at, int64_t first)
{
    return in->count == at + 2 && ptx_emit_last_type(in).bytes == 8 && in->argument[0].words == 2 &&
           in->argument[at].kind == ARGUMENT_NUMBER && in->argument[at].value == first &&
           in->argument[at + 1].kind == ARGUMENT_NUMBER && in->argument[at + 1].value == 32;
}

/* One of an argument's two words. */
static struct operand word_of(struct ptx *ptx, const struct instruction *in, uint32_t argument, int upper)
{
    struct operand operand = ptx_emit_source(ptx, in, &in->argument[argument]);
    operand.words = 1;
    if (operand.kind == OPERAND_REGISTER)
        operand.number = (uint16_t)(operand.number + upper);
    else if (operand.kind == OPERAND_CONSTANT)
        operand.value = operand.value >> 32 * upper;
    return operand;
}

/* By 32 bits: words move. */
static void shift_words(struct ptx *ptx, const struct instruction *in, int right)
{
    struct result result;
    struct operand from = word_of(ptx, in, 1, right);
    if (!ptx_emit_result(ptx, in, &in->argument[0], &result))
        return;
    ptx_emit_move(ptx, in, (uint16_t)(result.number + !right), 1, from);
    if (right)
        ptx_emit_extend(ptx, in, result, 1, ptx_emit_last_type(in).kind == TYPE_SIGNED);
    else
        ptx_emit_move(ptx, in, result.number, 1, ptx_emit_operand_constant(0));
}

void lower_shift(struct ptx *ptx, const struct instruction *in)
{
    const struct argument *by = &in->argument[2], *of = &in->argument[1];
    int64_t bits = by->kind == ARGUMENT_NUMBER ? by->value : -1;
    if (bits == 0)
        ptx_emit_plain(ptx, in, (struct step){.kind = STEP_MOVE}, 1);
    else if (bits == 32 && ptx_emit_last_type(in).bytes == 8 && of->kind == ARGUMENT_REGISTER && of->words == 2 &&
             in->argument[0].words == 2)
        shift_words(ptx, in, lexer_span_is(in->part[0], "shr"));
    else
        lower_mix(ptx, in);
}

/* bfi.b64 d, a, b, 32, 32: two halves come together. The result may be an argument, too, so its upper word comes first. */
void lower_insert(struct ptx *ptx, const struct instruction *in)
{
    int upper = is_word_at(in, 3, 32);
    struct result result;
    if (!upper && !is_word_at(in, 3, 0))
        return lower_mix(ptx, in);
    struct operand a = word_of(ptx, in, 1, 0), b = word_of(ptx, in, 2, !upper);
    if (!ptx_emit_result(ptx, in, &in->argument[0], &result))
        return;
    ptx_emit_move(ptx, in, (uint16_t)(result.number + 1), 1, upper ? a : b);
    ptx_emit_move(ptx, in, result.number, 1, upper ? b : a);
}

/* bfe.u64 d, a, 32, 32: one of two halves. */
void lower_extract(struct ptx *ptx, const struct instruction *in)
{
    int upper = is_word_at(in, 2, 32);
    struct result result;
    if (!upper && !is_word_at(in, 2, 0))
        return lower_mix(ptx, in);
    struct operand half = word_of(ptx, in, 1, upper);
    if (!ptx_emit_result(ptx, in, &in->argument[0], &result))
        return;
    ptx_emit_move(ptx, in, result.number, 1, half);
    ptx_emit_extend(ptx, in, result, 1, ptx_emit_last_type(in).kind == TYPE_SIGNED);
}

/* Whole words of the one or the other. */
void lower_permute(struct ptx *ptx, const struct instruction *in)
{
    const struct argument *how = &in->argument[3];
    int plain = in->count == 4 && how->kind == ARGUMENT_NUMBER && in->parts == 2;
    struct step step = {.kind = STEP_MOVE};
    struct instruction of_second = *in;
    if (plain && (how->value & 0xffff) == 0x7654) {
        of_second.argument[1] = in->argument[2];
        ptx_emit_plain(ptx, &of_second, step, 1);
    } else if (plain && (how->value & 0xffff) == 0x3210) {
        ptx_emit_plain(ptx, in, step, 1);
    } else {
        lower_mix(ptx, in);
    }
}

/* What another thread has in the same register. */
void lower_shuffle(struct ptx *ptx, const struct instruction *in)
{
    ptx_emit_plain(ptx, in, (struct step){.kind = STEP_MOVE}, 1);
}

/* What is counted over a barrier's threads. */
void lower_barrier(struct ptx *ptx, const struct instruction *in)
{
    if (ptx_emit_has_part(in, "red") && in->count)
        ptx_emit_numbers(ptx, in, &in->argument[0]);
}

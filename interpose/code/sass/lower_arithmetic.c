/* SPDX-License-Identifier: Apache-2.0
 *
 * Moves and arithmetic, of vector and uniform registers alike. Called by lower(). An operand that is not known makes the
 * kernel unknown, but only where the result may be an address.
 */
#include "interpose/code/sass/sass.h"

struct work {
    struct reader *reader;
    const struct instruction *instruction;
    uint32_t number;
    struct step step;
    struct operands operands;
};

static void add_source(struct work *work, struct operand operand)
{
    work->step.source[work->step.sources++] = operand;
}

/* Ends it: with a result, and with operands that are all known. */
static void finish(struct work *work)
{
    for (uint32_t i = 0; i < work->step.sources; i++) {
        if (work->step.source[i].kind == OPERAND_NONE) {
            lower_cannot(work->reader, work->number, CODE_WHY_INSTRUCTION, "an operand that is not known");
            return;
        }
    }
    lower_add_step(work->reader, &work->step);
}

static int is_number(const struct operand *operand, int64_t number)
{
    return operand->kind == OPERAND_CONSTANT && operand->value == number && !operand->negated;
}

static int is_zero(const struct operand *operand)
{
    return operand->kind == OPERAND_CONSTANT && operand->value == 0;
}

/* Added, and multiplied before by more than 1. */
static void add_shifted(struct work *work, struct operand operand, int is_shifted)
{
    if (is_zero(&operand))
        return;
    operand.scaled |= (uint8_t)is_shifted;
    add_source(work, operand);
}

static void end_sum(struct work *work)
{
    if (work->step.sources == 0)
        add_source(work, operands_constant(0));
    work->step.kind = work->step.sources == 1 && !work->step.source[0].negated ? STEP_MOVE : STEP_SUM;
    finish(work);
}

static void lower_sum(struct work *work, int count)
{
    add_shifted(work, work->operands.a, 0);
    add_shifted(work, work->operands.b, 0);
    if (count == 3)
        add_shifted(work, work->operands.c, 0);
    end_sum(work);
}

static void lower_mix(struct work *work, int a, int b, int c)
{
    struct operand list[] = {work->operands.a, work->operands.b, work->operands.c};
    int wanted[] = {a, b, c};
    work->step.kind = STEP_MIX;
    for (int i = 0; i < 3; i++) {
        if (!wanted[i] || list[i].kind == OPERAND_CONSTANT)
            continue;
        list[i].words = 1; /* what is mixed has 32 bits, even where more comes out */
        add_source(work, list[i]);
    }
    if (!work->step.sources)
        work->step.kind = STEP_FLOAT;
    finish(work);
}

/* a shifted left, plus b; of the upper half, what of c and a is shifted into it. */
static void lower_lea(struct work *work)
{
    const struct instruction *instruction = work->instruction;
    uint32_t shift = decode_field(instruction, 75, 5), high = decode_field(instruction, 80, 1);
    work->operands.c.negated = 0; /* its bit is one of the shift's */
    if (instruction->form == 2)
        work->operands.b.negated = 0;
    if (!high) {
        add_shifted(work, work->operands.a, shift != 0);
        add_shifted(work, work->operands.b, 0);
    } else {
        if (!decode_field(instruction, 73, 1)) /* not the sign of a */
            add_shifted(work, work->operands.c, shift != 0);
        add_shifted(work, work->operands.b, 0);
        add_shifted(work, work->operands.a, 1);
    }
    end_sum(work);
}

static struct operand upper_word(struct operand operand)
{
    if (operand.kind == OPERAND_REGISTER)
        operand.number++;
    else if (operand.kind == OPERAND_CONSTANT)
        operand.value >>= 32;
    else if (operand.kind == OPERAND_PARAMETER || operand.kind == OPERAND_BANK)
        operand.value += 4;
    return operand;
}

/* Compilers move and add by products, too. */
static void lower_product(struct work *work, int wide, int upper)
{
    struct operands *operands = &work->operands;
    operands->a.negated = 0;
    if (is_zero(&operands->a) || is_zero(&operands->b)) {
        if (upper)
            operands->c = upper_word(operands->c);
        add_shifted(work, operands->c, 0);
        end_sum(work);
        return;
    }
    if (!wide && !upper && (is_number(&operands->b, 1) || is_number(&operands->a, 1))) {
        add_shifted(work, is_number(&operands->b, 1) ? operands->a : operands->b, 0);
        add_shifted(work, operands->c, 0);
        end_sum(work);
        return;
    }
    work->step.kind = STEP_PRODUCT;
    work->step.wide = (uint8_t)wide;
    work->step.upper = (uint8_t)upper;
    add_source(work, operands->a);
    add_source(work, operands->b);
    if (!is_zero(&operands->c)) {
        operands->c.words = upper ? 2 : 0;
        add_source(work, operands->c);
    }
    finish(work);
}

static void lower_logic(struct work *work)
{
    work->step.kind = STEP_LOGIC;
    work->step.table = (uint8_t)decode_field(work->instruction, 72, 8);
    work->operands.a.negated = 0;
    work->operands.b.negated = 0;
    work->operands.c.negated = 0;
    add_source(work, work->operands.a);
    add_source(work, work->operands.b);
    add_source(work, work->operands.c);
    finish(work);
}

static void lower_permute(struct work *work)
{
    enum { WHOLE_A = 0x3210, WHOLE_C = 0x7654 };
    int64_t selector = work->operands.b.value & 0xffff;
    int is_plain = work->operands.b.kind == OPERAND_CONSTANT && decode_field(work->instruction, 72, 3) == 0;
    work->operands.a.negated = 0;
    work->operands.b.negated = 0;
    work->operands.c.negated = 0;
    if (!is_plain || (selector != WHOLE_A && selector != WHOLE_C)) {
        lower_mix(work, 1, !is_plain, 1);
        return;
    }
    work->step.kind = STEP_MOVE;
    add_source(work, selector == WHOLE_A ? work->operands.a : work->operands.c);
    finish(work);
}

static void lower_select(struct work *work, int count)
{
    work->step.kind = STEP_JOIN;
    work->operands.a.negated = 0;
    work->operands.b.negated = 0;
    work->operands.c.negated = 0;
    add_source(work, work->operands.a);
    add_source(work, work->operands.b);
    if (count == 3)
        add_source(work, work->operands.c);
    finish(work);
}

/* What a float's select changes on the way is no address. */
static void lower_select_float(struct work *work)
{
    const struct instruction *instruction = work->instruction;
    int has_register = instruction->form != 4;
    if (decode_field(instruction, 72, 2) || decode_field(instruction, 80, 1) ||
        (has_register && decode_field(instruction, 62, 2)))
        lower_mix(work, 1, 1, 0);
    else
        lower_select(work, 2);
}

/* The second operand where it has 64 bits on each side: a register at bit 32, a sign-extended number or a uniform one. */
static void lower_select_64(struct work *work)
{
    const struct instruction *instruction = work->instruction;
    switch (instruction->form) {
    case 2: work->operands.b = operands_constant(decode_signed_field(instruction, 32, 32)); break;
    case 3: work->operands.b = operands_vector(instruction, 32); break;
    default: work->operands.b = operands_uniform(instruction, 32); break;
    }
    lower_select(work, 2);
}

static void lower_move(struct work *work)
{
    work->step.kind = STEP_MOVE;
    work->operands.b.negated = 0;
    if (work->instruction->opcode->operation == OP_MOVE_MASKED && decode_field(work->instruction, 72, 4) != 15) {
        work->step.kind = STEP_JOIN;
        add_source(work, operands_register(work->step.result));
    }
    add_source(work, work->operands.b);
    finish(work);
}

static void lower_move_64(struct work *work)
{
    enum { LOW_BITS = 40 };
    uint64_t low = work->instruction->low >> (64 - LOW_BITS);
    work->step.kind = STEP_MOVE;
    add_source(work, operands_constant((int64_t)(work->instruction->high << LOW_BITS | low)));
    finish(work);
}

/* A sum of halves that comes out as it is written, since what is multiplied is 0. */
static void lower_halves(struct work *work)
{
    const struct instruction *instruction = work->instruction;
    int is_constant = instruction->form == 2 && is_zero(&work->operands.a) && is_zero(&work->operands.b);
    work->step.kind = is_constant ? STEP_MOVE : STEP_FLOAT;
    if (is_constant)
        add_source(work, operands_constant((int32_t)decode_field(instruction, 32, 32)));
    finish(work);
}

static void lower_special(struct work *work)
{
    enum { NUMBER = 72, ZERO = 255 };
    int is_zero_register = decode_field(work->instruction, NUMBER, 8) == ZERO;
    work->step.kind = STEP_MOVE;
    add_source(work, is_zero_register ? operands_constant(0) : operands_other());
    finish(work);
}

/* Lanes hold the same kinds of things, so another lane's word begins with what its own may. */
static void lower_from_lane(struct work *work)
{
    work->step.kind = STEP_MOVE;
    work->step.sources = 0;
    add_source(work, operands_vector(work->instruction, 24));
    if (work->instruction->opcode->operation == OP_REDUCE)
        work->step.kind = STEP_MIX;
    finish(work);
}

static int is_packed(const struct instruction *instruction)
{
    return decode_field(instruction, 73, 2) != 0;
}

static int lower_moves(struct work *work)
{
    switch (work->instruction->opcode->operation) {
    case OP_MOVE:
    case OP_MOVE_MASKED: lower_move(work); return 1;
    case OP_MOVE_64: lower_move_64(work); return 1;
    case OP_SELECT: lower_select(work, 2); return 1;
    case OP_SELECT_64: lower_select_64(work); return 1;
    case OP_SELECT_FLOAT: lower_select_float(work); return 1;
    case OP_SPECIAL: lower_special(work); return 1;
    case OP_SHUFFLE:
    case OP_FROM_VECTOR:
    case OP_REDUCE: lower_from_lane(work); return 1;
    case OP_HALVES: lower_halves(work); return 1;
    case OP_NUMBER:
        work->step.kind = STEP_FLOAT;
        lower_add_step(work->reader, &work->step);
        return 1;
    default: return 0;
    }
}

static int lower_integers(struct work *work)
{
    switch (work->instruction->opcode->operation) {
    case OP_SELECT_3:
        if (is_packed(work->instruction))
            lower_mix(work, 1, 1, 1);
        else
            lower_select(work, 3);
        return 1;
    case OP_SELECT_PACKED:
        if (is_packed(work->instruction))
            lower_mix(work, 1, 1, 0);
        else
            lower_select(work, 2);
        return 1;
    case OP_SUM_2: lower_sum(work, 2); return 1;
    case OP_SUM_2_PACKED:
        if (is_packed(work->instruction))
            lower_mix(work, 1, 1, 0);
        else
            lower_sum(work, 2);
        return 1;
    case OP_SUM_3: lower_sum(work, 3); return 1;
    case OP_LEA: lower_lea(work); return 1;
    case OP_PRODUCT: lower_product(work, 0, 0); return 1;
    case OP_PRODUCT_WIDE: lower_product(work, 1, 0); return 1;
    case OP_PRODUCT_HIGH: lower_product(work, 0, 1); return 1;
    case OP_LOGIC: lower_logic(work); return 1;
    case OP_PERMUTE: lower_permute(work); return 1;
    case OP_MIX_A: lower_mix(work, 1, 0, 0); return 1;
    case OP_MIX_B: lower_mix(work, 0, 1, 0); return 1;
    case OP_MIX_AB: lower_mix(work, 1, 1, 0); return 1;
    case OP_MIX_ABC: lower_mix(work, 1, 1, 1); return 1;
    default: return 0;
    }
}

int lower_arithmetic(struct reader *reader, uint32_t number)
{
    const struct instruction *instruction = &reader->instruction[number];
    if (instruction->opcode->operation > OP_REDUCE)
        return 0;
    struct work work = {.reader = reader, .instruction = instruction, .number = number};
    work.step = lower_step_of(reader, number, STEP_NONE);
    /* Without a result only the predicates count. */
    if (work.step.result == NO_REGISTER) {
        if (work.step.sets[0] || work.step.sets[1])
            lower_add_step(reader, &work.step);
        return 1;
    }
    work.step.words = (uint8_t)instruction->result[0].count;
    if (instruction->opcode->operation != OP_NUMBER)
        work.operands = operands_of(reader, number);
    return lower_moves(&work) || lower_integers(&work);
}

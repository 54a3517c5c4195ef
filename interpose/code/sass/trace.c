/* SPDX-License-Identifier: Apache-2.0
 *
 * What a register has for certain: constants, and addresses of symbols, as the compiler puts them into registers shortly
 * before it uses them. Called for calls by register and for reads of constant bank 4. Looks back over the instructions that
 * are done whenever the one that asks is; gives up where something may jump in between, or after a number of steps.
 */
#include "interpose/code/sass/sass.h"

enum { LOOK_BACK = 512, DEEP = 8, ADDRESSES = 4 };

static int changes(const struct instruction *instruction, uint32_t wanted)
{
    for (int i = 0; i < 2; i++) {
        const struct run *run = &instruction->result[i];
        if (wanted >= run->first && wanted - run->first < run->count)
            return 1;
    }
    return 0;
}

static int calls(const struct instruction *instruction)
{
    return !instruction->opcode || instruction->opcode->operation == OP_CALL;
}

/* The instruction that gave the register what it has; UINT32_MAX: that is not certain. */
static uint32_t last_change(const struct reader *reader, uint32_t number, uint32_t wanted)
{
    const struct part *part = &reader->part[reader->instruction[number].part];
    const struct instruction *asks = &reader->instruction[number];
    for (uint32_t i = 0; i < LOOK_BACK && number > part->first && !reader->begins[number]; i++) {
        const struct instruction *before = &reader->instruction[--number];
        if (calls(before))
            break;
        if (!changes(before, wanted))
            continue;
        int is_sure = !before->never &&
                      (!before->guard || (before->guard == asks->guard && before->guard_negated == asks->guard_negated));
        return is_sure ? number : UINT32_MAX;
    }
    return UINT32_MAX;
}

static struct traced look(const struct reader *reader, uint32_t number, uint32_t wanted, uint32_t depth);

static struct traced of_operand(const struct reader *reader, uint32_t number, struct operand operand, uint32_t depth)
{
    if (operand.negated)
        return (struct traced){TRACED_NOT, 0, 0};
    if (operand.kind == OPERAND_CONSTANT)
        return (struct traced){TRACED_NUMBER, (uint32_t)operand.value, 0};
    return operand.kind == OPERAND_REGISTER ? look(reader, number, operand.number, depth)
                                            : (struct traced){TRACED_NOT, 0, 0};
}

static struct operand immediate_or(const struct reader *reader, uint32_t number, struct operand operand, int is_immediate)
{
    const struct instruction *instruction = &reader->instruction[number];
    if (!is_immediate)
        return operand;
    return parts_fix(reader, number)->type ? operands_none() : operands_constant(decode_field(instruction, 32, 32));
}

/* A load from bank 4 gives a symbol. */
static struct traced of_constant(const struct reader *reader, uint32_t number, uint32_t depth)
{
    const struct instruction *instruction = &reader->instruction[number];
    int is_vector = instruction->opcode->file == FILE_VECTOR;
    struct operand index = is_vector ? operands_vector(instruction, 24) : operands_uniform(instruction, 24);
    int64_t offset = instruction->arch >= 100 && !is_vector ? decode_signed_field(instruction, 37, 17)
                                                            : decode_signed_field(instruction, 38, 16);
    if (decode_field(instruction, 54, 5) != ADDRESSES || instruction->opcode->code == 0x0b9)
        index = operands_constant(0);
    struct traced traced = of_operand(reader, number, index, depth);
    if (decode_field(instruction, 54, 5) != ADDRESSES || traced.kind != TRACED_NUMBER)
        return (struct traced){TRACED_NOT, 0, 0};
    uint32_t symbol = sass_symbols_in_bank_4(reader, offset + (int32_t)traced.number);
    return symbol == UINT32_MAX ? (struct traced){TRACED_NOT, 0, 0} : (struct traced){TRACED_SYMBOL, 0, symbol};
}

static struct traced of_product(const struct reader *reader, uint32_t number, uint32_t depth)
{
    const struct instruction *instruction = &reader->instruction[number];
    int is_immediate = instruction->form == 2;
    if (decode_field(instruction, 24, 8) != VECTOR_ZERO ||
        (instruction->form != 1 && !is_immediate && instruction->form != 4))
        return (struct traced){TRACED_NOT, 0, 0};
    struct operand added = immediate_or(reader, number, operands_vector(instruction, 64), is_immediate);
    added.negated = (uint8_t)(decode_field(instruction, 75, 1) && !is_immediate);
    return of_operand(reader, number, added, depth);
}

static struct traced of_move(const struct reader *reader, uint32_t number, uint32_t depth)
{
    const struct instruction *instruction = &reader->instruction[number];
    int is_vector = instruction->opcode->file == FILE_VECTOR && instruction->form == 1;
    if (instruction->form == 5 ||
        (instruction->opcode->operation == OP_MOVE_MASKED && decode_field(instruction, 72, 4) != 15))
        return (struct traced){TRACED_NOT, 0, 0};
    struct operand from = is_vector ? operands_vector(instruction, 32) : operands_uniform(instruction, 32);
    return of_operand(reader, number, immediate_or(reader, number, from, instruction->form == 4), depth);
}

static struct traced of_halves(const struct instruction *instruction)
{
    int is_zero = decode_field(instruction, 24, 8) == VECTOR_ZERO && decode_field(instruction, 64, 8) == VECTOR_ZERO;
    if (instruction->form != 2 || !is_zero)
        return (struct traced){TRACED_NOT, 0, 0};
    return (struct traced){TRACED_NUMBER, decode_field(instruction, 32, 32), 0};
}

static struct traced look(const struct reader *reader, uint32_t number, uint32_t wanted, uint32_t depth)
{
    uint32_t at = depth < DEEP ? last_change(reader, number, wanted) : UINT32_MAX;
    if (at == UINT32_MAX || wanted != reader->instruction[at].result[0].first)
        return (struct traced){TRACED_NOT, 0, 0};
    const struct instruction *instruction = &reader->instruction[at];
    switch (instruction->opcode->operation) {
    case OP_MOVE:
    case OP_MOVE_MASKED: return of_move(reader, at, depth + 1);
    case OP_FROM_VECTOR: return of_operand(reader, at, operands_vector(instruction, 24), depth + 1);
    case OP_PRODUCT: return of_product(reader, at, depth + 1);
    case OP_HALVES: return of_halves(instruction);
    case OP_CONSTANT: return of_constant(reader, at, depth + 1);
    default: return (struct traced){TRACED_NOT, 0, 0};
    }
}

struct traced trace(const struct reader *reader, uint32_t number, uint32_t wanted)
{
    return look(reader, number, wanted, 0);
}

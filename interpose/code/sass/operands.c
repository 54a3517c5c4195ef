/* SPDX-License-Identifier: Apache-2.0
 *
 * The operands of steps from the fields of instructions. Called by whatever lowers instructions.
 */
#include "interpose/code/sass/sass.h"

struct operand operands_none(void)
{
    return (struct operand){.kind = OPERAND_NONE, .number = NO_REGISTER, .variable = NO_VARIABLE};
}

struct operand operands_constant(int64_t value)
{
    return (struct operand){.kind = OPERAND_CONSTANT, .number = NO_REGISTER, .variable = NO_VARIABLE, .value = value};
}

struct operand operands_other(void)
{
    return (struct operand){.kind = OPERAND_OTHER, .number = NO_REGISTER, .variable = NO_VARIABLE};
}

struct operand operands_register(uint32_t number)
{
    return (struct operand){.kind = OPERAND_REGISTER, .number = (uint16_t)number, .variable = NO_VARIABLE};
}

struct operand operands_vector(const struct instruction *instruction, uint32_t first_bit)
{
    uint32_t number = decode_field(instruction, first_bit, 8);
    return number == VECTOR_ZERO ? operands_constant(0) : operands_register(number);
}

struct operand operands_uniform(const struct instruction *instruction, uint32_t first_bit)
{
    uint32_t bits = instruction->arch < 100 ? 6 : 8, number = decode_field(instruction, first_bit, bits);
    return number == (1u << bits) - 1 ? operands_constant(0) : operands_register(UNIFORM + number);
}

static struct operand in_file(const struct instruction *instruction, uint32_t first_bit)
{
    return instruction->opcode->file == FILE_UNIFORM ? operands_uniform(instruction, first_bit)
                                                     : operands_vector(instruction, first_bit);
}

/* The immediate, or the half of a symbol's address that the linker puts there. */
static struct operand immediate(struct reader *reader, uint32_t number)
{
    const struct instruction *instruction = &reader->instruction[number];
    struct operand operand;
    if (sass_symbols_immediate(reader, number, &operand))
        return operand;
    return operands_constant(decode_signed_field(instruction, 32, 32));
}

/* Constant memory that arithmetic names: words. */
static struct operand bank_word(struct reader *reader, uint32_t number)
{
    enum { WORDS = 40, BITS = 14, BANK = 54, BANK_BITS = 5, THROUGH_HANDLE = 91 };
    const struct instruction *instruction = &reader->instruction[number];
    if (decode_field(instruction, THROUGH_HANDLE, 1))
        return operands_none();
    return sass_symbols_bank(reader, number, decode_field(instruction, BANK, BANK_BITS),
                             4 * (int64_t)decode_field(instruction, WORDS, BITS), NO_REGISTER);
}

/* The two operands behind the first, by form; c is that which form 1 has at bit 64. */
static void by_form(struct reader *reader, uint32_t number, struct operands *operands)
{
    const struct instruction *instruction = &reader->instruction[number];
    int first_is_other = instruction->form >= 4 && instruction->form <= 6;
    struct operand other;
    switch (instruction->form) {
    case 1: other = in_file(instruction, 32); break;
    case 2:
    case 4: other = immediate(reader, number); break;
    case 3:
    case 5: other = bank_word(reader, number); break;
    default: other = operands_uniform(instruction, 32); break;
    }
    if (instruction->form == 1 || first_is_other) {
        operands->b = other;
        operands->c = in_file(instruction, 64);
    } else {
        operands->b = in_file(instruction, 64);
        operands->c = other;
    }
}

struct operands operands_of(struct reader *reader, uint32_t number)
{
    enum { NEGATED_A = 72, NEGATED_OTHER = 63, NEGATED_C = 75 };
    const struct instruction *instruction = &reader->instruction[number];
    struct operands operands;
    uint8_t other =
        (uint8_t)(instruction->form != 2 && instruction->form != 4 && decode_field(instruction, NEGATED_OTHER, 1));
    uint8_t last = (uint8_t)decode_field(instruction, NEGATED_C, 1);
    int swapped = instruction->form == 2 || instruction->form == 3 || instruction->form == 7;
    operands.a = in_file(instruction, 24);
    by_form(reader, number, &operands);
    operands.a.negated = (uint8_t)decode_field(instruction, NEGATED_A, 1);
    operands.b.negated = swapped ? last : other;
    operands.c.negated = swapped ? other : last;
    return operands;
}

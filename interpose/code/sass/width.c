/* SPDX-License-Identifier: Apache-2.0
 *
 * How many registers an instruction changes, loads or stores: the fact on which all else rests, since a word that is taken
 * for changed and is not, or the other way round, gives an address to the wrong pointer. Called by the decoder. Each rule
 * is compared with a disassembler over all its types (tests/code/decode_against_nvdisasm.py); a type that is not listed is
 * not known.
 */
#include "interpose/code/sass/sass.h"

enum { TYPE = 73 };

/* Of a list by number, 0 for what is not known. */
static int listed(const uint8_t *words, uint32_t count, uint32_t number)
{
    return number < count && words[number] ? words[number] : -1;
}
#define LISTED(number, ...) listed((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}), number)

/* Bytes and halves with and without a sign, 32, 64, 128 bits; sm_75 has another word for 128. */
static int of_memory(const struct instruction *instruction)
{
    uint32_t type = decode_field(instruction, TYPE, 3);
    return type == 7 && instruction->arch >= 80 ? -1 : LISTED(type, 1, 1, 1, 1, 1, 2, 4, 4);
}

static int of_constant(const struct instruction *instruction)
{
    if (instruction->arch >= 100 && decode_field(instruction, 80, 1)) /* a texture's handle, taken apart */
        return -1;
    return instruction->arch >= 100 ? LISTED(decode_field(instruction, TYPE, 3), 1, 1, 1, 1, 1, 2, 4)
                                    : LISTED(decode_field(instruction, TYPE, 3), 1, 1, 1, 1, 1, 2);
}

static int of_vector_constant(const struct instruction *instruction)
{
    return LISTED(decode_field(instruction, TYPE, 3), 1, 1, 1, 1, 1, 2);
}

/* Before sm_90 floats are among the types. */
static int of_atomic(const struct instruction *instruction)
{
    uint32_t type = decode_field(instruction, TYPE, 3);
    return instruction->arch < 90 ? LISTED(type, 1, 1, 2, 1, 1, 2, 2) : LISTED(type, 1, 1, 2, 2, 4);
}

static uint32_t float_type(const struct instruction *instruction)
{
    return decode_field(instruction, TYPE, 4) | decode_field(instruction, 87, 1) << 4;
}

static int of_atomic_float(const struct instruction *instruction)
{
    return LISTED(float_type(instruction), 1, 2, 4, 1, 2, 4, 0, 0, 0, 1, 2, 4, 1, 2, 4, 2);
}

/* sm_100 has eight-bit floats, too. */
static int of_multicast(const struct instruction *instruction)
{
    uint32_t type = float_type(instruction);
    return type > 16 && instruction->arch >= 100 ? LISTED(type - 17, 1, 2, 4, 1, 2, 4) : of_atomic_float(instruction);
}

static int of_shared_atomic(const struct instruction *instruction)
{
    uint32_t type = decode_field(instruction, TYPE, 3);
    return instruction->arch < 90 ? LISTED(type, 1, 1, 2) : LISTED(type, 1, 1, 2, 2, 4);
}

/* Four registers twice, where all of them are loaded or stored. */
static int of_halves(const struct instruction *instruction)
{
    int is_load = instruction->opcode->operation == OP_LOAD_WIDE;
    int is_whole = is_load ? decode_field(instruction, 57, 7) == 0x7f && decode_field(instruction, 87, 4) == 0
                           : decode_field(instruction, 59, 5) == 0x1f;
    return is_whole && decode_field(instruction, TYPE, 3) == 4 ? 4 : -1;
}

/* Matrices of other shapes have other numbers. */
static int of_matrix(const struct instruction *instruction)
{
    if (decode_field(instruction, 78, 3) > 1)
        return -1;
    return LISTED(decode_field(instruction, 72, 2), 1, 2, 4);
}

static int of_float_mma(const struct instruction *instruction)
{
    return decode_field(instruction, 76, 1) ? 4 : 2;
}

/* By the matrix' width: 8 columns and so on up to 256, half a register each, or a quarter where they are packed. */
static int of_group_mma_float(const struct instruction *instruction)
{
    uint32_t columns = 8 * (decode_field(instruction, 53, 5) + 1), wide = decode_field(instruction, 75, 1);
    uint32_t short_rows = decode_field(instruction, 58, 1), eight_bits = decode_field(instruction, 59, 1);
    int is_eight = instruction->opcode->code == 0x1f3;
    if (is_eight ? short_rows : eight_bits || (short_rows && !wide))
        return -1;
    return (int)(wide ? columns / 2 : columns / 4);
}

static int of_group_mma_integer(const struct instruction *instruction)
{
    uint32_t number = decode_field(instruction, 53, 6), step = number / 3;
    if (number % 3 || step > 17)
        return -1;
    return (int)(step < 4 ? 8 * (step + 1) : 32 + 16 * (step - 3)) / 2;
}

static int of_integer_mma(const struct instruction *instruction)
{
    uint32_t shape = decode_field(instruction, 85, 2);
    if (shape == 0 && (instruction->arch < 80 || !decode_field(instruction, 75, 1)))
        return 2;
    return shape == 2 && instruction->arch >= 80 ? 4 : -1;
}

/* The type of what comes out: 64 bits where it says 3. */
static int of_conversion(const struct instruction *instruction, uint32_t bits)
{
    return decode_field(instruction, 75, bits) == 3 ? 2 : 1;
}

static int is_from_integer(const struct instruction *instruction)
{
    return instruction->opcode->code == 0x112;
}

/* How many of its four numbers a texture gives. */
static int of_texture(const struct instruction *instruction)
{
    int count = __builtin_popcount(decode_field(instruction, 72, 4));
    return count ? count : -1;
}

int width_is_narrow(const struct instruction *instruction)
{
    switch (instruction->opcode->operation) {
    case OP_LOAD:
    case OP_STORE:
    case OP_CONSTANT: return decode_field(instruction, TYPE, 3) < 4;
    default: return 0;
    }
}

static int of_registers(const struct instruction *instruction)
{
    switch (instruction->opcode->width) {
    case WIDTH_0: return 0;
    case WIDTH_1: return 1;
    case WIDTH_2: return 2;
    case WIDTH_SPECIAL: return decode_field(instruction, 80, 1) ? 2 : 1;
    case WIDTH_MOVE: return instruction->form != 4 && instruction->arch >= 120 && decode_field(instruction, 80, 1) ? 2 : 1;
    case WIDTH_SUM: return decode_field(instruction, 73, 1) ? 2 : 1;
    case WIDTH_LARGER: return instruction->arch >= 120 && decode_field(instruction, 74, 1) ? 2 : 1;
    case WIDTH_MOVE_MATRIX: return LISTED(decode_field(instruction, 78, 2), 1, 2, 2);
    case WIDTH_FLOAT_MMA: return of_float_mma(instruction);
    case WIDTH_INTEGER_MMA: return of_integer_mma(instruction);
    case WIDTH_BINARY_MMA: return LISTED(decode_field(instruction, 75, 2), 2, 4, 4);
    case WIDTH_DOUBLE_MMA: return instruction->arch >= 90 && decode_field(instruction, 76, 2) ? 8 : 4;
    case WIDTH_TO_FLOAT: return of_conversion(instruction, instruction->arch < 80 || is_from_integer(instruction) ? 2 : 3);
    case WIDTH_TO_INTEGER: return of_conversion(instruction, 2);
    default: return -1;
    }
}

int width_of(const struct instruction *instruction)
{
    switch (instruction->opcode->width) {
    case WIDTH_MEMORY:
        return instruction->opcode->operation == OP_CONSTANT ? of_vector_constant(instruction) : of_memory(instruction);
    case WIDTH_UNIFORM_CONSTANT: return of_constant(instruction);
    case WIDTH_ATOMIC: return of_atomic(instruction);
    case WIDTH_ATOMIC_FLOAT: return of_atomic_float(instruction);
    case WIDTH_MULTICAST: return of_multicast(instruction);
    case WIDTH_SHARED_ATOMIC: return of_shared_atomic(instruction);
    case WIDTH_SURFACE: return of_memory(instruction);
    case WIDTH_HALVES: return of_halves(instruction);
    case WIDTH_MATRIX: return of_matrix(instruction);
    case WIDTH_GROUP_MMA_FLOAT: return of_group_mma_float(instruction);
    case WIDTH_GROUP_MMA_INTEGER: return of_group_mma_integer(instruction);
    case WIDTH_TEXTURE: return of_texture(instruction);
    default: return of_registers(instruction);
    }
}

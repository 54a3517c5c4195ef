/* SPDX-License-Identifier: Apache-2.0
 *
 * From 128 bits to an instruction: which operation, under which guard, which registers and predicates it changes. Called
 * for each instruction of a kernel. What is not known for certain is not known at all: it never guesses a width.
 */
#include "interpose/code/sass/sass.h"

#include <string.h>

uint32_t decode_field(const struct instruction *instruction, uint32_t first, uint32_t bits)
{
    uint64_t value = first >= 64 ? instruction->high >> (first - 64) : instruction->low >> first;
    if (first < 64 && first + bits > 64)
        value |= instruction->high << (64 - first);
    return (uint32_t)(value & ((1ull << bits) - 1));
}

int64_t decode_signed_field(const struct instruction *instruction, uint32_t first, uint32_t bits)
{
    uint64_t value = first >= 64 ? instruction->high >> (first - 64) : instruction->low >> first;
    if (first && first < 64 && first + bits > 64)
        value |= instruction->high << (64 - first);
    return (int64_t)(value << (64 - bits)) >> (64 - bits);
}

static int is_uniform(const struct instruction *instruction)
{
    return instruction->opcode->file == FILE_UNIFORM;
}

/* The number of predicate 0 to 6 in the file. */
static uint16_t predicate(const struct instruction *instruction, uint32_t number)
{
    return (uint16_t)((is_uniform(instruction) ? UNIFORM_PREDICATE : 1) + number);
}

static void set_guard(struct instruction *instruction)
{
    uint32_t number = decode_field(instruction, 12, 3), negated = decode_field(instruction, 15, 1);
    instruction->guard = number == 7 ? NO_PREDICATE : predicate(instruction, number);
    instruction->guard_negated = number != 7 && negated;
    instruction->never = number == 7 && negated;
}

static void set_predicate(struct instruction *instruction, uint32_t place, uint32_t first_bit)
{
    uint32_t number = decode_field(instruction, first_bit, 3);
    instruction->sets[place] = number == 7 ? NO_PREDICATE : predicate(instruction, number);
}

static void set_predicates(struct instruction *instruction)
{
    enum { FIRST = 81, SECOND = 84, FILLED = 87 };
    uint32_t arch = instruction->arch;
    switch (instruction->opcode->sets) {
    case SETS_ONE: set_predicate(instruction, 0, FIRST); break;
    case SETS_LARGER:
        if (arch < 120)
            break;
        set_predicate(instruction, 0, FIRST);
        set_predicate(instruction, 1, SECOND);
        break;
    case SETS_COMPARED:
        if (arch >= 120)
            break;
        /* fall through */
    case SETS_TWO:
        set_predicate(instruction, 0, FIRST);
        set_predicate(instruction, 1, SECOND);
        break;
    case SETS_ALL: instruction->sets[0] = ALL_PREDICATES; break;
    case SETS_RESULT:
        if (decode_field(instruction, 78, 1))
            set_predicate(instruction, 0, FIRST);
        break;
    case SETS_MATCH:
        if (decode_field(instruction, 79, 1) == 0)
            set_predicate(instruction, 0, FIRST);
        break;
    case SETS_SWAPPED:
        if (instruction->form == 2)
            set_predicate(instruction, 0, FIRST);
        break;
    case SETS_ZERO_FILL: set_predicate(instruction, 0, FILLED); break;
    case SETS_OLD_ZERO_FILL:
        if (arch < 80 && decode_field(instruction, FILLED, 1))
            set_predicate(instruction, 0, FIRST);
        break;
    default: break;
    }
}

/* Registers from that field on; zero registers are none. */
static void set_run(struct instruction *instruction, uint32_t place, uint32_t first_bit, uint32_t count)
{
    int uniform = is_uniform(instruction) || instruction->opcode->file == FILE_TO_UNIFORM;
    uint32_t bits = uniform && instruction->arch < 100 ? 6 : 8, zero = (1u << bits) - 1;
    uint32_t first = decode_field(instruction, first_bit, bits);
    struct run *run = &instruction->result[place];
    if (first == zero || !count)
        return;
    if (count > zero - first)
        count = zero - first;
    run->first = (uint16_t)((uniform ? UNIFORM : 0) + first);
    run->count = (uint16_t)count;
}

/* A texture's numbers go to two places, two to each; halves are packed. The second is the zero register where two are
 * all. */
static void set_texture(struct instruction *instruction, uint32_t count)
{
    int packed = instruction->opcode->operation == OP_TEXTURE_READ && decode_field(instruction, 79, 2) != 0;
    uint32_t first = count > 2 ? 2 : count, second = count > 3 ? 2 : 1;
    set_run(instruction, 0, 16, packed ? (first + 1) / 2 : first);
    set_run(instruction, 1, 64, packed ? (second + 1) / 2 : second);
}

static int has_result(const struct instruction *instruction)
{
    switch (instruction->opcode->operation) {
    case OP_STORE:
    case OP_STORE_WIDE:
    case OP_STORE_MATRIX:
    case OP_REDUCTION:
    case OP_TO_SHARED:
    case OP_REMOTE_STORE:
    case OP_SURFACE_WRITE:
    case OP_SURFACE_ATOMIC: return 0;
    case OP_ATOMIC_SWAP: return instruction->opcode->sets != SETS_SWAPPED || instruction->form != 2;
    default: return 1;
    }
}

/* On sm_100 to sm_110 a bit makes another operation of some. */
static int is_another(const struct instruction *instruction)
{
    enum { ANOTHER = 76 };
    switch (instruction->opcode->operation) {
    case OP_SUM_3:
    case OP_PRODUCT:
    case OP_PRODUCT_WIDE:
        return instruction->arch >= 100 && instruction->arch < 120 && instruction->opcode->file == FILE_VECTOR &&
               decode_field(instruction, ANOTHER, 1);
    default: return 0;
    }
}

int decode(const struct opcodes *opcodes, const uint8_t *code, uint32_t arch, struct instruction *instruction)
{
    memcpy(&instruction->low, code, 8);
    memcpy(&instruction->high, code + 8, 8);
    instruction->arch = (uint16_t)arch;
    instruction->opcode = opcodes_find(opcodes, (uint32_t)instruction->low & (CODES - 1));
    instruction->form = (uint8_t)decode_field(instruction, 9, 3);
    if (!instruction->opcode || is_another(instruction))
        return 0;
    set_guard(instruction);
    set_predicates(instruction);
    int width = width_of(instruction);
    if (width < 0)
        return 0;
    instruction->words = (uint8_t)width;
    instruction->narrow = (uint8_t)width_is_narrow(instruction);
    if (!has_result(instruction))
        return 1;
    if (instruction->opcode->width == WIDTH_TEXTURE)
        set_texture(instruction, (uint32_t)width);
    else
        set_run(instruction, 0, 16, (uint32_t)width);
    if (instruction->opcode->operation == OP_LOAD_WIDE)
        set_run(instruction, 1, 64, (uint32_t)width);
    return 1;
}

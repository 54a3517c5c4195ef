/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads, stores and atomic operations, and loads from constant memory. Called by lower(). Where an address' fields lie, and
 * whether a uniform register is part of it or only describes the memory, differs by operation and architecture.
 */
#include "interpose/code/sass/sass.h"

enum { REGISTER = 24, DATA = 32, SECOND = 64, OFFSET = 40, HAS_UNIFORM = 91, IS_LONG = 72, SCALE = 78 };

enum place { PLACE_LOAD, PLACE_STORE, PLACE_ATOMIC, PLACE_REDUCTION };

static enum place place_of(const struct instruction *instruction)
{
    switch (instruction->opcode->operation) {
    case OP_STORE:
    case OP_STORE_MATRIX:
    case OP_STORE_WIDE: return PLACE_STORE;
    case OP_ATOMIC:
    case OP_ATOMIC_SWAP:
    case OP_MULTICAST_LOAD: return PLACE_ATOMIC;
    case OP_REDUCTION: return PLACE_REDUCTION;
    default: return PLACE_LOAD;
    }
}

static enum space space_of(const struct instruction *instruction)
{
    switch (instruction->opcode->code) {
    case 0x03b: /* LDSM */
    case 0x044: /* STSM */
    case 0x184: /* LDS */
    case 0x188: /* STS */
    case 0x18c: /* ATOMS */
    case 0x18d: return SPACE_SHARED;
    case 0x183: /* LDL */
    case 0x187: return SPACE_LOCAL;
    case 0x180: /* LD */
    case 0x185: /* ST */
    case 0x18a: /* ATOM */
    case 0x18b:
    case 0x1a2: return SPACE_GENERIC;
    default: return SPACE_GLOBAL;
    }
}

static void add_part(struct step *step, struct operand operand, uint32_t words)
{
    if (operand.kind == OPERAND_CONSTANT && operand.value == 0)
        return;
    operand.words = (uint8_t)words;
    step->part[step->parts++] = operand;
}

/* 1: the vector register of an address with a uniform one beside it has 64 bits. */
static uint32_t is_pair(const struct instruction *instruction, enum place place)
{
    if (place == PLACE_ATOMIC)
        return instruction->arch < 100 ? decode_field(instruction, 70, 1) : decode_field(instruction, 63, 1);
    return decode_field(instruction, 90, 1);
}

/* 1: the uniform register only describes the memory. */
static uint32_t is_description(const struct instruction *instruction, enum place place)
{
    int is_float = instruction->opcode->width == WIDTH_ATOMIC_FLOAT;
    if (instruction->arch < 80 || instruction->opcode->operation == OP_MULTICAST_LOAD)
        return 0;
    switch (place) {
    case PLACE_ATOMIC:
        if (instruction->arch < 100)
            return decode_field(instruction, 71, 1);
        return decode_field(instruction, is_float ? 90 : 76, 1);
    case PLACE_REDUCTION: return instruction->arch < 100 ? decode_field(instruction, 71, 1) : 1;
    default: return decode_field(instruction, 76, 1);
    }
}

static int64_t offset_of(const struct instruction *instruction, enum place place)
{
    int has_flag = place == PLACE_ATOMIC && instruction->arch >= 100 && decode_field(instruction, HAS_UNIFORM, 1);
    return decode_signed_field(instruction, OFFSET, has_flag ? 23 : 24);
}

/* Of global memory, or of any. */
static void add_long_address(struct step *step, const struct instruction *instruction)
{
    enum place place = place_of(instruction);
    uint32_t uniform = place == PLACE_LOAD ? DATA : SECOND;
    int is_wide = instruction->opcode->operation == OP_MULTICAST_LOAD || instruction->opcode->width == WIDTH_HALVES;
    if (!decode_field(instruction, HAS_UNIFORM, 1))
        add_part(step, operands_vector(instruction, REGISTER), decode_field(instruction, IS_LONG, 1) ? 2 : 1);
    else {
        add_part(step, operands_vector(instruction, REGISTER), is_wide || is_pair(instruction, place) ? 2 : 1);
        if (!is_description(instruction, place))
            add_part(step, operands_uniform(instruction, uniform), 2);
    }
    if (!step->parts)
        add_part(step, operands_constant(offset_of(instruction, place)), 2);
}

/* Of shared or local memory: 32 bits. */
static int add_short_address(struct step *step, const struct instruction *instruction)
{
    enum place place = place_of(instruction);
    int is_local = step->space == SPACE_LOCAL, has_uniform = (int)decode_field(instruction, HAS_UNIFORM, 1);
    struct operand operand = operands_vector(instruction, REGISTER);
    if (is_local && instruction->arch >= 100 && has_uniform && decode_field(instruction, 76, 1))
        return 0;
    if (!is_local && instruction->opcode->operation != OP_LOAD_MATRIX && instruction->opcode->operation != OP_STORE_MATRIX)
        operand.scaled = decode_field(instruction, SCALE, 2) != 0;
    add_part(step, operand, 1);
    if (has_uniform)
        add_part(step, operands_uniform(instruction, place == PLACE_LOAD ? DATA : SECOND), 1);
    add_part(step, operands_constant(offset_of(instruction, PLACE_LOAD)), 1);
    return 1;
}

static int add_address(struct step *step, const struct instruction *instruction)
{
    step->space = (uint8_t)space_of(instruction);
    if (step->space == SPACE_SHARED || step->space == SPACE_LOCAL)
        return add_short_address(step, instruction);
    add_long_address(step, instruction);
    return 1;
}

/* An access with an address; 0: it has none that is known. */
static int begin_access(struct reader *reader, uint32_t number, enum step_kind kind, uint8_t use, struct step *step)
{
    *step = lower_step_of(reader, number, kind);
    step->use = use;
    step->words = reader->instruction[number].words;
    if (add_address(step, &reader->instruction[number]))
        return 1;
    lower_cannot(reader, number, CODE_WHY_INSTRUCTION, NULL);
    return 0;
}

static void add_source(struct step *step, struct operand operand)
{
    step->source[step->sources++] = operand;
}

static void lower_load(struct reader *reader, uint32_t number)
{
    struct step step;
    if (begin_access(reader, number, STEP_LOAD, CODE_READ, &step))
        lower_add_step(reader, &step);
}

/* ST without a uniform register has an offset of 32 bits in the usual place. */
static uint32_t data_of(const struct instruction *instruction)
{
    enum { GENERIC_STORE = 0x185 };
    return instruction->opcode->code == GENERIC_STORE && instruction->form == 1 ? SECOND : DATA;
}

static void lower_store(struct reader *reader, uint32_t number)
{
    const struct instruction *instruction = &reader->instruction[number];
    struct step step;
    if (!begin_access(reader, number, STEP_STORE, CODE_WRITE, &step))
        return;
    add_source(&step, operands_vector(instruction, data_of(instruction)));
    lower_add_step(reader, &step);
}

static void lower_atomic(struct reader *reader, uint32_t number)
{
    const struct instruction *instruction = &reader->instruction[number];
    struct step step;
    if (!begin_access(reader, number, STEP_ATOMIC, CODE_READ | CODE_WRITE | CODE_ATOMIC, &step))
        return;
    add_source(&step, operands_vector(instruction, DATA));
    if (instruction->opcode->operation == OP_ATOMIC_SWAP)
        add_source(&step, operands_vector(instruction, SECOND));
    lower_add_step(reader, &step);
}

/* 256 bits from or to two runs of four registers. That in which the address lies comes last. */
static void lower_wide(struct reader *reader, uint32_t number)
{
    const struct instruction *instruction = &reader->instruction[number];
    int is_load = instruction->opcode->operation == OP_LOAD_WIDE;
    uint32_t address = decode_field(instruction, REGISTER, 8);
    int last = address - instruction->result[0].first < instruction->result[0].count ? 0 : 1;
    struct step step;
    begin_access(reader, number, is_load ? STEP_LOAD : STEP_STORE, is_load ? CODE_READ : CODE_WRITE, &step);
    for (int i = 0; i < 2; i++) {
        int half = i ? last : !last;
        step.result = is_load && instruction->result[half].count ? instruction->result[half].first : NO_REGISTER;
        step.sources = 0;
        if (!is_load)
            add_source(&step, operands_vector(instruction, half ? 16 : DATA));
        lower_add_step(reader, &step);
    }
}

/* Each register of a matrix is a word from another row. */
static void lower_matrix(struct reader *reader, uint32_t number)
{
    const struct instruction *instruction = &reader->instruction[number];
    int is_load = instruction->opcode->operation == OP_LOAD_MATRIX;
    struct operand data = operands_vector(instruction, DATA);
    struct step step;
    if (!begin_access(reader, number, is_load ? STEP_LOAD : STEP_STORE, is_load ? CODE_READ : CODE_WRITE, &step))
        return;
    step.words = 1;
    for (uint32_t i = 0; i < instruction->words; i++) {
        step.sources = 0;
        if (!is_load)
            add_source(&step, data);
        lower_add_step(reader, &step);
        step.result += step.result != NO_REGISTER;
        data.number += data.kind == OPERAND_REGISTER;
    }
}

/* What several devices' memory adds up to. */
static void lower_multicast(struct reader *reader, uint32_t number)
{
    struct step step;
    if (!begin_access(reader, number, STEP_LOAD, CODE_READ, &step))
        return;
    step.narrow = 1;
    lower_add_step(reader, &step);
}

/* A place in constant memory, as an operand. */
static struct operand constant_of(struct reader *reader, uint32_t number)
{
    enum { BANK = 54, BANK_BITS = 5, THROUGH_HANDLE = 91, MODE = 78, UNINDEXED = 0x0b9 };
    const struct instruction *instruction = &reader->instruction[number];
    int is_vector = instruction->opcode->file == FILE_VECTOR, is_new = instruction->arch >= 100 && !is_vector;
    struct operand index = is_vector ? operands_vector(instruction, REGISTER) : operands_uniform(instruction, REGISTER);
    int64_t offset = is_new ? decode_signed_field(instruction, 37, 17) : decode_signed_field(instruction, 38, 16);
    if (instruction->opcode->code == UNINDEXED)
        index = operands_constant(0);
    if ((instruction->opcode->code == UNINDEXED && decode_field(instruction, THROUGH_HANDLE, 1)) ||
        (is_vector && decode_field(instruction, MODE, 2)))
        return operands_none();
    if (index.kind != OPERAND_REGISTER) {
        index.number = NO_REGISTER;
        offset &= 0xffff;
    }
    return sass_symbols_bank(reader, number, decode_field(instruction, BANK, BANK_BITS), offset, index.number);
}

static void lower_constant(struct reader *reader, uint32_t number)
{
    const struct instruction *instruction = &reader->instruction[number];
    struct step step = lower_step_of(reader, number, STEP_MOVE);
    struct operand operand = constant_of(reader, number);
    if (step.result == NO_REGISTER)
        return;
    if (operand.kind == OPERAND_NONE) {
        lower_cannot(reader, number, CODE_WHY_INSTRUCTION, "constant memory that is not known");
        return;
    }
    operand.scaled |= instruction->narrow;
    step.narrow = 0;
    add_source(&step, operand);
    lower_add_step(reader, &step);
}

int lower_memory(struct reader *reader, uint32_t number)
{
    switch (reader->instruction[number].opcode->operation) {
    case OP_CONSTANT: lower_constant(reader, number); return 1;
    case OP_LOAD: lower_load(reader, number); return 1;
    case OP_STORE: lower_store(reader, number); return 1;
    case OP_LOAD_WIDE:
    case OP_STORE_WIDE: lower_wide(reader, number); return 1;
    case OP_LOAD_MATRIX:
    case OP_STORE_MATRIX: lower_matrix(reader, number); return 1;
    case OP_ATOMIC:
    case OP_ATOMIC_SWAP:
    case OP_REDUCTION: lower_atomic(reader, number); return 1;
    case OP_MULTICAST_LOAD: lower_multicast(reader, number); return 1;
    default: return 0;
    }
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that is reached otherwise than by loads and stores: copies to shared memory, textures and surfaces, tensor maps.
 * Called by lower().
 */
#include "interpose/code/sass/sass.h"

enum { REGISTER = 24, SECOND = 64, HAS_UNIFORM = 91, DESCRIBED = 76 };

static void add_part(struct step *step, struct operand operand, uint32_t words)
{
    operand.words = (uint8_t)words;
    step->part[step->parts++] = operand;
}

/* Global memory to shared memory, past the registers. In form 6 the uniform register is part of the address there. */
static void lower_to_shared(struct reader *reader, uint32_t number)
{
    const struct instruction *instruction = &reader->instruction[number];
    struct step step = lower_step_of(reader, number, STEP_STAGE);
    int is_pair = instruction->form == 6 || instruction->arch >= 100 || !decode_field(instruction, HAS_UNIFORM, 1) ||
                  decode_field(instruction, 70, 1);
    step.words = instruction->words;
    step.narrow = 0;
    step.use = CODE_READ;
    add_part(&step, operands_vector(instruction, REGISTER), is_pair ? 2 : 1);
    if (instruction->form == 7 && decode_field(instruction, HAS_UNIFORM, 1) && !decode_field(instruction, DESCRIBED, 1))
        add_part(&step, operands_uniform(instruction, SECOND), 2);
    lower_add_step(reader, &step);
}

/* Another block's shared memory, which is this kernel's, too. */
static void lower_remote(struct reader *reader, uint32_t number)
{
    struct step step = lower_step_of(reader, number, STEP_STORE);
    step.space = SPACE_SHARED;
    step.use = CODE_WRITE;
    step.words = reader->instruction[number].words;
    step.source[step.sources++] = operands_vector(&reader->instruction[number], 32);
    lower_add_step(reader, &step);
}

/* A handle in constant memory by its place, or in a uniform register; one among the vector registers is not followed. */
static struct operand handle_of(struct reader *reader, uint32_t number)
{
    enum { PLACE = 40, PLACE_BITS = 14, BANK = 54, BANK_BITS = 5 };
    const struct instruction *instruction = &reader->instruction[number];
    struct operand operand = operands_other();
    if (instruction->form == 5 || instruction->form == 3)
        operand = sass_symbols_bank(reader, number, decode_field(instruction, BANK, BANK_BITS),
                                    4 * (int64_t)decode_field(instruction, PLACE, PLACE_BITS), NO_REGISTER);
    else if (instruction->form == 7)
        operand = operands_uniform(instruction, PLACE);
    if (operand.kind == OPERAND_NONE || operand.kind == OPERAND_CONSTANT) {
        reader->form->facts->flags |= CODE_BOUND_TEXTURE;
        operand = operands_other();
    }
    operand.words = 1;
    return operand;
}

static void lower_texture(struct reader *reader, uint32_t number, uint8_t use)
{
    const struct instruction *instruction = &reader->instruction[number];
    struct step step = lower_step_of(reader, number, STEP_TEXTURE);
    step.use = use;
    step.narrow = 0;
    step.source[step.sources++] = handle_of(reader, number);
    if (step.result == NO_REGISTER)
        step.words = 1;
    lower_add_step(reader, &step);
    if (!instruction->result[1].count)
        return;
    step = lower_step_of(reader, number, STEP_FLOAT);
    step.result = instruction->result[1].first;
    step.words = (uint8_t)instruction->result[1].count;
    lower_add_step(reader, &step);
}

/* Its map's address is in a uniform pair. */
static void lower_tensor(struct reader *reader, uint32_t number, uint8_t use)
{
    struct step step = lower_step_of(reader, number, STEP_TENSOR);
    step.use = use;
    step.words = 0;
    add_part(&step, operands_uniform(&reader->instruction[number], REGISTER), 2);
    lower_add_step(reader, &step);
}

/* A word that counts who has come; no address lies in it. */
static void lower_barrier_word(struct reader *reader, uint32_t number)
{
    struct step step = lower_step_of(reader, number, reader->instruction[number].result[0].count ? STEP_FLOAT : STEP_NONE);
    lower_add_step(reader, &step);
}

int lower_staged(struct reader *reader, uint32_t number)
{
    switch (reader->instruction[number].opcode->operation) {
    case OP_TO_SHARED: lower_to_shared(reader, number); return 1;
    case OP_REMOTE_STORE: lower_remote(reader, number); return 1;
    case OP_TEXTURE_READ:
    case OP_SURFACE_READ: lower_texture(reader, number, CODE_READ); return 1;
    case OP_TEXTURE_QUERY: lower_texture(reader, number, CODE_READ); return 1;
    case OP_SURFACE_WRITE: lower_texture(reader, number, CODE_WRITE); return 1;
    case OP_SURFACE_ATOMIC: lower_texture(reader, number, CODE_READ | CODE_WRITE | CODE_ATOMIC); return 1;
    case OP_TENSOR_LOAD: lower_tensor(reader, number, CODE_READ); return 1;
    case OP_TENSOR_STORE: lower_tensor(reader, number, CODE_WRITE); return 1;
    case OP_BARRIER_WORD: lower_barrier_word(reader, number); return 1;
    default: return 0;
    }
}

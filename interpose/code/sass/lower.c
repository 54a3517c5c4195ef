/* SPDX-License-Identifier: Apache-2.0
 *
 * From instructions to steps: what is the same for all of them. Called by the reader for each instruction.
 */
#include "interpose/code/sass/sass.h"

struct step lower_step_of(const struct reader *reader, uint32_t number, enum step_kind kind)
{
    const struct instruction *instruction = &reader->instruction[number];
    struct step step = {.kind = (uint8_t)kind, .words = instruction->words, .result = NO_REGISTER};
    if (instruction->result[0].count) {
        step.result = instruction->result[0].first;
        step.words = (uint8_t)instruction->result[0].count;
    }
    step.guard = instruction->guard;
    step.guard_negated = instruction->guard_negated;
    step.narrow = instruction->narrow;
    step.at = instruction->at;
    step.function = reader->function[number];
    step.sets[0] = instruction->sets[0];
    step.sets[1] = instruction->sets[1];
    return step;
}

void lower_add_step(struct reader *reader, const struct step *step)
{
    if (form_add(reader->form, step) == UINT32_MAX)
        reader->failed = 1;
}

void lower_cannot(struct reader *reader, uint32_t number, enum code_why why, const char *text)
{
    const struct instruction *instruction = &reader->instruction[number];
    form_unknown(reader->form, why, instruction->at, text ? text : instruction->opcode->name);
}

/* Predicates that change though no register does. */
static void lower_nothing(struct reader *reader, uint32_t number)
{
    const struct instruction *instruction = &reader->instruction[number];
    struct step step = lower_step_of(reader, number, STEP_NONE);
    if (instruction->sets[0] || instruction->sets[1])
        lower_add_step(reader, &step);
}

void lower(struct reader *reader, uint32_t number)
{
    const struct instruction *instruction = &reader->instruction[number];
    if (instruction->never)
        return;
    if (instruction->opcode->operation == OP_NOTHING)
        lower_nothing(reader, number);
    else if (!lower_arithmetic(reader, number) && !lower_memory(reader, number) && !lower_staged(reader, number) &&
             !lower_control(reader, number))
        lower_cannot(reader, number, CODE_WHY_INSTRUCTION, NULL);
}

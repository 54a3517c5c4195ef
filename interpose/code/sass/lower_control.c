/* SPDX-License-Identifier: Apache-2.0
 *
 * Jumps, calls, returns, ends. Called by lower(). Targets are instructions' numbers here; the reader puts steps in their
 * place. A jump whose targets are not all known makes the kernel unknown.
 */
#include "interpose/code/sass/sass.h"

#include <string.h>

enum { CONDITION = 87, NO_CONDITION = 7 };

/* Beside the guard there may be a condition, of either file, or one that no predicate shows. */
static uint8_t may_go_on(const struct instruction *instruction)
{
    enum { KIND = 32, UNIFORM_NUMBER = 24, UNIFORM_NEGATED = 27 };
    int is_always = decode_field(instruction, CONDITION, 3) == NO_CONDITION && !decode_field(instruction, 90, 1);
    if (instruction->opcode->operation == OP_BRANCH)
        return (uint8_t)(!is_always || instruction->form == 2 || decode_field(instruction, KIND, 2));
    return (uint8_t)!is_always;
}

static void jump_to(struct reader *reader, uint32_t number, uint32_t target, uint8_t maybe)
{
    struct step step = lower_step_of(reader, number, STEP_BRANCH);
    if (target >= reader->instructions) {
        lower_cannot(reader, number, CODE_WHY_BRANCH, NULL);
        return;
    }
    step.maybe = maybe;
    step.target = target;
    lower_add_step(reader, &step);
}

static void add_target(void *data, uint32_t target)
{
    struct reader *reader = data;
    if (target >= reader->instructions)
        form_unknown(reader->form, CODE_WHY_BRANCH, 0, "a jump to no code");
    else
        form_add_target(reader->form, target);
}

static void end_switch(struct reader *reader, struct step *step)
{
    step->targets = reader->form->target_count - step->target;
    lower_add_step(reader, step);
}

static void lower_indexed(struct reader *reader, uint32_t number)
{
    struct step step = lower_step_of(reader, number, STEP_SWITCH);
    step.maybe = may_go_on(&reader->instruction[number]);
    step.target = reader->form->target_count;
    if (!parts_targets(reader, number, add_target, reader))
        lower_cannot(reader, number, CODE_WHY_BRANCH, NULL);
    else
        end_switch(reader, &step);
}

/* Threads go on together where their barrier was set to. Compilers put that right behind it; where it is not, it may be any
 * place to which a barrier of the function leads. */
static void lower_sync(struct reader *reader, uint32_t number)
{
    const struct part *part = &reader->part[reader->instruction[number].part];
    struct step step = lower_step_of(reader, number, STEP_SWITCH);
    uint32_t behind = number + 1;
    if (behind < part->first + part->count && reader->sync_at[behind])
        return;
    step.maybe = 1;
    step.target = reader->form->target_count;
    for (uint32_t i = part->first; i < part->first + part->count; i++) {
        if (reader->sync_at[i])
            add_target(reader, i);
    }
    end_switch(reader, &step);
}

/* Of the driver's own functions, which touch nothing of the program's. */
static int is_system(const char *name)
{
    static const char *const names[] = {"vprintf", "__assertfail", "free"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0)
            return 1;
    }
    return 0;
}

static void change(struct reader *reader, uint32_t number, enum step_kind kind, uint32_t first, uint32_t count)
{
    struct step step = lower_step_of(reader, number, kind);
    step.result = (uint16_t)first;
    step.words = (uint8_t)count;
    step.sets[0] = ALL_PREDICATES;
    if (kind == STEP_MOVE) {
        step.source[step.sources++] = operands_other();
        step.source[0].kind = OPERAND_HEAP;
    }
    lower_add_step(reader, &step);
}

/* By the rules for calls R0 to R15 may change, but for the stack pointer, R1; R4 and R5 have what it returns. Of the
 * uniform registers compilers keep values in UR36 to UR63 over calls, from sm_90 on, and in no others (read from what
 * nvcc 13.0 makes of kernels with assert and printf, sm_75 to sm_120). */
static void call_outside(struct reader *reader, uint32_t number, const char *name)
{
    enum { RESULT = 4, BEHIND = 6, SCRATCH = 16, UNIFORMS = 128, KEPT = 36, KEPT_END = 64 };
    int is_heap = strcmp(name, "malloc") == 0;
    if (!is_heap && !is_system(name)) {
        lower_cannot(reader, number, CODE_WHY_CALL, name);
        return;
    }
    reader->form->facts->flags |= is_heap ? CODE_HEAP : CODE_SYSTEM;
    change(reader, number, STEP_FORGET, 0, 1);
    change(reader, number, STEP_FORGET, 2, RESULT - 2);
    change(reader, number, is_heap ? STEP_MOVE : STEP_FLOAT, RESULT, 2);
    change(reader, number, STEP_FORGET, BEHIND, SCRATCH - BEHIND);
    if (reader->instruction[number].arch < 90)
        change(reader, number, STEP_FORGET, UNIFORM, UNIFORMS);
    else {
        change(reader, number, STEP_FORGET, UNIFORM, KEPT);
        change(reader, number, STEP_FORGET, UNIFORM + KEPT_END, UNIFORMS - KEPT_END);
    }
}

static void call_symbol(struct reader *reader, uint32_t number, uint32_t symbol_number)
{
    struct cubin_symbol symbol;
    struct step step = lower_step_of(reader, number, STEP_CALL);
    uint32_t target = UINT32_MAX;
    if (!cubin_symbol_at(&reader->cubin, symbol_number, &symbol))
        symbol = (struct cubin_symbol){.name = ""};
    if (symbol.section)
        target = parts_find(reader, symbol.section, (int64_t)symbol.value);
    if (target >= reader->instructions) {
        call_outside(reader, number, symbol.name);
        return;
    }
    step.target = target;
    lower_add_step(reader, &step);
}

static void lower_call(struct reader *reader, uint32_t number)
{
    const struct instruction *instruction = &reader->instruction[number];
    struct step step = lower_step_of(reader, number, STEP_CALL);
    if (may_go_on(instruction)) {
        lower_cannot(reader, number, CODE_WHY_CALL, NULL);
        return;
    }
    if (instruction->form == 1) {
        struct traced traced = trace(reader, number, decode_field(instruction, 24, 8));
        if (traced.kind == TRACED_SYMBOL)
            call_symbol(reader, number, traced.symbol);
        else
            lower_cannot(reader, number, CODE_WHY_CALL, NULL);
    } else if (instruction->form == 4 && parts_fix(reader, number)->type)
        call_symbol(reader, number, parts_fix(reader, number)->symbol);
    else {
        step.target = instruction->opcode->code == 0x144 ? parts_destination(reader, number) : UINT32_MAX;
        if (instruction->form != 4 || step.target >= reader->instructions)
            lower_cannot(reader, number, CODE_WHY_CALL, NULL);
        else
            lower_add_step(reader, &step);
    }
}

/* With a condition it is done by some: a jump over it says so. */
static void lower_end(struct reader *reader, uint32_t number, enum step_kind kind)
{
    struct step step = lower_step_of(reader, number, kind);
    if (may_go_on(&reader->instruction[number]))
        jump_to(reader, number, number + 1, 1);
    lower_add_step(reader, &step);
}

static void lower_warp_sync(struct reader *reader, uint32_t number)
{
    enum { COLLECTIVE = 86 };
    const struct instruction *instruction = &reader->instruction[number];
    int jumps = instruction->form == 1 && instruction->arch >= 90 && !decode_field(instruction, COLLECTIVE, 1);
    if (jumps)
        jump_to(reader, number, parts_destination(reader, number), 1);
}

int lower_control(struct reader *reader, uint32_t number)
{
    const struct instruction *instruction = &reader->instruction[number];
    switch (instruction->opcode->operation) {
    case OP_BRANCH: jump_to(reader, number, parts_destination(reader, number), may_go_on(instruction)); return 1;
    case OP_BRANCH_INDEXED: lower_indexed(reader, number); return 1;
    case OP_CALL: lower_call(reader, number); return 1;
    case OP_RETURN: lower_end(reader, number, STEP_RETURN); return 1;
    case OP_EXIT: lower_end(reader, number, STEP_EXIT); return 1;
    case OP_SYNC: lower_sync(reader, number); return 1;
    case OP_SET_SYNC: return 1;
    case OP_WARP_SYNC: lower_warp_sync(reader, number); return 1;
    default: return 0;
    }
}

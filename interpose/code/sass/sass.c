/* SPDX-License-Identifier: Apache-2.0
 *
 * A kernel's machine code, as a form. Called by code_read() and code_read_kernels().
 */
#include "interpose/code/sass/sass.h"

#include <string.h>

#include "interpose/code/arena.h"

static int is_known(uint32_t arch)
{
    static const uint16_t known[] = {70, 72, 75, 80, 86, 87, 89, 90, 100, 101, 103, 110, 120, 121};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i] == arch)
            return 1;
    }
    return 0;
}

static int add_parameter(void *data, uint32_t attribute, const uint8_t *bytes, uint32_t size)
{
    struct form *form = data;
    struct code_facts *facts = form->facts;
    if (attribute != ATTRIBUTE_PARAMETER || !bytes || size < 12)
        return 0;
    if (facts->parameters == CODE_PARAMETERS) {
        form_unknown(form, CODE_WHY_MANY, 0, "parameters");
        return 1;
    }
    /* They are listed from the last to the first. */
    uint16_t offset = (uint16_t)cubin_16(bytes + 6), at = facts->parameters++;
    for (; at && facts->parameter[at - 1].offset > offset; at--)
        facts->parameter[at] = facts->parameter[at - 1];
    facts->parameter[at] = (struct code_parameter){offset, (uint16_t)(cubin_32(bytes + 8) >> 18)};
    return 0;
}

static int add_bank_fix(void *data, const struct cubin_fix *fix)
{
    struct reader *reader = data;
    if (reader->bank_fix)
        reader->bank_fix[reader->bank_fixes] = (struct bank_fix){fix->at, fix->symbol};
    reader->bank_fixes++;
    return 0;
}

/* Twice: to count them, to keep them. */
static void read_bank_4(struct reader *reader)
{
    uint32_t section = cubin_find(&reader->cubin, ".nv.constant4", "");
    if (!section)
        return;
    cubin_fixes(&reader->cubin, section, add_bank_fix, reader);
    if (!reader->bank_fixes)
        return;
    reader->bank_fix = arena_get(reader->form->arena, reader->bank_fixes * sizeof *reader->bank_fix);
    reader->failed |= !reader->bank_fix;
    reader->bank_fixes = 0;
    if (reader->bank_fix)
        cubin_fixes(&reader->cubin, section, add_bank_fix, reader);
}

/* Places where threads meet. */
static void find_syncs(struct reader *reader)
{
    reader->sync_at = arena_get(reader->form->arena, reader->instructions + 1);
    reader->failed |= !reader->sync_at;
    for (uint32_t i = 0; !reader->failed && i < reader->instructions; i++) {
        uint32_t target =
            reader->instruction[i].opcode->operation == OP_SET_SYNC ? parts_destination(reader, i) : UINT32_MAX;
        if (target < reader->instructions)
            reader->sync_at[target] = 1;
    }
}

/* Instructions' numbers become steps'. What has no step of its own is the next one. */
static void place_targets(struct reader *reader)
{
    struct form *form = reader->form;
    for (uint32_t i = 0; i < form->steps; i++) {
        struct step *step = &form->step[i];
        if (step->kind == STEP_BRANCH || step->kind == STEP_CALL)
            step->target = reader->step[step->target];
    }
    for (uint32_t i = 0; i < form->target_count; i++)
        form->target[i] = reader->step[form->target[i]];
}

/* Code does not run on from one section into another. */
static void end_part(struct reader *reader, const struct part *part)
{
    uint32_t last = part->first + part->count - 1;
    struct step step = {.kind = STEP_EXIT, .result = NO_REGISTER};
    step.at = reader->instruction[last].at;
    step.function = reader->function[last];
    lower_add_step(reader, &step);
}

/* Most instructions are one step: so many at once, and no copying. */
static void reserve(struct reader *reader)
{
    struct form *form = reader->form;
    uint32_t room = reader->instructions + reader->instructions / 8 + 2 * reader->parts + 64;
    form->step = arena_get(form->arena, room * sizeof *form->step);
    form->room = form->step ? room : 0;
}

static void lower_all(struct reader *reader)
{
    uint32_t entry = parts_find(reader, reader->kernel.section, (int64_t)reader->kernel.at);
    if (entry == UINT32_MAX) {
        form_unknown(reader->form, CODE_WHY_NO_KERNEL, 0, "code");
        return;
    }
    reserve(reader);
    if (entry) {
        struct step step = {.kind = STEP_BRANCH, .result = NO_REGISTER, .target = entry};
        lower_add_step(reader, &step);
    }
    for (uint32_t i = 0; i < reader->parts; i++) {
        const struct part *part = &reader->part[i];
        for (uint32_t j = part->first; j < part->first + part->count; j++) {
            reader->step[j] = reader->form->steps;
            lower(reader, j);
        }
        end_part(reader, part);
    }
    if (!reader->failed)
        place_targets(reader);
}

static void read_kernel(struct reader *reader, const char *kernel)
{
    struct form *form = reader->form;
    if (!cubin_find_kernel(&reader->cubin, kernel, &reader->kernel)) {
        form_unknown(form, CODE_WHY_NO_KERNEL, 0, NULL);
        return;
    }
    cubin_attributes(&reader->cubin, reader->kernel.info, add_parameter, form);
    form->facts->parameter_bytes = (uint16_t)reader->kernel.bytes;
    if (!reader->kernel.has_base) {
        form_unknown(form, CODE_WHY_NO_KERNEL, 0, "no place of its parameters");
        return;
    }
    reader->bank_2 = cubin_find(&reader->cubin, ".nv.constant2.", kernel);
    reader->bank_3 = cubin_find(&reader->cubin, ".nv.constant3", "");
    opcodes_begin(&reader->opcodes, reader->cubin.arch);
    read_bank_4(reader);
    if (!parts_read(reader))
        return;
    find_syncs(reader);
    form->facts->instructions = reader->instructions;
    form->registers = REGISTERS;
    form->stack_register = 1;
    if (!reader->failed)
        lower_all(reader);
    if (reader->failed)
        form_unknown(form, CODE_WHY_MEMORY, 0, NULL);
}

void sass_read(const struct code_image *image, const char *kernel, struct form *form)
{
    struct reader *reader = arena_get(form->arena, sizeof *reader);
    if (!reader) {
        form_unknown(form, CODE_WHY_MEMORY, 0, NULL);
        return;
    }
    reader->form = form;
    if (!cubin_open(&reader->cubin, image->bytes, image->size))
        form_unknown(form, CODE_WHY_NO_IMAGE, 0, NULL);
    else if (!is_known(reader->cubin.arch))
        form_unknown(form, CODE_WHY_ARCHITECTURE, 0, NULL);
    else {
        form->facts->arch = (uint16_t)reader->cubin.arch;
        read_kernel(reader, kernel);
    }
}

int sass_kernels(const struct code_image *image, int (*each)(void *data, const char *kernel), void *data)
{
    struct cubin cubin;
    int stop = 0;
    if (!cubin_open(&cubin, image->bytes, image->size))
        return 0;
    uint32_t count = cubin_symbol_count(&cubin);
    for (uint32_t i = 1; i < count && !stop; i++) {
        struct cubin_symbol symbol;
        if (cubin_symbol_at(&cubin, i, &symbol) && symbol.is_kernel && *symbol.name)
            stop = each(data, symbol.name);
    }
    return stop;
}

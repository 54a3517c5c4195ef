/* SPDX-License-Identifier: Apache-2.0
 *
 * Gathers and decodes all code that a kernel may run: its section and the sections that it calls. Says where jumps lead.
 * Called once a kernel. Nothing here follows a place that the image does not have.
 */
#include "interpose/code/sass/sass.h"

#include <string.h>

#include "interpose/code/arena.h"

enum { INSTRUCTIONS_MOST = 1 << 20 };

static void *room_for(struct reader *reader, size_t count, size_t size)
{
    void *got = arena_get(reader->form->arena, count * size + 1);
    if (!got) {
        form_unknown(reader->form, CODE_WHY_MEMORY, 0, NULL);
        reader->failed = 1;
    }
    return got;
}

/* Room for more instructions; the old list stays in the arena. */
static int grow(struct reader *reader, uint32_t count)
{
    uint32_t all = reader->instructions + count;
    struct instruction *instruction = room_for(reader, all, sizeof *instruction);
    if (!instruction)
        return 0;
    if (reader->instructions)
        memcpy(instruction, reader->instruction, reader->instructions * sizeof *instruction);
    reader->instruction = instruction;
    return 1;
}

static void not_known(struct reader *reader, const struct instruction *instruction)
{
    char text[CODE_TEXT] = "opcode 0x000";
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < 3; i++)
        text[9 + i] = digits[instruction->low >> (8 - 4 * i) & 15];
    if (instruction->opcode) {
        size_t size = strlen(instruction->opcode->name);
        memcpy(text + 12, ", ", 2);
        memcpy(text + 14, instruction->opcode->name, size + 1);
    }
    form_unknown(reader->form, CODE_WHY_INSTRUCTION, instruction->at, text);
}

struct fixing {
    struct reader *reader;
    const struct part *part;
};

/* Few instructions have one, most kernels none: they are kept in a list of their own. */
static int add_fix(void *data, const struct cubin_fix *fix)
{
    struct fixing *fixing = data;
    struct reader *reader = fixing->reader;
    uint64_t number = fix->at / INSTRUCTION_BYTES;
    if (number >= fixing->part->count)
        return 0;
    if (reader->fixes == reader->fix_room) {
        uint32_t room = reader->fix_room ? reader->fix_room * 2 : 64;
        struct fix *more = room_for(reader, room, sizeof *more);
        if (!more)
            return 1;
        if (reader->fixes)
            memcpy(more, reader->fix, reader->fixes * sizeof *more);
        reader->fix = more;
        reader->fix_room = room;
    }
    number += fixing->part->first;
    reader->instruction[number].fix = ++reader->fixes;
    reader->fix[reader->fixes - 1] = (struct fix){fix->type, fix->symbol, fix->addend};
    return 0;
}

const struct fix *parts_fix(const struct reader *reader, uint32_t number)
{
    static const struct fix none;
    uint32_t fix = reader->instruction[number].fix;
    return fix ? &reader->fix[fix - 1] : &none;
}

/* 0: there is no such code, or an instruction that is not known. */
static int add_part(struct reader *reader, uint32_t section)
{
    size_t size;
    const uint8_t *bytes = cubin_bytes(&reader->cubin, section, &size);
    uint32_t count = (uint32_t)(size / INSTRUCTION_BYTES);
    if (!bytes || !count || reader->parts == PARTS || size / INSTRUCTION_BYTES > INSTRUCTIONS_MOST - reader->instructions) {
        form_unknown(reader->form, bytes && count ? CODE_WHY_LONG : CODE_WHY_NO_KERNEL, 0, "code");
        return 0;
    }
    if (!grow(reader, count))
        return 0;
    struct part *part = &reader->part[reader->parts];
    *part = (struct part){section, reader->instructions, count};
    for (uint32_t i = 0; i < count; i++) {
        struct instruction *instruction = &reader->instruction[part->first + i];
        int known = decode(&reader->opcodes, bytes + (size_t)i * INSTRUCTION_BYTES, reader->cubin.arch, instruction);
        instruction->at = i * INSTRUCTION_BYTES;
        instruction->part = (uint16_t)reader->parts;
        if (!known) {
            not_known(reader, instruction);
            return 0;
        }
    }
    cubin_fixes(&reader->cubin, section, add_fix, &(struct fixing){reader, part});
    reader->instructions += count;
    reader->parts++;
    return 1;
}

uint32_t parts_find(const struct reader *reader, uint32_t section, int64_t at)
{
    for (uint32_t i = 0; i < reader->parts; i++) {
        const struct part *part = &reader->part[i];
        if (part->section != section)
            continue;
        int is_inside = at >= 0 && at % INSTRUCTION_BYTES == 0 && at / INSTRUCTION_BYTES < part->count;
        return is_inside ? part->first + (uint32_t)(at / INSTRUCTION_BYTES) : UINT32_MAX;
    }
    return UINT32_MAX;
}

uint32_t parts_target(const struct reader *reader, uint32_t number, int64_t distance)
{
    const struct instruction *instruction = &reader->instruction[number];
    int64_t at = (int64_t)instruction->at + INSTRUCTION_BYTES + distance;
    return parts_find(reader, reader->part[instruction->part].section, at);
}

/* Bytes from the instruction behind it. A barrier's number takes the lowest bits' place. */
static int64_t distance_of(const struct instruction *instruction)
{
    enum { SHORT = 30, LONG = 48, FIRST = 34 };
    if (instruction->opcode->operation == OP_SET_SYNC)
        return decode_signed_field(instruction, FIRST, SHORT) * 4;
    int64_t upper = decode_signed_field(instruction, FIRST, LONG);
    return instruction->arch < 90 ? upper * 4 : (upper * 256 + decode_field(instruction, 16, 8)) * 4;
}

uint32_t parts_destination(const struct reader *reader, uint32_t number)
{
    const struct fix *fix = parts_fix(reader, number);
    struct cubin_symbol symbol;
    if (!fix->type)
        return parts_target(reader, number, distance_of(&reader->instruction[number]));
    if (!cubin_symbol_at(&reader->cubin, fix->symbol, &symbol) || !symbol.section)
        return UINT32_MAX;
    return parts_find(reader, symbol.section, (int64_t)symbol.value + fix->addend);
}

/* The targets of one indexed jump among all that the image tells. */
struct targets {
    const struct reader *reader;
    uint32_t number, found;
    void (*each)(void *data, uint32_t target);
    void *data;
};

static void see_targets(struct targets *targets, const uint8_t *bytes, uint32_t count)
{
    const struct instruction *instruction = &targets->reader->instruction[targets->number];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t section = targets->reader->part[instruction->part].section;
        uint32_t target = parts_find(targets->reader, section, cubin_32(bytes + 4 * (size_t)i));
        targets->each(targets->data, target);
        targets->found++;
    }
}

static int see_attribute(void *data, uint32_t attribute, const uint8_t *bytes, uint32_t size)
{
    enum { HEAD = 12 };
    struct targets *targets = data;
    const struct instruction *instruction = &targets->reader->instruction[targets->number];
    if (attribute != ATTRIBUTE_TARGETS || !bytes)
        return 0;
    for (uint32_t at = 0; size - at >= HEAD;) {
        uint32_t count = cubin_32(bytes + at + 8);
        if (count > (size - at - HEAD) / 4)
            break;
        if (cubin_32(bytes + at) == instruction->at)
            see_targets(targets, bytes + at + HEAD, count);
        at += HEAD + 4 * count;
    }
    return 0;
}

uint32_t parts_targets(const struct reader *reader, uint32_t number, void (*each)(void *data, uint32_t target), void *data)
{
    enum { PREFIX = 5 }; /* ".text" */
    struct targets targets = {reader, number, 0, each, data};
    uint32_t section = reader->part[reader->instruction[number].part].section;
    const char *name = cubin_section_name(&reader->cubin, section);
    if (strncmp(name, ".text.", PREFIX + 1) == 0)
        cubin_attributes(&reader->cubin, cubin_find(&reader->cubin, ".nv.info", name + PREFIX), see_attribute, &targets);
    return targets.found;
}

/* The sections to which calls and jumps lead. */
static int add_others(struct reader *reader)
{
    for (uint32_t i = 0; i < reader->instructions; i++) {
        uint32_t operation = reader->instruction[i].opcode->operation;
        struct cubin_symbol symbol;
        if ((operation != OP_CALL && operation != OP_BRANCH) || !reader->instruction[i].fix)
            continue;
        if (!cubin_symbol_at(&reader->cubin, parts_fix(reader, i)->symbol, &symbol) || !symbol.section)
            continue;
        int is_there = 0;
        for (uint32_t j = 0; j < reader->parts; j++)
            is_there |= reader->part[j].section == symbol.section;
        if (!is_there && !add_part(reader, symbol.section))
            return 0;
    }
    return 1;
}

static void begin_at(void *data, uint32_t target)
{
    struct reader *reader = data;
    if (target < reader->instructions)
        reader->begins[target] = 1;
}

enum { BEGINS_FUNCTION = 2 };

static void mark(struct reader *reader, uint32_t number)
{
    uint32_t target = UINT32_MAX;
    switch (reader->instruction[number].opcode->operation) {
    case OP_BRANCH:
    case OP_SET_SYNC:
    case OP_WARP_SYNC: begin_at(reader, parts_destination(reader, number)); break;
    case OP_BRANCH_INDEXED: parts_targets(reader, number, begin_at, reader); break;
    case OP_CALL:
        if (reader->instruction[number].form == 4)
            target = parts_destination(reader, number);
        if (target < reader->instructions)
            reader->begins[target] |= BEGINS_FUNCTION;
        break;
    default: break;
    }
}

/* Functions are counted in the order in which they lie; what nobody calls belongs to that before it. */
static void number_functions(struct reader *reader)
{
    uint32_t number = 0;
    for (uint32_t i = 0; i < reader->parts; i++) {
        const struct part *part = &reader->part[i];
        for (uint32_t j = 0; j < part->count; j++) {
            int begins = (reader->begins[part->first + j] & BEGINS_FUNCTION) || (i && !j);
            number += begins && part->first + j;
            reader->function[part->first + j] = number;
        }
    }
}

int parts_read(struct reader *reader)
{
    reader->part = room_for(reader, PARTS, sizeof *reader->part);
    if (!reader->part || !add_part(reader, reader->kernel.section) || !add_others(reader))
        return 0;
    reader->begins = room_for(reader, reader->instructions, sizeof *reader->begins);
    reader->function = room_for(reader, reader->instructions, sizeof *reader->function);
    reader->step = room_for(reader, reader->instructions, sizeof *reader->step);
    if (reader->failed)
        return 0;
    for (uint32_t i = 0; i < reader->instructions; i++)
        mark(reader, i);
    number_functions(reader);
    return 1;
}

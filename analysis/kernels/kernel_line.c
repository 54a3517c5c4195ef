/* SPDX-License-Identifier: Apache-2.0
 *
 * A kernel's facts as a line of text. Called by `ptds kernels`. Names come from files: none may change how the line is
 * read.
 */
#include <stdio.h>
#include <string.h>

#include "analysis/kernels/kernels.h"

enum { NAME_ROOM = 1000 }; /* what sink_printf takes at a time */

static void put_name(struct text_sink *sink, const char *name)
{
    char plain[4096], clean[NAME_ROOM];
    text_demangle(plain, sizeof plain, name);
    text_clean(clean, sizeof clean, plain, strlen(plain));
    sink_printf(sink, "%s", clean);
}

static void put_variable(struct text_sink *sink, const struct code_facts *facts, unsigned number)
{
    const struct code_variable *variable = number < facts->variables ? &facts->variable[number] : NULL;
    const char *kind = variable && variable->constant ? "constant" : "variable";
    if (!variable || variable->name[0] == 0) {
        sink_printf(sink, "a %s without a name", kind);
        return;
    }
    sink_printf(sink, "%s ", kind);
    put_name(sink, variable->name);
}

/* "param 2", or "param 2+8": inside of a structure. */
static void put_parameter(struct text_sink *sink, const struct code_facts *facts, const struct code_term *term)
{
    int number = kernel_parameter_at(facts, term->low);
    if (term->high != term->low + 4)
        sink_printf(sink, "the halves at bytes %u and %u of the parameters", term->low, term->high);
    else if (number < 0)
        sink_printf(sink, "byte %u of the parameters", term->low);
    else if (term->low == facts->parameter[number].offset && facts->parameter[number].size <= sizeof(uint64_t))
        sink_printf(sink, "param %d", number);
    else
        sink_printf(sink, "param %d+%u", number, (unsigned)(term->low - facts->parameter[number].offset));
}

static void put_range(struct text_sink *sink, const struct code_facts *facts, const struct code_term *term)
{
    int number = kernel_parameter_at(facts, term->low);
    const struct code_parameter *parameter = number < 0 ? NULL : &facts->parameter[number];
    if (parameter && term->low == parameter->offset && term->high == term->low + parameter->size)
        sink_printf(sink, "any word of param %d", number);
    else
        sink_printf(sink, "any word of bytes %u to %u of the parameters", term->low, term->high);
}

static void put_term(struct text_sink *sink, const struct code_facts *facts, const struct code_term *term)
{
    switch (term->kind) {
    case CODE_PARAMETER: put_parameter(sink, facts, term); break;
    case CODE_RANGE: put_range(sink, facts, term); break;
    case CODE_VARIABLE: put_variable(sink, facts, term->low); break;
    default: sink_printf(sink, "a loaded pointer"); break;
    }
}

static void put_base(struct text_sink *sink, const struct code_facts *facts, const struct code_base *base)
{
    bool is_sum = !(base->use & CODE_EITHER);
    sink_printf(sink, "%s", is_sum ? "" : "a sum of some of (");
    for (int i = 0; i < base->count && i < CODE_TERMS; i++) {
        if (i != 0)
            sink_printf(sink, is_sum ? " + " : ", ");
        put_term(sink, facts, &base->term[i]);
    }
    sink_printf(sink, "%s", is_sum ? "" : ")");
}

static const char *verb_of(uint8_t use)
{
    static const char *const verbs[] = {"uses", "reads", "writes", "reads and writes"};
    return verbs[use & (CODE_READ | CODE_WRITE)];
}

static bool is_alike(const struct code_base *one, const struct code_base *other)
{
    return verb_of(one->use) == verb_of(other->use) && one->through == other->through && one->beyond == other->beyond;
}

static bool is_told(const struct code_facts *facts, int number)
{
    for (int i = 0; i < number; i++) {
        if (is_alike(&facts->base[i], &facts->base[number]))
            return true;
    }
    return false;
}

/* Every base that is used as this one is, in one phrase. */
static void put_alike(struct text_sink *sink, const struct code_facts *facts, int first, int count)
{
    const struct code_base *base = &facts->base[first];
    sink_printf(sink, "%s ", verb_of(base->use));
    for (int i = first; i < count; i++) {
        if (!is_alike(base, &facts->base[i]))
            continue;
        if (i != first)
            sink_printf(sink, ", ");
        put_base(sink, facts, &facts->base[i]);
    }
    if (base->through || base->beyond)
        sink_printf(sink, ", through it %s", verb_of(base->through));
    if (base->beyond)
        sink_printf(sink, ", beyond that %s", verb_of(base->beyond));
}

struct phrases {
    struct text_sink *sink;
    const char *between; /* of the next one */
};

static void next_phrase(struct phrases *phrases)
{
    sink_printf(phrases->sink, "%s", phrases->between);
    phrases->between = "; ";
}

static void put_handles(struct phrases *phrases, const struct code_facts *facts)
{
    for (int i = 0; i < facts->handles && i < CODE_HANDLES; i++) {
        uint16_t offset = facts->handle[i].offset;
        struct code_term term = {CODE_PARAMETER, offset, (uint16_t)(offset + 4)};
        next_phrase(phrases);
        sink_printf(phrases->sink, "%s by the handle ", verb_of(facts->handle[i].use));
        put_parameter(phrases->sink, facts, &term);
    }
}

static void put_flags(struct phrases *phrases, uint8_t flags)
{
    static const struct {
        uint8_t flag;
        const char *words;
    } words[] = {{CODE_HEAP, "uses the device's heap"},
                 {CODE_SYSTEM, "calls functions of the driver's"},
                 {CODE_BOUND_TEXTURE, "uses a texture or surface reference"},
                 {CODE_TENSOR_MAP, "reads and writes by tensor maps"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if ((flags & words[i].flag) == 0)
            continue;
        next_phrase(phrases);
        sink_printf(phrases->sink, "%s", words[i].words);
    }
}

static void put_why(struct phrases *phrases, const struct code_facts *facts)
{
    char text[CODE_TEXT + 1];
    next_phrase(phrases);
    sink_printf(phrases->sink, "%s", code_words_why((enum code_why)facts->why));
    text_clean(text, sizeof text, facts->text, strnlen(facts->text, CODE_TEXT));
    if (text[0] != 0)
        sink_printf(phrases->sink, ": %s", text);
    if (facts->at != 0)
        sink_printf(phrases->sink, facts->is_ptx ? " at line %u" : " at 0x%x", (unsigned)facts->at);
}

void kernel_line(struct text_sink *sink, const struct kernel_row *row)
{
    const struct code_facts *facts = row->facts;
    int bases = facts->bases < CODE_BASES ? facts->bases : CODE_BASES;
    struct phrases phrases = {sink, "  "};
    sink_printf(sink, "%-8s ", code_words_verdict((enum code_verdict)facts->verdict));
    put_name(sink, row->name);
    sink_printf(sink, "  %s", kernel_arch(facts).text);
    if (facts->verdict == CODE_UNKNOWN)
        put_why(&phrases, facts);
    for (int i = 0; i < bases; i++) {
        if (is_told(facts, i))
            continue;
        next_phrase(&phrases);
        put_alike(sink, facts, i, bases);
    }
    put_handles(&phrases, facts);
    put_flags(&phrases, facts->flags);
    if (phrases.between[0] == ' ')
        sink_printf(sink, "  touches no memory");
    sink_printf(sink, "\n");
}

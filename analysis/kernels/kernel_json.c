/* SPDX-License-Identifier: Apache-2.0
 *
 * A kernel's facts as JSON. Called by `ptds kernels --format json`.
 */
#include <string.h>

#include "analysis/kernels/kernels.h"
#include "analysis/views/json/value.h"

/* NULL, which is null: nothing is done with it. */
static const char *use_word(uint8_t use)
{
    static const char *const words[] = {NULL, "read", "write", "read-write"};
    return words[use & (CODE_READ | CODE_WRITE)];
}

static json_t *use_value(uint8_t use)
{
    return value_text(use_word(use));
}

/* Of a kernel that may touch anything nobody knows that a parameter is none. */
static json_t *parameter_use(const struct code_facts *facts, const struct code_parameter *parameter)
{
    struct parameter_facts found = kernel_parameter(facts, parameter);
    if (found.kind == PARAMETER_HANDLE)
        return value_text("handle");
    if (found.kind == PARAMETER_POINTER && use_word(found.use) != NULL)
        return use_value(found.use);
    return value_text(facts->verdict == CODE_UNKNOWN ? "unknown" : "value");
}

static json_t *parameters_value(const struct code_facts *facts)
{
    json_t *list = json_array();
    for (int i = 0; i < facts->parameters && i < CODE_PARAMETERS; i++) {
        const struct code_parameter *parameter = &facts->parameter[i];
        json_t *one = json_object();
        json_object_set_new(one, "offset", value_number(parameter->offset));
        json_object_set_new(one, "size", value_number(parameter->size));
        json_object_set_new(one, "use", parameter_use(facts, parameter));
        json_array_append_new(list, one);
    }
    return list;
}

static void set_parameter(json_t *one, const struct code_term *term)
{
    json_object_set_new(one, "parameters", value_number(term->low));
    if (term->kind == CODE_RANGE)
        json_object_set_new(one, "end", value_number(term->high));
    else if (term->high != term->low + 4)
        json_object_set_new(one, "upper", value_number(term->high));
}

static json_t *term_value(const struct code_facts *facts, const struct code_term *term)
{
    json_t *one = json_object();
    if (term->kind == CODE_PARAMETER || term->kind == CODE_RANGE)
        set_parameter(one, term);
    else if (term->kind == CODE_VARIABLE)
        json_object_set_new(one, "variable",
                            value_text(term->low < facts->variables ? facts->variable[term->low].name : NULL));
    else
        json_object_set_new(one, "loaded", json_true());
    return one;
}

static json_t *terms_value(const struct code_facts *facts, const struct code_base *base)
{
    json_t *list = json_array();
    for (int i = 0; i < base->count && i < CODE_TERMS; i++)
        json_array_append_new(list, term_value(facts, &base->term[i]));
    return list;
}

static json_t *bases_value(const struct code_facts *facts)
{
    json_t *list = json_array();
    for (int i = 0; i < facts->bases && i < CODE_BASES; i++) {
        json_t *one = json_object();
        json_object_set_new(one, "terms", terms_value(facts, &facts->base[i]));
        json_object_set_new(one, "use", use_value(facts->base[i].use));
        json_object_set_new(one, "atomic", json_boolean(facts->base[i].use & CODE_ATOMIC));
        if (facts->base[i].use & CODE_EITHER)
            json_object_set_new(one, "some", json_true());
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *through_value(const struct code_facts *facts)
{
    json_t *list = json_array();
    for (int i = 0; i < facts->bases && i < CODE_BASES; i++) {
        const struct code_base *base = &facts->base[i];
        if (!base->through && !base->beyond)
            continue;
        json_t *one = json_object();
        json_object_set_new(one, "from", terms_value(facts, base));
        json_object_set_new(one, "use", use_value(base->through));
        json_object_set_new(one, "beyond", use_value(base->beyond));
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *variables_value(const struct code_facts *facts)
{
    json_t *list = json_array();
    for (uint16_t i = 0; i < facts->variables && i < CODE_VARIABLES; i++) {
        json_t *one = json_object();
        json_object_set_new(one, "name", value_text(facts->variable[i].name));
        json_object_set_new(one, "constant", json_boolean(facts->variable[i].constant));
        json_object_set_new(one, "use", use_value(kernel_variable_use(facts, i)));
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *handles_value(const struct code_facts *facts)
{
    json_t *list = json_array();
    for (int i = 0; i < facts->handles && i < CODE_HANDLES; i++) {
        json_t *one = json_object();
        json_object_set_new(one, "offset", value_number(facts->handle[i].offset));
        json_object_set_new(one, "use", use_value(facts->handle[i].use));
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *flags_value(uint8_t flags)
{
    static const struct {
        uint8_t flag;
        const char *word;
    } words[] = {{CODE_HEAP, "heap"},
                 {CODE_SYSTEM, "system"},
                 {CODE_BOUND_TEXTURE, "bound-texture"},
                 {CODE_TENSOR_MAP, "tensor-map"}};
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (flags & words[i].flag)
            json_array_append_new(list, value_text(words[i].word));
    }
    return list;
}

static json_t *why_value(const struct code_facts *facts)
{
    if (facts->verdict != CODE_UNKNOWN)
        return json_null();
    char text[CODE_TEXT + 1];
    text_clean(text, sizeof text, facts->text, strnlen(facts->text, CODE_TEXT));
    json_t *why = json_object();
    json_object_set_new(why, "reason", value_text(code_words_why((enum code_why)facts->why)));
    json_object_set_new(why, "text", value_text(text[0] != 0 ? text : NULL));
    json_object_set_new(why, facts->is_ptx ? "line" : "at", value_number(facts->at));
    return why;
}

json_t *kernel_value(const struct kernel_row *row)
{
    const struct code_facts *facts = row->facts;
    json_t *kernel = json_object();
    json_object_set_new(kernel, "file", value_text(row->file));
    json_object_set_new(kernel, "name", value_text(row->name));
    json_object_set_new(kernel, "arch", value_text(kernel_arch(facts).text));
    json_object_set_new(kernel, "verdict", value_text(code_words_verdict((enum code_verdict)facts->verdict)));
    json_object_set_new(kernel, "parameters", parameters_value(facts));
    json_object_set_new(kernel, "bases", bases_value(facts));
    json_object_set_new(kernel, "through", through_value(facts));
    json_object_set_new(kernel, "variables", variables_value(facts));
    json_object_set_new(kernel, "handles", handles_value(facts));
    json_object_set_new(kernel, "flags", flags_value(facts->flags));
    json_object_set_new(kernel, "why", why_value(facts));
    return kernel;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts by parameter and by variable, whose lists are by base. Called by the writers beside.
 */
#include "analysis/kernels/kernel_use.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct small_text kernel_use_arch(const struct code_facts *facts)
{
    struct small_text text;
    snprintf(text.text, sizeof text.text, "%s_%u", facts->is_ptx ? "compute" : "sm", (unsigned)facts->arch);
    return text;
}

static int by_first_term(const void *one, const void *other)
{
    const struct code_term *a = ((const struct code_base *)one)->term, *b = ((const struct code_base *)other)->term;
    int differ = a->kind != b->kind ? a->kind - b->kind : a->low != b->low ? a->low - b->low : a->high - b->high;
    return differ != 0 ? differ : memcmp(one, other, sizeof(struct code_base));
}

void kernel_use_sort(struct code_facts *facts)
{
    size_t count = facts->bases < CODE_BASES ? facts->bases : CODE_BASES;
    qsort(facts->base, count, sizeof facts->base[0], by_first_term);
}

int kernel_use_parameter_at(const struct code_facts *facts, uint16_t byte)
{
    for (int i = 0; i < facts->parameters && i < CODE_PARAMETERS; i++) {
        const struct code_parameter *parameter = &facts->parameter[i];
        if (byte >= parameter->offset && byte - parameter->offset < parameter->size)
            return i;
    }
    return -1;
}

static bool is_of(const struct code_term *term, const struct code_parameter *parameter)
{
    unsigned begin = parameter->offset, end = begin + parameter->size;
    if (term->kind == CODE_RANGE)
        return term->low < end && term->high > begin;
    return term->kind == CODE_PARAMETER &&
           ((term->low >= begin && term->low < end) || (term->high >= begin && term->high < end));
}

struct parameter_facts kernel_use_of_parameter(const struct code_facts *facts, const struct code_parameter *parameter)
{
    struct parameter_facts found = {PARAMETER_VALUE, 0};
    for (int i = 0; i < facts->handles && i < CODE_HANDLES; i++) {
        unsigned offset = facts->handle[i].offset;
        if (offset >= parameter->offset && offset < (unsigned)parameter->offset + parameter->size)
            found = (struct parameter_facts){PARAMETER_HANDLE, (uint8_t)(found.use | facts->handle[i].use)};
    }
    for (int i = 0; i < facts->bases && i < CODE_BASES; i++) {
        const struct code_base *base = &facts->base[i];
        for (int j = 0; j < base->count && j < CODE_TERMS; j++) {
            if (is_of(&base->term[j], parameter))
                found = (struct parameter_facts){PARAMETER_POINTER, (uint8_t)(found.use | base->use)};
        }
    }
    return found;
}

uint8_t kernel_use_of_variable(const struct code_facts *facts, uint16_t variable)
{
    uint8_t use = 0;
    for (int i = 0; i < facts->bases && i < CODE_BASES; i++) {
        const struct code_base *base = &facts->base[i];
        for (int j = 0; j < base->count && j < CODE_TERMS; j++) {
            if (base->term[j].kind == CODE_VARIABLE && base->term[j].low == variable)
                use |= base->use;
        }
    }
    return use;
}

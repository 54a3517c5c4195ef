/* SPDX-License-Identifier: Apache-2.0
 *
 * A form as text, one line a step, for tests of the front ends.
 *
 *   sum r4:2 = r0:2 + -8 + ~r3:1*        * scaled, ~ negated; what follows the colon: words, where there are any
 *   load r6:1 narrow = global [r4:2 + 16:2]
 *   @!p1 branch 7
 */
#ifndef PTDS_TESTS_CODE_FORM_TEXT_H
#define PTDS_TESTS_CODE_FORM_TEXT_H

#include <string>

extern "C" {
#include "interpose/code/form.h"
}

namespace form_text
{
inline std::string operand(const struct form &form, const struct operand &one)
{
    const struct code_facts &facts = *form.facts;
    std::string text = one.negated ? "~" : "", at = std::to_string(one.value);
    std::string index = one.number != NO_REGISTER ? "+r" + std::to_string(one.number) : "";
    std::string name = one.variable < facts.variables ? facts.variable[one.variable].name : "?";
    switch (one.kind) {
    case OPERAND_NONE: text += "none"; break;
    case OPERAND_REGISTER: text += "r" + std::to_string(one.number); break;
    case OPERAND_CONSTANT: text += at; break;
    case OPERAND_PARAMETER: text += "param[" + at + index + "]"; break;
    case OPERAND_BANK: text += "bank " + name + "[" + at + index + "]"; break;
    case OPERAND_ADDRESS: text += "&" + name + "+" + at; break;
    case OPERAND_STACK: text += "stack+" + at; break;
    case OPERAND_PARAMETERS_AT: text += "&param+" + at; break;
    case OPERAND_HEAP: text += "heap"; break;
    default: text += "other";
    }
    return text + (one.words ? ":" + std::to_string(one.words) : "") + (one.scaled ? "*" : "");
}

inline std::string operands(const struct form &form, const struct operand *list, int count)
{
    std::string text;
    for (int i = 0; i < count; i++)
        text += (i ? " + " : "") + operand(form, list[i]);
    return text;
}

inline std::string kind(const struct step &step)
{
    static const char *const words[] = {"none",   "move",   "sum",   "join",   "product", "logic",   "mix",
                                        "float",  "load",   "store", "atomic", "stage",   "texture", "tensor",
                                        "branch", "switch", "call",  "return", "exit",    "forget"};
    char table[8] = "";
    if (step.kind == STEP_LOGIC)
        snprintf(table, sizeof table, " %02x", step.table);
    return step.kind < sizeof words / sizeof *words ? std::string(words[step.kind]) + table : "?";
}

inline std::string address(const struct form &form, const struct step &step)
{
    static const char *const spaces[] = {"global", "generic", "shared", "local", "constant"};
    static const char *const uses[] = {"", "r", "w", "rw", "a", "ra", "wa", "rwa"};
    return std::string(" ") + spaces[step.space] + " " + uses[step.use & 7] + " [" + operands(form, step.part, step.parts) +
           "]";
}

inline std::string step(const struct form &form, const struct step &one)
{
    std::string text =
        one.guard ? std::string("@") + (one.guard_negated ? "!p" : "p") + std::to_string(one.guard) + " " : "";
    int accesses = one.kind == STEP_LOAD || one.kind == STEP_STORE || one.kind == STEP_ATOMIC || one.kind == STEP_STAGE ||
                   one.kind == STEP_TENSOR;
    text += kind(one);
    if (one.result != NO_REGISTER && one.words)
        text += " r" + std::to_string(one.result) + ":" + std::to_string(one.words);
    else if (one.kind == STEP_STORE || one.kind == STEP_ATOMIC || one.kind == STEP_LOAD)
        text += ":" + std::to_string(one.words);
    text += one.wide ? " wide" : "";
    text += one.upper ? " upper" : "";
    text += one.narrow ? " narrow" : "";
    if (accesses)
        text += address(form, one);
    if (one.kind == STEP_TEXTURE)
        text += one.use == CODE_READ ? " r" : one.use == CODE_WRITE ? " w" : " rwa";
    if (one.sources)
        text += " = " + operands(form, one.source, one.sources);
    if (one.kind == STEP_BRANCH || one.kind == STEP_CALL)
        text += " " + std::to_string(one.target);
    for (uint32_t i = 0; one.kind == STEP_SWITCH && i < one.targets; i++)
        text += " " + std::to_string(form.target[one.target + i]);
    for (uint16_t predicate : one.sets)
        text += predicate == ALL_PREDICATES ? " sets all" : predicate ? " sets p" + std::to_string(predicate) : "";
    return text;
}

inline std::string all(const struct form &form)
{
    std::string text;
    for (uint32_t i = 0; i < form.steps; i++)
        text += step(form, form.step[i]) + "\n";
    return text;
}
} // namespace form_text

#endif

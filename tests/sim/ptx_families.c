/* SPDX-License-Identifier: Apache-2.0
 *
 * Which family an opcode is of. Called by ptx_body.c. What is not here makes its function unknown.
 */
#include "tests/sim/ptx_body.h"

static const struct {
    const char *opcode;
    family choose;
} opcodes[] = {
    {"ld", family_memory},      {"st", family_memory},      {"ldu", family_memory},     {"mov", family_move},
    {"cvta", family_move},      {"isspacep", family_move},  {"add", family_arithmetic}, {"sub", family_arithmetic},
    {"mul", family_arithmetic}, {"mad", family_arithmetic}, {"div", family_arithmetic}, {"rem", family_arithmetic},
    {"min", family_arithmetic}, {"max", family_arithmetic}, {"neg", family_arithmetic}, {"abs", family_arithmetic},
    {"fma", family_float},      {"sqrt", family_float},     {"rcp", family_float},      {"and", family_bits},
    {"or", family_bits},        {"xor", family_bits},       {"not", family_bits},       {"shl", family_bits},
    {"shr", family_bits},       {"shf", family_bits},       {"popc", family_bits},      {"clz", family_bits},
    {"brev", family_bits},      {"bfind", family_bits},     {"bfe", family_bits},       {"bfi", family_bits},
    {"prmt", family_bits},      {"lop3", family_bits},      {"setp", family_compare},   {"set", family_compare},
    {"selp", family_compare},   {"slct", family_compare},   {"cvt", family_convert},    {"bra", family_flow},
    {"call", family_flow},      {"ret", family_flow},       {"exit", family_flow},      {"trap", family_flow},
    {"bar", family_flow},       {"barrier", family_flow},   {"membar", family_flow},    {"fence", family_flow},
    {"nanosleep", family_flow}, {"atom", family_atomic},    {"red", family_atomic},     {"tex", family_texture},
    {"suld", family_texture},   {"sust", family_texture},
};

family family_of(const struct token *opcode)
{
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++)
        if (token_is(opcode, opcodes[i].opcode))
            return opcodes[i].choose;
    return NULL;
}

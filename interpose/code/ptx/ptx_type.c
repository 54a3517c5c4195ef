/* SPDX-License-Identifier: Apache-2.0
 *
 * The types of PTX. Called for each part of an instruction's name and for declarations.
 */
#include <string.h>

#include "interpose/code/ptx/ptx.h"

static const struct {
    const char *name;
    struct type type;
} types[] = {
    {"pred", {TYPE_PREDICATE, 0}}, {"b8", {TYPE_BITS, 1}},           {"b16", {TYPE_BITS, 2}},
    {"b32", {TYPE_BITS, 4}},       {"b64", {TYPE_BITS, 8}},          {"b128", {TYPE_BITS, 16}},
    {"u8", {TYPE_UNSIGNED, 1}},    {"u16", {TYPE_UNSIGNED, 2}},      {"u32", {TYPE_UNSIGNED, 4}},
    {"u64", {TYPE_UNSIGNED, 8}},   {"s8", {TYPE_SIGNED, 1}},         {"s16", {TYPE_SIGNED, 2}},
    {"s32", {TYPE_SIGNED, 4}},     {"s64", {TYPE_SIGNED, 8}},        {"f16", {TYPE_FLOAT, 2}},
    {"f32", {TYPE_FLOAT, 4}},      {"f64", {TYPE_FLOAT, 8}},         {"bf16", {TYPE_FLOAT, 2}},
    {"tf32", {TYPE_FLOAT, 4}},     {"f16x2", {TYPE_FLOAT, 4}},       {"bf16x2", {TYPE_FLOAT, 4}},
    {"f32x2", {TYPE_FLOAT, 8}},    {"e4m3", {TYPE_FLOAT, 1}},        {"e5m2", {TYPE_FLOAT, 1}},
    {"e4m3x2", {TYPE_FLOAT, 2}},   {"e5m2x2", {TYPE_FLOAT, 2}},      {"e2m1x2", {TYPE_FLOAT, 1}},
    {"e2m3x2", {TYPE_FLOAT, 2}},   {"e3m2x2", {TYPE_FLOAT, 2}},      {"ue8m0x2", {TYPE_FLOAT, 2}},
    {"e4m3x4", {TYPE_FLOAT, 4}},   {"e5m2x4", {TYPE_FLOAT, 4}},      {"e2m1x4", {TYPE_FLOAT, 2}},
    {"e2m3x4", {TYPE_FLOAT, 4}},   {"e3m2x4", {TYPE_FLOAT, 4}},      {"u16x2", {TYPE_PACKED, 4}},
    {"s16x2", {TYPE_PACKED, 4}},   {"u8x4", {TYPE_PACKED, 4}},       {"s8x4", {TYPE_PACKED, 4}},
    {"texref", {TYPE_HANDLE, 8}},  {"samplerref", {TYPE_HANDLE, 8}}, {"surfref", {TYPE_HANDLE, 8}},
};

int ptx_type_of(struct span word, struct type *type)
{
    if (word.size < 3 || *word.at != '.')
        return 0;
    struct span name = {word.at + 1, word.size - 1};
    for (uint32_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (*name.at == *types[i].name && lexer_span_is(name, types[i].name)) {
            *type = types[i].type;
            return 1;
        }
    }
    return 0;
}

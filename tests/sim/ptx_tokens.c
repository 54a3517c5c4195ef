/* SPDX-License-Identifier: Apache-2.0
 *
 * PTX text as tokens: words with their dots ("ld.global.u32", "%tid.x"), numbers, strings and single signs. Called by
 * ptx_text.c, and by what reads tokens for a number or a type. Must never read behind the text's end.
 */
#include <ctype.h>
#include <stdlib.h>

#include "tests/sim/ptx_body.h"

void *ptx_more(void *array, uint32_t count, uint32_t *capacity, size_t size)
{
    if (count < *capacity)
        return array;
    *capacity = *capacity ? *capacity * 2 : 16;
    array = realloc(array, *capacity * size);
    if (!array)
        abort();
    return array;
}

static bool in_word(const char *p)
{
    return isalnum((unsigned char)*p) || *p == '_' || *p == '$' || *p == '%' || *p == '.';
}

/* "L1::no_allocate" is one word. */
static const char *word_end(const char *p)
{
    for (;;) {
        if (in_word(p))
            p++;
        else if (p[0] == ':' && p[1] == ':')
            p += 2;
        else
            return p;
    }
}

static const char *number_end(const char *p)
{
    bool decimal = !(p[0] == '0' && p[1] && strchr("xXfFdD", p[1]));
    for (const char *before = NULL; in_word(p) || (before && decimal && tolower(*before) == 'e' && strchr("+-", *p) && *p);)
        before = p++;
    return p;
}

static const char *string_end(const char *p)
{
    for (p++; *p && *p != '"'; p++)
        p += p[0] == '\\' && p[1];
    return *p ? p + 1 : p;
}

/* Whoever reads looks ahead, and may step over one end before it sees the next. */
enum { MOST_AHEAD = 16 };

static struct token next_token(const char **text)
{
    const char *p = *text;
    while (isspace((unsigned char)*p))
        p++;
    struct token k = {TOKEN_SIGN, 1, p};
    const char *end = p + 1;
    if (!*p)
        k.kind = TOKEN_END, end = p;
    else if (isdigit((unsigned char)*p))
        k.kind = TOKEN_NUMBER, end = number_end(p);
    else if (in_word(p))
        k.kind = TOKEN_WORD, end = word_end(p);
    else if (*p == '"')
        k.kind = TOKEN_STRING, end = string_end(p);
    k.length = (uint32_t)(end - p);
    *text = end;
    return k;
}

struct token *tokens_of(const char *text)
{
    struct token *tokens = NULL;
    uint32_t count = 0, capacity = 0;
    for (unsigned ends = 0; ends < MOST_AHEAD; count++) {
        tokens = ptx_more(tokens, count, &capacity, sizeof *tokens);
        tokens[count] = next_token(&text);
        ends += tokens[count].kind == TOKEN_END;
    }
    struct token *exact = realloc(tokens, count * sizeof *tokens); /* so that a sanitizer sees who reads behind it */
    return exact ? exact : tokens;
}

bool token_is(const struct token *k, const char *word)
{
    return strlen(word) == k->length && memcmp(k->at, word, k->length) == 0;
}

char *token_copy(const struct token *k)
{
    char *copy = strndup(k->at, k->length);
    if (!copy)
        abort();
    return copy;
}

bool token_number(const struct token *k, int64_t *value)
{
    char *end;
    if (k->kind != TOKEN_NUMBER)
        return false;
    *value = (int64_t)strtoull(k->at, &end, 0);
    end += *end == 'U';
    return end == k->at + k->length;
}

/* 0f3F800000, 0d3FF0000000000000, 1.5. */
static bool token_float(const struct token *k, double *value)
{
    char *end, kind = k->length > 2 && k->at[0] == '0' ? (char)tolower(k->at[1]) : 0;
    if (kind == 'f')
        *value = (double)float_of(strtoull(k->at + 2, &end, 16));
    else if (kind == 'd')
        *value = double_of(strtoull(k->at + 2, &end, 16));
    else
        *value = strtod(k->at, &end);
    return end == k->at + k->length;
}

bool token_bits(const struct token *k, enum ptx_type type, uint64_t *value)
{
    int64_t whole;
    double real;
    bool is_whole = token_number(k, &whole), floats = type == TYPE_F32 || type == TYPE_F64;
    if (is_whole && !floats) {
        *value = (uint64_t)whole;
        return true;
    }
    if (k->kind != TOKEN_NUMBER || !token_float(k, &real))
        return false;
    bool wide = floats ? type == TYPE_F64 : k->at[1] == 'd' || k->at[1] == 'D' || k->at[1] != 'f';
    if (!wide && k->at[0] == '0' && tolower(k->at[1]) == 'f')
        *value = strtoull(k->at + 2, NULL, 16); /* as it stands: a conversion would quiet it */
    else
        *value = wide ? of_double(real) : of_float((float)real);
    return true;
}

enum ptx_type type_of(const char *word, size_t length)
{
    static const struct {
        const char *name;
        enum ptx_type type;
    } types[] = {{"u8", TYPE_U8},   {"u16", TYPE_U16}, {"u32", TYPE_U32}, {"u64", TYPE_U64}, {"b8", TYPE_U8},
                 {"b16", TYPE_U16}, {"b32", TYPE_U32}, {"b64", TYPE_U64}, {"s8", TYPE_S8},   {"s16", TYPE_S16},
                 {"s32", TYPE_S32}, {"s64", TYPE_S64}, {"f32", TYPE_F32}, {"f64", TYPE_F64}, {"pred", TYPE_PREDICATE}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].name) == length && memcmp(types[i].name, word, length) == 0)
            return types[i].type;
    return TYPE_NONE;
}

size_t type_size(enum ptx_type type)
{
    static const size_t sizes[TYPE_COUNT + 1] = {1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 1, 0};
    return sizes[type];
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Declarations in PTX: ".align 4 .u32 name[64] = {1, 2}", and the variables of a module with their first values. Called by
 * ptx_text.c and ptx_body.c.
 */
#include <stdlib.h>

#include "tests/sim/ptx_body.h"

static bool ends(const struct token *k)
{
    return k->kind == TOKEN_END || (k->kind == TOKEN_SIGN && strchr(",;)=", *k->at));
}

/* How many values stand between the next braces; nested ones count through. */
static size_t values_in(const struct token *k)
{
    size_t count = 1;
    int depth = 0;
    for (; k->kind != TOKEN_END && !token_is(k, ";"); k++) {
        depth += token_is(k, "{") - token_is(k, "}");
        if (!depth && token_is(k, "}"))
            break;
        count += token_is(k, ",");
    }
    return count;
}

/* "[4][8]"; k at the first bracket. */
static const struct token *read_extent(const struct token *k, struct declaration *d, size_t *count)
{
    for (; token_is(k, "["); k += token_is(k, "]")) {
        int64_t n = 0;
        if (token_number(&k[1], &n) && n > 0 && (uint64_t)n < 1u << 31)
            *count *= (size_t)n;
        else
            d->open = true;
        while (k->kind != TOKEN_END && !token_is(k, "]") && !token_is(k, ";"))
            k++;
    }
    return k;
}

static const struct token *read_range(const struct token *k, struct declaration *d)
{
    if (!token_is(k, "<"))
        return k;
    if (!token_number(&k[1], &d->range) || d->range < 1 || d->range > 1 << 20)
        d->range = 1;
    while (!ends(k) && !token_is(k, ">"))
        k++;
    return token_is(k, ">") ? k + 1 : k;
}

/* One word of a declaration; returns the token behind it. */
static const struct token *read_word(const struct token *k, struct declaration *d, size_t *vector, bool *pointer)
{
    int64_t n;
    if (token_is(k, ".align") && token_number(&k[1], &n)) {
        if (!*pointer && n > 0 && n <= 4096)
            d->align = (size_t)n;
        return k + 2;
    }
    if (token_is(k, ".ptr"))
        *pointer = true;
    else if (token_is(k, ".v2") || token_is(k, ".v4"))
        *vector = (size_t)(k->at[2] - '0');
    else if (*k->at == '.' && d->type == TYPE_NONE)
        d->type = type_of(k->at + 1, k->length - 1);
    else if (k->kind == TOKEN_WORD && *k->at != '.')
        d->name = *k;
    return k + 1;
}

const struct token *declaration_read(const struct token *k, struct declaration *d)
{
    size_t count = 1, vector = d->element && d->type != TYPE_NONE ? d->element / type_size(d->type) : 1;
    bool pointer = false;
    d->name = (struct token){TOKEN_END, 0, k->at};
    d->range = 1, d->open = false, d->values = NULL;
    while (!ends(k)) {
        if (token_is(k, "["))
            k = read_extent(k, d, &count);
        else if (token_is(k, "<"))
            k = read_range(k, d);
        else
            k = read_word(k, d, &vector, &pointer);
    }
    d->element = type_size(d->type) * vector;
    if (token_is(k, "=")) {
        d->values = ++k;
        if (d->open)
            count *= values_in(k), d->open = false;
        int depth = 0;
        for (; k->kind != TOKEN_END && !token_is(k, ";") && (depth || !token_is(k, ",")); k++)
            depth += (token_is(k, "{") || token_is(k, "(")) - (token_is(k, "}") || token_is(k, ")"));
    }
    d->size = d->open ? 0 : d->element * count;
    if (!d->align)
        d->align = d->element;
    return k;
}

struct ptx_variable *variable_find(const struct ptx_text *text, const struct token *name)
{
    for (struct ptx_variable *v = text->variables; v; v = v->next)
        if (token_is(name, v->name))
            return v;
    return NULL;
}

struct ptx_function *function_find(const struct ptx_text *text, const struct token *name)
{
    for (struct ptx_function *f = text->functions; f; f = f->next)
        if (token_is(name, f->name))
            return f;
    return NULL;
}

static void add_address(struct ptx_variable *v, size_t at, struct ptx_variable *of, const struct token *behind)
{
    int64_t more = 0;
    if (token_is(behind, "+"))
        token_number(&behind[1], &more);
    v->addresses = realloc(v->addresses, (v->address_count + 1) * sizeof *v->addresses);
    if (!v->addresses)
        abort();
    v->addresses[v->address_count++] = (struct ptx_address){at, of, more};
}

/* Numbers, functions, and addresses of variables as "name", "name+4" or "generic(name)"; anything else is zero. */
static void set_values(const struct ptx_text *text, struct ptx_variable *v, const struct declaration *d)
{
    size_t at = 0, element = type_size(d->type);
    bool negative = false;
    for (const struct token *k = d->values; k->kind != TOKEN_END && !token_is(k, ";"); k++) {
        uint64_t bits;
        struct ptx_variable *of = k->kind == TOKEN_WORD ? variable_find(text, k) : NULL;
        if (token_is(k, "{") || token_is(k, "}") || token_is(k, "("))
            continue;
        if (token_is(k, ","))
            at += element;
        if (at + element > v->size)
            break;
        if (token_is(k, "-")) {
            negative = true;
            continue;
        }
        if (of && element == 8) {
            add_address(v, at, of, &k[1 + token_is(&k[1], ")")]);
            while (!token_is(&k[1], ",") && !token_is(&k[1], "}") && !token_is(&k[1], ";") && k[1].kind != TOKEN_END)
                k++;
        } else if (element == 8 && k->kind == TOKEN_WORD && function_find(text, k)) {
            bits = PTX_WINDOW_CODE | function_find(text, k)->index;
            memcpy(v->first + at, &bits, element);
        } else if (token_bits(k, d->type, &bits)) {
            if (negative)
                bits = d->type == TYPE_F64 ? bits ^ 1ull << 63 : d->type == TYPE_F32 ? bits ^ 1ull << 31 : 0 - bits;
            memcpy(v->first + at, &bits, element);
        }
        negative = false;
    }
}

static size_t place(size_t *total, const struct declaration *d)
{
    size_t offset = (*total + d->align - 1) / d->align * d->align;
    *total = offset + d->size;
    return offset;
}

struct ptx_variable *variable_add(struct ptx_text *text, enum ptx_space space, const struct declaration *d, bool external)
{
    struct ptx_variable *v = calloc(1, sizeof *v);
    if (!v)
        abort();
    v->name = token_copy(&d->name);
    v->space = space;
    v->size = d->size;
    v->external = external;
    v->index = text->variable_count++;
    *text->last_variable = v;
    text->last_variable = &v->next;
    if (space == SPACE_SHARED)
        v->offset = external ? PTX_DYNAMIC_SHARED : place(&text->shared_bytes, d);
    else if (!external)
        v->offset = place(&text->memory_bytes, d);
    if (d->values && !external && d->size && d->size < 64u << 20) {
        v->first = calloc(1, d->size);
        if (!v->first)
            abort();
        set_values(text, v, d);
    }
    return v;
}

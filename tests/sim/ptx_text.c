/* SPDX-License-Identifier: Apache-2.0
 *
 * A text of PTX as functions and variables, and the texts that were read already: tests load the same few thousands of
 * times. Called by module.c, locked. What a body cannot do makes only that function unknown; what stands outside of bodies
 * and is not understood is skipped.
 */
#include <ctype.h>
#include <stdlib.h>

#include "tests/sim/ptx_body.h"

enum { IDLE_TEXTS = 64 };

/* Lines stay as they are, for messages. */
static char *without_comments(const char *text)
{
    char *copy = malloc(strlen(text) + 1), *to = copy;
    if (!copy)
        abort();
    while (*text) {
        if (strncmp(text, "//", 2) == 0) {
            text += strcspn(text, "\n");
        } else if (strncmp(text, "/*", 2) == 0) {
            const char *end = strstr(text + 2, "*/");
            for (end = end ? end + 2 : text + strlen(text); text < end; text++)
                if (*text == '\n')
                    *to++ = '\n';
        } else {
            *to++ = *text++;
        }
    }
    *to = 0;
    return copy;
}

static const struct token *behind_braces(const struct token *k)
{
    int depth = 0;
    for (; k->kind != TOKEN_END; k++) {
        depth += token_is(k, "{") - token_is(k, "}");
        if (depth <= 0 && token_is(k, "}"))
            return k + 1;
    }
    return k;
}

/* "(.param .u64 a, .reg .b32 b)"; k at the parenthesis. Returns the token behind. */
static const struct token *read_formals(const struct token *k, struct ptx_formal **formals, unsigned *count, size_t *bytes)
{
    uint32_t capacity = 0;
    free(*formals);
    *formals = NULL;
    *count = 0;
    for (k++; k->kind != TOKEN_END && !token_is(k, ")"); k += token_is(k, ",")) {
        struct declaration d = {.type = TYPE_NONE};
        bool in_slot = token_is(k, ".reg");
        const struct token *from = k;
        k = declaration_read(k, &d);
        if (d.size) {
            *formals = ptx_more(*formals, *count, &capacity, sizeof **formals);
            size_t offset = (*bytes + d.align - 1) / d.align * d.align;
            (*formals)[(*count)++] = (struct ptx_formal){offset, d.size, d.align, 0, in_slot};
            *bytes = offset + d.size;
        }
        if (k == from || token_is(k, ";") || token_is(k, "="))
            k++;
    }
    return k->kind == TOKEN_END ? k : k + 1;
}

static struct ptx_function *function_named(struct ptx_text *text, const struct token *name)
{
    struct ptx_function *f = function_find(text, name);
    if (f)
        return f;
    f = calloc(1, sizeof *f);
    if (!f)
        abort();
    f->name = token_copy(name);
    f->text = text;
    f->index = text->function_count++;
    *text->last_function = f;
    text->last_function = &f->next;
    return f;
}

/* k behind ".entry" or ".func". */
static const struct token *read_function(struct ptx_text *text, const struct token *k, bool entry)
{
    const struct token *results = NULL, *parameters = NULL;
    for (; k->kind == TOKEN_WORD && *k->at == '.';)
        k++;
    if (token_is(k, "(")) {
        results = k;
        while (k->kind != TOKEN_END && !token_is(k, ")"))
            k++;
        k += k->kind != TOKEN_END;
    }
    if (k->kind != TOKEN_WORD)
        return k;
    struct ptx_function *f = function_named(text, k++);
    if (f->body) { /* twice: the first counts */
        while (k->kind != TOKEN_END && !token_is(k, "{") && !token_is(k, ";"))
            k++;
        return k;
    }
    size_t bytes = 0;
    f->entry = entry;
    if (results)
        read_formals(results, &f->results, &f->result_count, &bytes);
    if (token_is(k, "(")) {
        parameters = k;
        k = read_formals(k, &f->parameters, &f->parameter_count, &bytes);
    }
    f->parameter_bytes = bytes;
    while (k->kind != TOKEN_END && !token_is(k, "{") && !token_is(k, ";"))
        k++;
    if (!token_is(k, "{"))
        return k;
    const struct token *end = behind_braces(k);
    f->body = true;
    body_read(text, f, k + 1, end, parameters, results);
    return end;
}

static const struct token *read_variables(struct ptx_text *text, const struct token *k, enum ptx_space space, bool external)
{
    struct declaration d = {.type = TYPE_NONE};
    do {
        k = declaration_read(k + 1, &d);
        if (d.name.length && d.type != TYPE_NONE && (d.size || external))
            variable_add(text, space, &d, external);
    } while (token_is(k, ","));
    return k;
}

static enum ptx_space space_of(const struct token *k)
{
    return token_is(k, ".global")   ? SPACE_GLOBAL
           : token_is(k, ".const")  ? SPACE_CONST
           : token_is(k, ".shared") ? SPACE_SHARED
                                    : SPACE_GENERIC;
}

static void read_all(struct ptx_text *text, const struct token *k)
{
    bool external = false;
    while (k->kind != TOKEN_END) {
        if (token_is(k, ".entry") || token_is(k, ".func"))
            k = read_function(text, k + 1, token_is(k, ".entry"));
        else if (token_is(k, "{"))
            k = behind_braces(k);
        else if (space_of(k) != SPACE_GENERIC)
            k = read_variables(text, k, space_of(k), external);
        else if (token_is(k, ".extern"))
            external = true, k++;
        else if (token_is(k, ".visible") || token_is(k, ".weak") || token_is(k, ".common"))
            k++;
        else
            external = false, k++;
    }
}

static void index_all(struct ptx_text *text)
{
    text->variable_at = calloc(text->variable_count + 1, sizeof(struct ptx_variable *));
    text->function_at = calloc(text->function_count + 1, sizeof(struct ptx_function *));
    if (!text->variable_at || !text->function_at)
        abort();
    for (struct ptx_variable *v = text->variables; v; v = v->next)
        text->variable_at[v->index] = v;
    for (struct ptx_function *f = text->functions; f; f = f->next)
        text->function_at[f->index] = f;
}

struct ptx_text *ptx_parse(const char *image)
{
    struct ptx_text *text = calloc(1, sizeof *text);
    if (!text)
        abort();
    text->last_function = &text->functions;
    text->last_variable = &text->variables;
    text->text = without_comments(image);
    if (!strstr(text->text, ".version")) {
        ptx_free(text);
        return NULL;
    }
    struct token *tokens = tokens_of(text->text);
    read_all(text, tokens);
    free(tokens);
    index_all(text);
    flow_link(text);
    return text;
}

static void free_function(struct ptx_function *f)
{
    for (uint32_t i = 0; i < f->call_count; i++) {
        free(f->calls[i].name);
        free(f->calls[i].passed);
    }
    free(f->calls);
    free(f->code);
    free(f->filled);
    free(f->slots);
    free(f->parameters);
    free(f->results);
    free(f->unknown);
    free(f->name);
    free(f);
}

void ptx_free(struct ptx_text *text)
{
    for (struct ptx_function *f = text->functions, *next; f; f = next) {
        next = f->next;
        free_function(f);
    }
    for (struct ptx_variable *v = text->variables, *next; v; v = next) {
        next = v->next;
        free(v->first);
        free(v->addresses);
        free(v->name);
        free(v);
    }
    free(text->variable_at);
    free(text->function_at);
    free(text->text);
    free(text);
}

const struct ptx_function *ptx_entry(const struct ptx_text *text, const char *name)
{
    for (const struct ptx_function *f = text->functions; f; f = f->next)
        if (f->entry && strcmp(f->name, name) == 0)
            return f;
    return NULL;
}

/* ---- texts that were read ---- */

struct kept {
    struct ptx_text *text;
    char *image;
    struct kept *next;
};
static struct kept *texts;
static uint64_t uses;

static uint64_t hash_of(const char *image)
{
    uint64_t hash = 14695981039346656037ull;
    for (; *image; image++)
        hash = (hash ^ (unsigned char)*image) * 1099511628211ull;
    return hash;
}

/* Of many that nobody uses the one goes that was used least recently. */
static void forget(void)
{
    struct kept **oldest = NULL;
    unsigned idle = 0;
    for (struct kept **k = &texts; *k; k = &(*k)->next)
        if (!(*k)->text->users) {
            idle++;
            if (!oldest || (*k)->text->used < (*oldest)->text->used)
                oldest = k;
        }
    if (idle <= IDLE_TEXTS)
        return;
    struct kept *gone = *oldest;
    *oldest = gone->next;
    ptx_free(gone->text);
    free(gone->image);
    free(gone);
}

struct ptx_text *ptx_open(const char *image)
{
    uint64_t hash = hash_of(image);
    struct kept *k = texts;
    while (k && (k->text->hash != hash || strcmp(k->image, image) != 0))
        k = k->next;
    if (!k) {
        struct ptx_text *text = ptx_parse(image);
        if (!text)
            return NULL;
        k = calloc(1, sizeof *k);
        if (!k || !(k->image = strdup(image)))
            abort();
        text->hash = hash;
        k->text = text;
        k->next = texts;
        texts = k;
    }
    k->text->users++;
    forget();
    k->text->used = ++uses;
    return k->text;
}

void ptx_close(struct ptx_text *text)
{
    text->users--;
}

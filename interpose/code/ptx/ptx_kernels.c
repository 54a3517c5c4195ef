/* SPDX-License-Identifier: Apache-2.0
 *
 * Looks through a module: its variables and functions by name, and where each function's text lies. What stands between
 * braces is passed over. Called once for each kernel that is read, so it must be fast; and to tell a module's kernels.
 */
#include <string.h>

#include "interpose/code/ptx/ptx.h"

static int is_variable(struct span word)
{
    return lexer_span_is(word, ".global") || lexer_span_is(word, ".const") || lexer_span_begins(word, ".shared") ||
           lexer_span_is(word, ".local") || lexer_span_is(word, ".reg");
}

/* What is said of a function between its parameters and its body: .maxntid 256, 1, 1 and the like. */
static void skip_to_body(struct lexer *lexer)
{
    while (lexer->kind != LEXEME_END && !lexer_is(lexer, '{') && !lexer_is(lexer, ';'))
        lexer_next(lexer);
}

/* Behind .entry or .func: fills in the name and where things are, and goes past all of it. 0: that is none. */
static int skim(struct lexer *lexer, struct function *function)
{
    function->head = *lexer;
    if (lexer_is(lexer, '('))
        lexer_skip_closed(lexer);
    if (lexer->kind != LEXEME_WORD)
        return 0;
    function->name = lexer->text;
    lexer_next(lexer);
    if (lexer_is(lexer, '('))
        lexer_skip_closed(lexer);
    skip_to_body(lexer);
    function->has_body = lexer_is(lexer, '{');
    function->body = *lexer;
    if (function->has_body)
        lexer_skip_closed(lexer);
    else
        lexer_take(lexer, ';');
    return 1;
}

/* One that has a body counts, wherever it stands. */
static int keep(struct ptx *ptx, const struct function *found)
{
    struct symbol *symbol = ptx_symbols_find(&ptx->symbols, found->name);
    if (symbol && symbol->kind == SYMBOL_FUNCTION) {
        if (found->has_body && !symbol->function->has_body)
            *symbol->function = *found;
        return 1;
    }
    struct function *function = arena_get(ptx->arena, sizeof *function);
    symbol = function ? ptx_symbols_add(&ptx->symbols, found->name, SYMBOL_FUNCTION) : NULL;
    if (!symbol)
        return 0;
    *function = *found;
    symbol->function = function;
    return 1;
}

/* .alias a, b; */
static int read_alias(struct ptx *ptx)
{
    struct span name = ptx->lexer.text;
    lexer_next(&ptx->lexer);
    if (!lexer_take(&ptx->lexer, ','))
        return 1;
    struct symbol *old = ptx_symbols_find(&ptx->symbols, ptx->lexer.text);
    if (!old || old->kind != SYMBOL_FUNCTION)
        return 1;
    struct symbol *symbol = ptx_symbols_add(&ptx->symbols, name, SYMBOL_FUNCTION);
    if (symbol)
        symbol->function = old->function;
    lexer_skip_statement(&ptx->lexer);
    return symbol != NULL;
}

/* .target sm_90a, debug */
static void read_target(struct ptx *ptx)
{
    struct span word = ptx->lexer.text;
    unsigned arch = 0;
    if (lexer_span_begins(word, "sm_")) {
        for (uint32_t i = 3; i < word.size && word.at[i] >= '0' && word.at[i] <= '9' && arch < 1000; i++)
            arch = arch * 10 + (unsigned)(word.at[i] - '0');
    }
    ptx->form->facts->arch = (uint16_t)arch;
    lexer_skip_line(&ptx->lexer);
}

static int read_function(struct ptx *ptx, int is_entry)
{
    struct function found = {.is_entry = (uint8_t)is_entry};
    return !skim(&ptx->lexer, &found) || keep(ptx, &found);
}

static int read_directive(struct ptx *ptx, struct span word)
{
    struct lexer *lexer = &ptx->lexer;
    if (lexer_span_is(word, ".entry") || lexer_span_is(word, ".func"))
        return read_function(ptx, lexer_span_is(word, ".entry"));
    if (lexer_span_is(word, ".alias"))
        return read_alias(ptx);
    if (is_variable(word))
        ptx_declare(ptx, word, DECLARE_MODULE);
    else if (lexer_span_is(word, ".target"))
        read_target(ptx);
    else if (lexer_span_is(word, ".address_size") && lexer->kind == LEXEME_NUMBER && lexer->number != 64)
        ptx_emit_unknown(ptx, CODE_WHY_ARCHITECTURE, lexer->line, (struct span){"addresses of 32 bits", 20});
    else if (lexer_span_is(word, ".file") || lexer_span_is(word, ".loc") || lexer_span_is(word, ".version"))
        lexer_skip_line(lexer);
    return 1;
}

int ptx_kernels_scan(struct ptx *ptx)
{
    struct lexer *lexer = &ptx->lexer;
    while (lexer->kind != LEXEME_END) {
        struct span word = lexer->text;
        if (lexer_is(lexer, '{')) { /* of a section of debug information */
            lexer_skip_closed(lexer);
        } else if (lexer->kind == LEXEME_WORD) {
            lexer_next(lexer);
            if (!read_directive(ptx, word))
                return 0;
        } else {
            lexer_next(lexer);
        }
    }
    return 1;
}

static int tell(struct arena *arena, struct span name, int (*each)(void *data, const char *kernel), void *data)
{
    char *copy = arena_get(arena, (size_t)name.size + 1);
    if (!copy)
        return 0;
    memcpy(copy, name.at, name.size);
    copy[name.size] = 0;
    return each(data, copy);
}

int ptx_kernels(const struct code_image *image, int (*each)(void *data, const char *kernel), void *data)
{
    struct arena arena = {.limit = (size_t)256 << 20};
    struct lexer lexer;
    int result = 0;
    lexer_begin(&lexer, (const char *)image->bytes, image->size);
    while (lexer.kind != LEXEME_END && !result) {
        struct function found = {.is_entry = 0};
        if (lexer_is(&lexer, '{')) {
            lexer_skip_closed(&lexer);
        } else if (lexer_is_word(&lexer, ".entry")) {
            lexer_next(&lexer);
            if (skim(&lexer, &found) && found.has_body)
                result = tell(&arena, found.name, each, data);
        } else {
            lexer_next(&lexer);
        }
    }
    arena_free(&arena);
    return result;
}

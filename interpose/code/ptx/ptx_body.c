/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a kernel or a function statement by statement. Called for the kernel that is wanted, and for each function that it
 * calls, once.
 */
#include <string.h>

#include "interpose/code/ptx/ptx.h"

static void split_name(struct instruction *in, struct span word)
{
    const char *end = word.at + word.size;
    for (const char *at = word.at; at < end && in->parts < PARTS;) {
        const char *dot = at == word.at && *at == '.' ? at : memchr(at, '.', (size_t)(end - at));
        struct span part = {at, (uint32_t)((dot ? dot : end) - at)};
        if (part.size) {
            struct span with_dot = {at - 1, part.size + 1};
            if (in->parts && ptx_type_of(with_dot, &in->type[in->types]) &&
                in->types + 1 < sizeof in->type / sizeof *in->type)
                in->types++;
            in->part[in->parts++] = part;
        }
        at += part.size + 1;
    }
}

static void read_guard(struct ptx *ptx, struct instruction *in)
{
    struct lexer *lexer = &ptx->lexer;
    uint32_t index;
    lexer_next(lexer);
    in->guard_negated = (uint8_t)lexer_take(lexer, '!');
    struct symbol *symbol = ptx_symbols_find_numbered(&ptx->symbols, lexer->text, &index);
    if (symbol && symbol->kind == SYMBOL_PREDICATE && symbol->lanes == 1)
        in->guard = ptx_emit_predicate_number(ptx, &symbol->registers[index]);
    else
        ptx_emit_unknown(ptx, CODE_WHY_INSTRUCTION, lexer->line, lexer->text);
    lexer_next(lexer);
}

static uint32_t bytes_to(const char *begin, const char *end)
{
    return end - begin > CODE_TEXT ? CODE_TEXT : (uint32_t)(end - begin);
}

static void read_instruction(struct ptx *ptx, struct instruction *in)
{
    struct lexer *lexer = &ptx->lexer;
    const char *begin = lexer->text.at;
    in->line = lexer->line;
    while (lexer->kind == LEXEME_WORD && (!in->parts || *lexer->text.at == '.')) {
        split_name(in, lexer->text);
        lexer_next(lexer);
    }
    ptx->form->facts->instructions++;
    int readable = in->parts && in->parts < PARTS && ptx_arguments_read(ptx, in);
    in->text = (struct span){begin, bytes_to(begin, readable ? lexer->text.at : lexer->end)};
    if (readable) {
        struct ptx_meanings meanings = ptx_meaning_begin(ptx, in);
        ptx_table_lower(ptx, in);
        ptx_emit_predicates(ptx, in);
        ptx_meaning_end(ptx, meanings);
    } else {
        ptx_emit_not_known(ptx, in);
    }
    lexer_skip_statement(lexer);
}

static int is_declaration(struct span word)
{
    static const char *const words[] = {".reg", ".local", ".param", ".global", ".const"};
    for (uint32_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (lexer_span_is(word, words[i]))
            return 1;
    }
    return lexer_span_begins(word, ".shared");
}

/* .loc 1 23 5, .file 1 "a.cu", .pragma "nounroll"; */
static void read_directive(struct ptx *ptx)
{
    struct lexer *lexer = &ptx->lexer;
    struct span word = lexer->text;
    if (lexer_span_is(word, ".loc") || lexer_span_is(word, ".file")) {
        lexer_skip_line(lexer);
        return;
    }
    lexer_next(lexer);
    if (is_declaration(word)) {
        ptx_declare(ptx, word, DECLARE_BODY);
    } else if (lexer_span_is(word, ".branchtargets") && ptx->text) {
        ptx_labels_targets(ptx, ptx->text);
    } else if (lexer_span_is(word, ".section")) {
        while (lexer->kind != LEXEME_END && !lexer_is(lexer, '{') && !lexer_is(lexer, '}'))
            lexer_next(lexer);
        if (lexer_is(lexer, '{'))
            lexer_skip_closed(lexer);
    } else {
        static const char *const known[] = {".pragma", ".callprototype", ".calltargets", ".extern", ".visible", ".weak"};
        int is_known = 0;
        for (uint32_t i = 0; i < sizeof known / sizeof *known; i++)
            is_known |= lexer_span_is(word, known[i]);
        if (!is_known)
            ptx_emit_unknown(ptx, CODE_WHY_INSTRUCTION, lexer->line, word);
        if (!is_known || !lexer_span_is(lexer->text, ".shared"))
            lexer_skip_statement(lexer);
    }
}

static int is_label(const struct lexer *lexer)
{
    struct lexer ahead = *lexer;
    lexer_next(&ahead);
    return lexer_is(&ahead, ':');
}

static void read_word(struct ptx *ptx, struct instruction *in)
{
    struct lexer *lexer = &ptx->lexer;
    if (*lexer->text.at == '.') {
        read_directive(ptx);
    } else if (!in->guard && is_label(lexer)) {
        ptx_labels_define(ptx, lexer->text);
        lexer_next(lexer);
        lexer_next(lexer);
    } else {
        read_instruction(ptx, in);
    }
}

static void read_statement(struct ptx *ptx)
{
    struct lexer *lexer = &ptx->lexer;
    struct instruction in;
    memset(&in, 0, offsetof(struct instruction, argument));
    in.argument[0] = in.argument[1] = in.argument[2] = (struct argument){.kind = ARGUMENT_NONE};
    if (lexer_is(lexer, '@')) {
        if (lexer->next < lexer->end && *lexer->next == '@') { /* @@DWARF */
            lexer_skip_line(lexer);
            return;
        }
        read_guard(ptx, &in);
    }
    if (lexer->kind == LEXEME_WORD) {
        read_word(ptx, &in);
    } else if (!lexer_take(lexer, ';')) {
        ptx_emit_unknown(ptx, CODE_WHY_INSTRUCTION, lexer->line, lexer->text);
        lexer_next(lexer);
    }
}

static int enter(struct ptx *ptx)
{
    if (ptx->symbols.scope + 1 >= SCOPES) {
        form_unknown(ptx->form, CODE_WHY_LONG, ptx->lexer.line, "scopes");
        return 0;
    }
    ptx->symbols.scope++;
    lexer_next(&ptx->lexer);
    return 1;
}

static void leave(struct ptx *ptx)
{
    ptx_labels_leave(ptx);
    ptx_symbols_leave(&ptx->symbols);
    lexer_next(&ptx->lexer);
}

static void read_statements(struct ptx *ptx)
{
    struct lexer *lexer = &ptx->lexer;
    uint16_t outer = ptx->symbols.scope;
    while (lexer->kind != LEXEME_END) {
        if (lexer_is(lexer, '{')) {
            if (!enter(ptx))
                break;
        } else if (!lexer_is(lexer, '}')) {
            read_statement(ptx);
        } else if (ptx->symbols.scope > outer) {
            leave(ptx);
        } else {
            return;
        }
    }
    form_unknown(ptx->form, CODE_WHY_NO_IMAGE, lexer->line, "the text ends");
    while (ptx->symbols.scope > outer)
        leave(ptx);
}

/* What a function returns it gathers in registers of its own (`own`), so that a call of itself does not change them. */
static void add_formals(struct ptx *ptx, const struct formals *formals, int own)
{
    for (uint32_t i = 0; i < formals->count; i++) {
        struct symbol *formal = formals->symbol[i];
        struct symbol *symbol = ptx_symbols_add(&ptx->symbols, formal->name, (enum symbol_kind)formal->kind);
        if (!symbol)
            return form_unknown(ptx->form, CODE_WHY_MEMORY, ptx->lexer.line, NULL);
        symbol->bytes = formal->bytes;
        symbol->lanes = formal->lanes;
        symbol->number = formal->number;
        symbol->count = formal->count;
        symbol->size = formal->size;
        symbol->registers = formal->registers;
        if (own && formal->kind == SYMBOL_PASSED)
            formal->own = symbol->number = ptx_emit_new_words(ptx, (uint32_t)(formal->size + 3) / 4);
    }
}

void ptx_body_read(struct ptx *ptx, struct function *function)
{
    ptx->function = function;
    ptx->called = 0;
    ptx->text = NULL;
    function->step = ptx->form->steps;
    ptx->symbols.scope++;
    if (function->is_wanted) {
        ptx_declare_parameters(ptx, function);
    } else {
        ptx_declare_signature(ptx, function);
        add_formals(ptx, &function->results, 1);
        add_formals(ptx, &function->parameters, 0);
    }
    ptx->lexer = function->body;
    ptx->lexer.without_lines = 0;
    ptx->lexer.line = 1 + lexer_lines(ptx->begin, function->body.text.at);
    lexer_next(&ptx->lexer);
    read_statements(ptx);
    lower_return(ptx, &(struct instruction){.line = ptx->lexer.line});
    ptx_labels_leave(ptx);
    ptx_places_resolve(ptx);
    ptx_symbols_leave(&ptx->symbols);
}

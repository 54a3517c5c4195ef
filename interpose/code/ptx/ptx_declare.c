/* SPDX-License-Identifier: Apache-2.0
 *
 * Declarations: of registers, variables and parameters. Called while the module is looked through, and while a function is
 * read. Numbers in them are untrusted: what would not fit is cut, and the facts say so.
 */
#include <string.h>

#include "interpose/code/ptx/ptx.h"

enum { REGISTERS_MOST = 1 << 20, PASSED_MOST = 1 << 15, STACK_MOST = 1 << 28 };

struct declared {
    struct type type;
    struct span name;
    uint32_t lanes, count, line;
    uint64_t align, size;
    int is_array;
};

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* .align 8 .b8, .u64 .ptr .global .align 1, .v4 .f32, .attribute(.managed) and what else stands before the name. */
static void read_kind(struct ptx *ptx, struct declared *declared)
{
    struct lexer *lexer = &ptx->lexer;
    while (lexer->kind == LEXEME_WORD && *lexer->text.at == '.') {
        struct span word = lexer->text;
        lexer_next(lexer);
        if (lexer_span_is(word, ".align") && lexer->kind == LEXEME_NUMBER) {
            if (!declared->align)
                declared->align = lexer->number;
            lexer_next(lexer);
        } else if (lexer_span_is(word, ".ptr")) {
            declared->align = declared->type.bytes; /* what follows is of what it points to */
        } else if (lexer_span_is(word, ".v2") || lexer_span_is(word, ".v4")) {
            declared->lanes = (uint32_t)(word.at[2] - '0');
        } else if (!ptx_type_of(word, &declared->type) && lexer_is(lexer, '(')) {
            lexer_skip_closed(lexer);
        }
    }
}

static void read_dimensions(struct ptx *ptx, struct declared *declared)
{
    struct lexer *lexer = &ptx->lexer;
    declared->size = (uint64_t)declared->type.bytes * declared->lanes;
    while (lexer_take(lexer, '[')) {
        uint64_t count = lexer->kind == LEXEME_NUMBER ? lexer->number : 0;
        declared->is_array = 1;
        if (count && declared->size > INT64_MAX / count)
            declared->size = count = 0;
        declared->size *= count;
        while (lexer->kind != LEXEME_END && !lexer_is(lexer, ']') && !lexer_is(lexer, ';'))
            lexer_next(lexer);
        lexer_take(lexer, ']');
    }
}

/* %r<32> */
static void read_count(struct ptx *ptx, struct declared *declared)
{
    struct lexer *lexer = &ptx->lexer;
    declared->count = 0;
    if (!lexer_take(lexer, '<'))
        return;
    if (lexer->kind == LEXEME_NUMBER)
        declared->count = (uint32_t)smaller(lexer->number, REGISTERS_MOST);
    lexer_next(lexer);
    lexer_take(lexer, '>');
}

static void skip_value(struct lexer *lexer)
{
    while (lexer->kind != LEXEME_END && !lexer_is(lexer, ',') && !lexer_is(lexer, ';') && !lexer_is(lexer, '}')) {
        if (lexer_is(lexer, '{') || lexer_is(lexer, '('))
            lexer_skip_closed(lexer);
        else
            lexer_next(lexer);
    }
}

static struct symbol *no_memory(struct ptx *ptx)
{
    form_unknown(ptx->form, CODE_WHY_MEMORY, ptx->lexer.line, NULL);
    return NULL;
}

static struct symbol *add_registers(struct ptx *ptx, const struct declared *declared)
{
    int predicate = declared->type.kind == TYPE_PREDICATE;
    struct symbol *symbol = ptx_symbols_add(&ptx->symbols, declared->name, predicate ? SYMBOL_PREDICATE : SYMBOL_REGISTER);
    if (!symbol)
        return no_memory(ptx);
    uint32_t count = (declared->count ? declared->count : 1) * declared->lanes;
    symbol->bytes = declared->type.bytes || predicate ? declared->type.bytes : 4;
    symbol->lanes = (uint8_t)declared->lanes;
    symbol->registers = arena_get(ptx->arena, count * sizeof *symbol->registers);
    symbol->count = symbol->registers ? declared->count : 0;
    if (!symbol->registers) {
        symbol->kind = SYMBOL_LABEL;
        symbol->step = UINT32_MAX;
        return no_memory(ptx);
    }
    for (uint32_t i = 0; i < count; i++)
        symbol->registers[i].number = NO_REGISTER;
    return symbol;
}

/* What is handed from function to function has registers of its own. */
static struct symbol *add_passed(struct ptx *ptx, const struct declared *declared)
{
    struct symbol *symbol = ptx_symbols_add(&ptx->symbols, declared->name, SYMBOL_PASSED);
    if (!symbol)
        return no_memory(ptx);
    symbol->size = smaller(declared->size, PASSED_MOST);
    symbol->number = ptx_emit_new_words(ptx, (uint32_t)(symbol->size + 3) / 4);
    if (symbol->number == NO_REGISTER)
        symbol->size = 0;
    return symbol;
}

static enum variable_space space_of(struct span space, const struct declared *declared)
{
    if (declared->type.kind == TYPE_HANDLE)
        return VARIABLE_TEXTURE;
    if (lexer_span_begins(space, ".shared"))
        return VARIABLE_SHARED;
    return lexer_span_is(space, ".const")   ? VARIABLE_CONSTANT
           : lexer_span_is(space, ".local") ? VARIABLE_STACK
                                            : VARIABLE_GLOBAL;
}

static struct symbol *add_variable(struct ptx *ptx, struct span space, const struct declared *declared)
{
    struct symbol *symbol = ptx_symbols_add(&ptx->symbols, declared->name, SYMBOL_VARIABLE);
    if (!symbol)
        return no_memory(ptx);
    symbol->space = (uint8_t)space_of(space, declared);
    symbol->size = declared->size;
    if (symbol->space != VARIABLE_STACK)
        return symbol;
    ptx->stack = (ptx->stack + 15) & ~(int64_t)15;
    symbol->offset = ptx->stack;
    ptx->stack += (int64_t)smaller(symbol->size, STACK_MOST);
    if (ptx->stack > STACK_MOST) {
        form_unknown(ptx->form, CODE_WHY_MANY, ptx->lexer.line, "stack");
        ptx->stack = 0;
    }
    return symbol;
}

static struct symbol *add(struct ptx *ptx, struct span space, struct declared *declared)
{
    if (lexer_span_is(space, ".reg"))
        return add_registers(ptx, declared);
    if (lexer_span_begins(space, ".param"))
        return add_passed(ptx, declared);
    return add_variable(ptx, space, declared);
}

static int read_declared(struct ptx *ptx, struct declared *declared)
{
    struct lexer *lexer = &ptx->lexer;
    if (lexer->kind != LEXEME_WORD)
        return 0;
    declared->name = lexer->text;
    declared->line = lexer->line;
    declared->lanes += !declared->lanes;
    lexer_next(lexer);
    read_count(ptx, declared);
    read_dimensions(ptx, declared);
    if (lexer_take(lexer, '='))
        skip_value(lexer);
    return 1;
}

struct symbol *ptx_declare(struct ptx *ptx, struct span space, enum declare_where where)
{
    struct lexer *lexer = &ptx->lexer;
    struct declared declared = {.lanes = 0};
    struct symbol *symbol;
    if (lexer_is(lexer, '['))
        lexer_skip_closed(lexer); /* .const[2] */
    read_kind(ptx, &declared);
    do {
        struct declared one = declared;
        if (!read_declared(ptx, &one))
            break;
        symbol = add(ptx, space, &one);
        if (where == DECLARE_FORMAL)
            return symbol;
    } while (lexer_take(lexer, ','));
    if (where != DECLARE_FORMAL && !lexer_take(lexer, ';')) {
        if (where == DECLARE_BODY)
            ptx_emit_unknown(ptx, CODE_WHY_INSTRUCTION, lexer->line, lexer->text);
        lexer_skip_statement(lexer);
    }
    return NULL;
}

/* What stands in parentheses: each becomes a symbol that is in no scope until the function is read. */
static void read_formals(struct ptx *ptx, struct formals *formals)
{
    struct lexer *lexer = &ptx->lexer;
    struct symbol *list[CODE_PARAMETERS];
    formals->count = 0;
    if (!lexer_take(lexer, '('))
        return;
    while (lexer->kind != LEXEME_END && !lexer_is(lexer, ')')) {
        struct span space = lexer->text;
        lexer_next(lexer);
        struct symbol *symbol = formals->count < CODE_PARAMETERS ? ptx_declare(ptx, space, DECLARE_FORMAL) : NULL;
        if (!symbol) {
            form_unknown(ptx->form, CODE_WHY_MANY, lexer->line, "parameters");
            break;
        }
        list[formals->count++] = symbol;
        if (!lexer_take(lexer, ',') && !lexer_is(lexer, ')'))
            break;
    }
    while (lexer->kind != LEXEME_END && !lexer_take(lexer, ')'))
        lexer_next(lexer);
    formals->symbol = arena_get(ptx->arena, (formals->count + 1) * sizeof *formals->symbol);
    if (formals->symbol)
        memcpy(formals->symbol, list, formals->count * sizeof *list);
    else
        formals->count = 0;
}

void ptx_declare_signature(struct ptx *ptx, struct function *function)
{
    struct lexer here = ptx->lexer;
    if (function->has_signature)
        return;
    function->has_signature = 1;
    ptx->lexer = function->head;
    ptx->symbols.scope++;
    read_formals(ptx, &function->results);
    lexer_next(&ptx->lexer); /* its name */
    read_formals(ptx, &function->parameters);
    ptx_symbols_leave(&ptx->symbols);
    ptx->lexer = here;
}

static void add_parameter(struct ptx *ptx, const struct declared *declared, uint64_t *end)
{
    struct code_facts *facts = ptx->form->facts;
    uint64_t align = declared->align ? declared->align : (uint64_t)declared->type.bytes * declared->lanes;
    align = align && align <= 4096 ? align : 1;
    uint64_t offset = (*end + align - 1) / align * align;
    struct symbol *symbol = ptx_symbols_add(&ptx->symbols, declared->name, SYMBOL_PARAMETER);
    if (!symbol || facts->parameters == CODE_PARAMETERS || offset + declared->size > UINT16_MAX) {
        form_unknown(ptx->form, symbol ? CODE_WHY_MANY : CODE_WHY_MEMORY, declared->line, "parameters");
        return;
    }
    symbol->offset = (int64_t)offset;
    symbol->size = declared->size;
    facts->parameter[facts->parameters++] = (struct code_parameter){(uint16_t)offset, (uint16_t)declared->size};
    *end = offset + declared->size;
    facts->parameter_bytes = (uint16_t)*end;
}

void ptx_declare_parameters(struct ptx *ptx, struct function *function)
{
    struct lexer *lexer = &ptx->lexer;
    uint64_t end = 0;
    *lexer = function->head;
    lexer_next(lexer);
    if (!lexer_take(lexer, '('))
        return;
    while (lexer->kind != LEXEME_END && !lexer_is(lexer, ')')) {
        struct declared declared = {.lanes = 0};
        lexer_next(lexer); /* .param */
        read_kind(ptx, &declared);
        if (!read_declared(ptx, &declared))
            break;
        add_parameter(ptx, &declared, &end);
        if (!lexer_take(lexer, ','))
            break;
    }
    if (!lexer_is(lexer, ')'))
        ptx_emit_unknown(ptx, CODE_WHY_INSTRUCTION, lexer->line, lexer->text);
}

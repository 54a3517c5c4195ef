/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the arguments of an instruction. Called for every instruction. What can't be read is said to be so, and never
 * taken for something else.
 */
#include <string.h>

#include "interpose/code/ptx/ptx.h"

enum { IN_BRACKETS = 8 };

/* Those that are numbers, and begin no address. */
static int is_special(struct span name)
{
    static const char *const begins[] = {"%tid",     "%ntid",     "%ctaid",         "%nctaid",        "%laneid",
                                         "%warpid",  "%nwarpid",  "%smid",          "%nsmid",         "%gridid",
                                         "%clock",   "%pm",       "%envreg",        "%globaltimer",   "%lanemask_",
                                         "%cluster", "%ncluster", "%is_explicit_c", "%reserved_smem", "%total_smem_size",
                                         "%aggr_sm", "%dynamic_", "%current_graph", "WARP_SZ"};
    for (uint32_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        if (lexer_span_begins(name, begins[i]))
            return 1;
    }
    return 0;
}

static struct argument *new_items(struct ptx *ptx, uint32_t count)
{
    if (count > ITEMS - ptx->items)
        return NULL;
    struct argument *items = &ptx->item[ptx->items];
    ptx->items += count;
    return items;
}

static void register_argument(struct ptx *ptx, const struct symbol *symbol, uint32_t index, struct argument *argument)
{
    struct ptx_register *one = &symbol->registers[index];
    argument->symbol = symbol;
    argument->origin = one;
    if (symbol->kind == SYMBOL_PREDICATE) {
        argument->kind = ARGUMENT_PREDICATE;
        argument->number = ptx_emit_predicate_number(ptx, one);
        return;
    }
    argument->kind = ARGUMENT_REGISTER;
    argument->bytes = symbol->bytes;
    argument->words = (uint8_t)((symbol->bytes + 3) / 4);
    argument->number = ptx_emit_register_number(ptx, one, symbol);
}

/* .x to .w, or .r to .a. */
static uint32_t lane_of(char name)
{
    const char *lanes = "xyzwrgba", *at = strchr(lanes, name);
    return name && at ? (uint32_t)(at - lanes) % 4 : UINT32_MAX;
}

static int vector_argument(struct ptx *ptx, const struct symbol *symbol, uint32_t index, struct span lane,
                           struct argument *argument)
{
    if (lane.size == 2 && lane_of(lane.at[1]) < symbol->lanes) {
        register_argument(ptx, symbol, index * symbol->lanes + lane_of(lane.at[1]), argument);
        return 1;
    }
    struct argument *items = lane.size ? NULL : new_items(ptx, symbol->lanes);
    if (!items)
        return 0;
    for (uint32_t i = 0; i < symbol->lanes; i++) {
        items[i] = (struct argument){.kind = ARGUMENT_NONE};
        register_argument(ptx, symbol, index * symbol->lanes + i, &items[i]);
    }
    argument->kind = ARGUMENT_VECTOR;
    argument->items = items;
    argument->count = symbol->lanes;
    return 1;
}

static int symbol_argument(struct ptx *ptx, const struct symbol *symbol, uint32_t index, struct span behind,
                           struct argument *argument)
{
    switch (symbol->kind) {
    case SYMBOL_REGISTER:
    case SYMBOL_PREDICATE:
        if (symbol->lanes > 1)
            return vector_argument(ptx, symbol, index, behind, argument);
        register_argument(ptx, symbol, index, argument);
        return 1;
    case SYMBOL_FUNCTION:
    case SYMBOL_LABEL: argument->kind = ARGUMENT_NAME; break;
    default: argument->kind = ARGUMENT_SYMBOL;
    }
    argument->symbol = symbol;
    return !behind.size;
}

static int word_argument(struct ptx *ptx, struct span word, struct argument *argument)
{
    const char *dot = memchr(word.at, '.', word.size);
    struct span name = {word.at, dot ? (uint32_t)(dot - word.at) : word.size};
    struct span behind = {name.at + name.size, word.size - name.size};
    uint32_t index;
    argument->name = word;
    if (lexer_span_is(word, "_")) {
        argument->kind = ARGUMENT_SINK;
        return 1;
    }
    const struct symbol *symbol = ptx_symbols_find_numbered(&ptx->symbols, name, &index);
    if (symbol)
        return symbol_argument(ptx, symbol, index, behind, argument);
    argument->kind = is_special(word) ? ARGUMENT_OTHER : ARGUMENT_NAME;
    return argument->kind == ARGUMENT_OTHER || (*word.at != '%' && !behind.size);
}

/* Numbers with their signs, behind a name or alone. */
static int add_numbers(struct lexer *lexer, int64_t *value)
{
    uint64_t sum = (uint64_t)*value;
    while (lexer_is(lexer, '+') || lexer_is(lexer, '-')) {
        int negative = lexer_is(lexer, '-');
        lexer_next(lexer);
        negative ^= lexer_take(lexer, '-');
        if (lexer->kind != LEXEME_NUMBER)
            return 0;
        sum += negative ? -lexer->number : lexer->number;
        lexer_next(lexer);
    }
    *value = (int64_t)sum;
    return 1;
}

static int number_argument(struct lexer *lexer, struct argument *argument)
{
    int negative = lexer_take(lexer, '-');
    if (lexer->kind != LEXEME_NUMBER && lexer->kind != LEXEME_REAL)
        return 0;
    argument->kind = lexer->kind == LEXEME_NUMBER ? ARGUMENT_NUMBER : ARGUMENT_OTHER;
    argument->value = (int64_t)(negative ? -lexer->number : lexer->number);
    lexer_next(lexer);
    return add_numbers(lexer, &argument->value);
}

static int read_one(struct ptx *ptx, struct argument *argument)
{
    struct lexer *lexer = &ptx->lexer;
    *argument = (struct argument){.kind = ARGUMENT_NONE};
    argument->negated = (uint8_t)lexer_take(lexer, '!');
    if (lexer->kind != LEXEME_WORD)
        return number_argument(lexer, argument);
    struct span word = lexer->text;
    lexer_next(lexer);
    return word_argument(ptx, word, argument) && add_numbers(lexer, &argument->value);
}

/* d|p: the predicate behind the bar. */
static int read_predicate(struct ptx *ptx, struct argument *argument)
{
    struct argument predicate;
    if (!lexer_take(&ptx->lexer, '|'))
        return 1;
    if (!read_one(ptx, &predicate))
        return 0;
    if (predicate.kind == ARGUMENT_SINK)
        return 1;
    argument->has_predicate = 1;
    argument->predicate = predicate.number;
    return predicate.kind == ARGUMENT_PREDICATE;
}

/* What an opening brace or parenthesis begins. */
static int read_list(struct ptx *ptx, char close, struct argument *argument)
{
    uint32_t first = ptx->items;
    *argument = (struct argument){.kind = ARGUMENT_VECTOR, .items = &ptx->item[first]};
    lexer_next(&ptx->lexer);
    while (!lexer_is(&ptx->lexer, close)) {
        struct argument one, *item;
        if (!read_one(ptx, &one) || !read_predicate(ptx, &one) || one.kind == ARGUMENT_VECTOR ||
            !(item = new_items(ptx, 1)))
            return 0;
        *item = one;
        argument->count++;
        if (!lexer_take(&ptx->lexer, ',') && !lexer_is(&ptx->lexer, close))
            return 0;
    }
    lexer_next(&ptx->lexer);
    return 1;
}

static int read_address(struct ptx *ptx, struct argument *argument)
{
    struct argument part[IN_BRACKETS];
    uint32_t count = 0;
    lexer_next(&ptx->lexer);
    do {
        int list = count && lexer_is(&ptx->lexer, '{');
        if (count == IN_BRACKETS || !(list ? read_list(ptx, '}', &part[count]) : read_one(ptx, &part[count])))
            return 0;
        count++;
    } while (lexer_take(&ptx->lexer, ','));
    struct argument *items = new_items(ptx, count);
    if (!items || !lexer_take(&ptx->lexer, ']'))
        return 0;
    memcpy(items, part, count * sizeof *items);
    *argument = (struct argument){.kind = ARGUMENT_ADDRESS, .count = count, .items = items};
    while (ptx->lexer.kind == LEXEME_WORD && *ptx->lexer.text.at == '.')
        lexer_next(&ptx->lexer); /* .unified */
    return 1;
}

static int read_any(struct ptx *ptx, struct argument *argument)
{
    if (lexer_is(&ptx->lexer, '['))
        return read_address(ptx, argument);
    if (lexer_is(&ptx->lexer, '{'))
        return read_list(ptx, '}', argument) && read_predicate(ptx, argument);
    if (lexer_is(&ptx->lexer, '('))
        return read_list(ptx, ')', argument);
    return read_one(ptx, argument) && read_predicate(ptx, argument);
}

int ptx_arguments_read(struct ptx *ptx, struct instruction *in)
{
    ptx->items = 0;
    while (!lexer_is(&ptx->lexer, ';')) {
        if (in->count == ARGUMENTS || !read_any(ptx, &in->argument[in->count]))
            return 0;
        in->count++;
        if (!lexer_take(&ptx->lexer, ',') && !lexer_is(&ptx->lexer, ';'))
            return 0;
    }
    return 1;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Labels: they hold in the scope in which they stand, also for jumps before them and in scopes within. Called while a
 * function is read; what jumps somewhere waits until its scope, or one around it, ends.
 */
#include "interpose/code/ptx/ptx.h"

void ptx_labels_define(struct ptx *ptx, struct span name)
{
    struct symbol *symbol = ptx_symbols_add(&ptx->symbols, name, SYMBOL_LABEL);
    ptx->text = symbol;
    if (symbol)
        symbol->step = ptx->form->steps;
    else
        form_unknown(ptx->form, CODE_WHY_MEMORY, ptx->lexer.line, NULL);
}

void ptx_labels_wait(struct ptx *ptx, enum wait_kind kind, uint32_t index, struct span name, uint32_t line)
{
    struct wait *wait = arena_get(ptx->arena, sizeof *wait);
    if (!wait) {
        form_unknown(ptx->form, CODE_WHY_MEMORY, line, NULL);
        return;
    }
    *wait = (struct wait){ptx->waits[ptx->symbols.scope], name, index, line, (uint8_t)kind};
    ptx->waits[ptx->symbols.scope] = wait;
}

/* .branchtargets: names up to a semicolon. */
void ptx_labels_targets(struct ptx *ptx, struct symbol *label)
{
    struct lexer *lexer = &ptx->lexer;
    label->target = ptx->form->target_count;
    while (lexer->kind == LEXEME_WORD) {
        uint32_t count = ptx->form->target_count, target = form_add_target(ptx->form, UINT32_MAX);
        if (ptx->form->target_count == count)
            break;
        ptx_labels_wait(ptx, WAIT_TARGET, target, lexer->text, lexer->line);
        label->targets++;
        lexer_next(lexer);
        if (!lexer_take(lexer, ','))
            break;
    }
    lexer_skip_statement(lexer);
}

static void meet(struct ptx *ptx, const struct wait *wait, const struct symbol *label)
{
    struct form *form = ptx->form;
    if (wait->kind == WAIT_TARGET) {
        form->target[wait->index] = label->step;
    } else if (wait->kind == WAIT_STEP) {
        form->step[wait->index].target = label->step;
    } else {
        form->step[wait->index].target = label->target;
        form->step[wait->index].targets = label->targets;
        if (!label->targets)
            ptx_emit_unknown(ptx, CODE_WHY_BRANCH, wait->line, wait->name);
    }
}

/* No label of that name: the thread's way from there is not known. */
static void miss(struct ptx *ptx, const struct wait *wait)
{
    struct form *form = ptx->form;
    ptx_emit_unknown(ptx, CODE_WHY_BRANCH, wait->line, wait->name);
    if (wait->kind == WAIT_TARGET)
        form->target[wait->index] = ptx->function->step;
    else
        form->step[wait->index].kind = STEP_EXIT;
}

/* The scope at hand ends, and its names are still there. */
void ptx_labels_leave(struct ptx *ptx)
{
    uint16_t scope = ptx->symbols.scope;
    struct wait *next, *wait = ptx->waits[scope];
    ptx->waits[scope] = NULL;
    for (; wait; wait = next) {
        next = wait->next;
        const struct symbol *symbol = ptx_symbols_find(&ptx->symbols, wait->name);
        int is_label = symbol && symbol->kind == SYMBOL_LABEL;
        if (is_label && symbol->scope == scope) {
            meet(ptx, wait, symbol);
        } else if (scope > 1) {
            wait->next = ptx->waits[scope - 1];
            ptx->waits[scope - 1] = wait;
        } else {
            miss(ptx, wait);
        }
    }
}

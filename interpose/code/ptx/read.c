/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes the small form of one kernel of a PTX module. Called by code_read. The text is untrusted: what can't be read makes
 * the kernel unknown, and nothing worse.
 */
#include <string.h>

#include "interpose/code/ptx/ptx.h"

/* More functions than that are not followed, and so many rounds over the calls are enough for all but strange programs. */
enum { FUNCTIONS_MOST = 4096, ROUNDS = 32 };

/* In a circle a register may be written again before it is read: the form has each register once, the thread has as many
 * as there are calls. Where all are written at one place, that makes no difference. */
struct degrees {
    uint32_t in, out;
};

static int drop_ends(struct ptx *ptx, struct degrees *degrees, uint8_t *dropped)
{
    int changed = 0;
    memset(degrees, 0, (ptx->functions + 1) * sizeof *degrees);
    for (const struct call_edge *edge = ptx->calls; edge; edge = edge->next) {
        if (dropped[edge->from->number] || dropped[edge->to->number])
            continue;
        degrees[edge->from->number].out++;
        degrees[edge->to->number].in++;
    }
    for (uint32_t i = 0; i <= ptx->functions; i++) {
        if (!dropped[i] && (!degrees[i].in || !degrees[i].out))
            dropped[i] = changed = 1;
    }
    return changed;
}

void call_check(struct ptx *ptx)
{
    struct degrees *degrees = arena_get(ptx->arena, (ptx->functions + 1) * sizeof *degrees);
    uint8_t *dropped = arena_get(ptx->arena, ptx->functions + 1);
    if (!degrees || !dropped)
        return form_unknown(ptx->form, CODE_WHY_MEMORY, 0, NULL);
    for (int i = 0; i < ROUNDS && drop_ends(ptx, degrees, dropped); i++)
        ;
    for (const struct call_edge *edge = ptx->calls; edge; edge = edge->next) {
        if (!dropped[edge->to->number] && edge->to->redefines)
            ptx_unknown(ptx, CODE_WHY_CALL, edge->to->body.line, edge->to->name);
    }
}

static void read_functions(struct ptx *ptx)
{
    for (struct function *function = ptx->first_read; function; function = function->next_read) {
        if (ptx->functions > FUNCTIONS_MOST)
            return form_unknown(ptx->form, CODE_WHY_MANY, function->body.line, "functions");
        body_read(ptx, function);
    }
    for (const struct call_edge *edge = ptx->calls; edge; edge = edge->next)
        ptx->form->step[edge->step].target = edge->to->step;
    call_check(ptx);
}

static struct function *wanted(struct ptx *ptx, const char *kernel)
{
    const struct symbol *symbol = symbols_find(&ptx->symbols, (struct span){kernel, (uint32_t)strlen(kernel)});
    int found = symbol && symbol->kind == SYMBOL_FUNCTION && symbol->function->is_entry && symbol->function->has_body;
    if (!found)
        form_unknown(ptx->form, CODE_WHY_NO_KERNEL, 0, kernel);
    return found ? symbol->function : NULL;
}

void ptx_read(const struct code_image *image, const char *kernel, struct form *form)
{
    struct ptx *ptx = arena_get(form->arena, sizeof *ptx);
    form->facts->is_ptx = 1;
    if (!ptx)
        return form_unknown(form, CODE_WHY_MEMORY, 0, NULL);
    ptx->form = form;
    ptx->arena = form->arena;
    ptx->scratch = NO_REGISTER;
    lexer_begin(&ptx->lexer, (const char *)image->bytes, image->size);
    if (!lexer_is_word(&ptx->lexer, ".version"))
        return form_unknown(form, CODE_WHY_NO_IMAGE, 0, NULL);
    if (!ptx_symbols_begin(&ptx->symbols, form->arena) || !table_begin(ptx) || !module_scan(ptx))
        return form_unknown(form, CODE_WHY_MEMORY, 0, NULL);
    struct function *function = wanted(ptx, kernel);
    if (!function)
        return;
    function->is_wanted = 1;
    body_read(ptx, function);
    read_functions(ptx);
    form->registers = ptx->registers;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes the small form of one kernel of a PTX module. Called by code_read. The text is untrusted: what can't be read makes
 * the kernel unknown, and nothing worse.
 */
#include <string.h>

#include "interpose/code/ptx/ptx.h"

/* More functions than that are not followed. */
enum { FUNCTIONS_MOST = 4096 };

static void read_functions(struct ptx *ptx)
{
    for (struct function *function = ptx->first_read; function; function = function->next_read) {
        if (ptx->functions > FUNCTIONS_MOST)
            return form_unknown(ptx->form, CODE_WHY_MANY, function->body.line, "functions");
        ptx_body_read(ptx, function);
    }
    for (const struct call_edge *edge = ptx->calls; edge; edge = edge->next)
        ptx->form->step[edge->step].target = edge->to->step;
}

static struct function *wanted(struct ptx *ptx, const char *kernel)
{
    const struct symbol *symbol = ptx_symbols_find(&ptx->symbols, (struct span){kernel, (uint32_t)strlen(kernel)});
    int found = symbol && symbol->kind == SYMBOL_FUNCTION && symbol->function->is_entry && symbol->function->has_body;
    if (!found)
        form_unknown(ptx->form, CODE_WHY_NO_KERNEL, 0, kernel);
    return found ? symbol->function : NULL;
}

/* NULL: there is nothing to say of it but what the facts say. */
static struct ptx *read_once(const struct code_image *image, const char *kernel, struct form *form, struct circles *circles)
{
    struct ptx *ptx = arena_get(form->arena, sizeof *ptx);
    int memory = ptx && ptx_symbols_begin(&ptx->symbols, form->arena);
    if (memory) {
        ptx->form = form;
        ptx->arena = form->arena;
        ptx->circles = circles;
        ptx->scratch = NO_REGISTER;
        ptx->begin = (const char *)image->bytes;
        lexer_begin(&ptx->lexer, ptx->begin, image->size);
        ptx->lexer.without_lines = 1;
        memory = ptx_table_begin(ptx) && ptx_kernels_scan(ptx);
    }
    if (!memory) {
        form_unknown(form, CODE_WHY_MEMORY, 0, NULL);
        return NULL;
    }
    struct function *function = wanted(ptx, kernel);
    if (!function)
        return NULL;
    function->is_wanted = 1;
    ptx_body_read(ptx, function);
    read_functions(ptx);
    form->registers = circles ? circles->registers : ptx->registers;
    form->predicates = ptx->predicates;
    return ptx;
}

void ptx_read(const struct code_image *image, const char *kernel, struct form *form)
{
    struct code_facts *facts = form->facts;
    struct circles circles = {.registers = 0};
    struct lexer lexer;
    facts->is_ptx = 1;
    lexer_begin(&lexer, (const char *)image->bytes, image->size);
    if (!lexer_is_word(&lexer, ".version"))
        return form_unknown(form, CODE_WHY_NO_IMAGE, 0, NULL);
    struct ptx *ptx = read_once(image, kernel, form, NULL);
    if (!ptx || facts->verdict == CODE_UNKNOWN || !ptx_circles_find(ptx, &circles))
        return;
    form->steps = form->target_count = form->meanings = 0;
    facts->parameters = 0;
    facts->instructions = 0;
    read_once(image, kernel, form, &circles);
}

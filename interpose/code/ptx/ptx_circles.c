/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions that call each other in a circle. The form has each register once, a thread has as many as there are calls: a
 * register that is written at two places may have, behind a call, what the call within left in it. Such a kernel is read a
 * second time, and what those registers have is kept in others over each call of the circle. Called by ptx_read.
 */
#include <string.h>

#include "interpose/code/ptx/ptx.h"

/* So many rounds are enough for all but strange programs: of those, functions that are in no circle are taken for one. */
enum { ROUNDS = 32 };

struct degrees {
    uint32_t in, out;
};

static int drop_ends(const struct ptx *ptx, struct degrees *degrees, uint8_t *in_circle)
{
    int changed = 0;
    memset(degrees, 0, (ptx->functions + 1) * sizeof *degrees);
    for (const struct call_edge *edge = ptx->calls; edge; edge = edge->next) {
        if (!in_circle[edge->from->number] || !in_circle[edge->to->number])
            continue;
        degrees[edge->from->number].out++;
        degrees[edge->to->number].in++;
    }
    for (uint32_t i = 0; i <= ptx->functions; i++) {
        if (in_circle[i] && (!degrees[i].in || !degrees[i].out)) {
            in_circle[i] = 0;
            changed = 1;
        }
    }
    return changed;
}

int ptx_circles_find(struct ptx *ptx, struct circles *circles)
{
    struct degrees *degrees = arena_get(ptx->arena, (ptx->functions + 1) * sizeof *degrees);
    circles->in_circle = arena_get(ptx->arena, ptx->functions + 1);
    circles->kept = arena_get(ptx->arena, (ptx->functions + 1) * sizeof *circles->kept);
    if (!degrees || !circles->in_circle || !circles->kept) {
        form_unknown(ptx->form, CODE_WHY_MEMORY, 0, NULL);
        return 0;
    }
    int found = 0;
    circles->functions = ptx->functions;
    circles->registers = ptx->registers;
    memset(circles->in_circle, 1, ptx->functions + 1);
    for (int i = 0; i < ROUNDS && drop_ends(ptx, degrees, circles->in_circle); i++)
        ;
    for (const struct call_edge *edge = ptx->calls; edge; edge = edge->next) {
        const struct function *function = edge->to;
        circles->kept[function->number] = function->kept;
        found |= circles->in_circle[function->number] && function->kept;
    }
    return found;
}

void ptx_circles_note(struct ptx *ptx, uint16_t number, uint32_t words)
{
    uint64_t *word = &ptx->noted[number / 64], bit = 1ull << number % 64;
    if (number == NO_REGISTER || !words || (*word & bit))
        return;
    *word |= bit;
    struct kept *kept = arena_get(ptx->arena, sizeof *kept);
    if (!kept)
        return form_unknown(ptx->form, CODE_WHY_MEMORY, ptx->lexer.line, NULL);
    *kept = (struct kept){ptx->function->kept, words, number};
    ptx->function->kept = kept;
}

static int is_circle(const struct circles *circles, const struct function *function)
{
    return function->number <= circles->functions && circles->in_circle[function->number];
}

void ptx_circles_keep(struct ptx *ptx, const struct instruction *in, const struct function *callee, int back)
{
    struct circles *circles = ptx->circles;
    if (!circles || !is_circle(circles, ptx->function) || !is_circle(circles, callee))
        return;
    if (callee->parameters.count && callee->parameters.symbol[0]->kind == SYMBOL_REGISTER)
        return ptx_emit_unknown(ptx, CODE_WHY_CALL, in->line, in->text); /* such functions have no stack */
    if (!back)
        circles->first = circles->registers;
    uint32_t at = circles->first;
    for (const struct kept *kept = circles->kept[ptx->function->number]; kept; kept = kept->next) {
        if (at + kept->words >= NO_REGISTER)
            return form_unknown(ptx->form, CODE_WHY_MANY, in->line, "registers");
        if (back)
            ptx_emit_copy_words(ptx, in, kept->number, (uint16_t)at, kept->words);
        else
            ptx_emit_copy_words(ptx, in, (uint16_t)at, kept->number, kept->words);
        at += kept->words;
    }
    circles->registers = at;
}

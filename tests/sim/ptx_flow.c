/* SPDX-License-Identifier: Apache-2.0
 *
 * Branches, calls, returns, barriers and waits. Called by ptx_families.c's table and, when a body or a text has been read,
 * for what names something further on. A loop that only looks at memory or at the time gives its thread up at each branch
 * back: ptx_grid.c lets others run, or sleeps.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/sim/ptx_body.h"
#include "tests/sim/sim.h"

enum { LOOP_MOST = 32, MOST_CALLS_DEEP = 200 };
#define NAP_MOST_NS 10000000u

/* v[0]: where the predicate is not. Behind what is guarded: offset. */
STEP(step_guard)
{
    return (SLOT(a) != 0) != (i->v[0] != 0) ? i + 1 : i + i->offset;
}

STEP(step_branch)
{
    return i + i->offset;
}

static const struct ptx_instruction *waits(struct ptx_thread *t, const struct ptx_instruction *next, uint64_t until)
{
    t->next = next;
    t->state = STATE_WAITS;
    t->until = until;
    t->polled = t->timed = false;
    return NULL;
}

/* count: the loop only waits for the time, until slots v[1] and v[2] are the same. */
static uint64_t until_equal(const struct ptx_thread *t, const struct ptx_instruction *i)
{
    uint64_t a = t->slots[i->v[1]], b = t->slots[i->v[2]], gap = a < b ? b - a : a - b;
    return sim_now_ns() + (gap < NAP_MOST_NS ? gap : NAP_MOST_NS);
}

STEP(step_branch_back)
{
    const struct ptx_instruction *next = i + i->offset;
    const bool same = t->polled && t->seen == t->before;
    if (t->polled)
        t->before = t->seen;
    t->seen = 0;
    if (t->timed)
        return waits(t, next, i->count ? until_equal(t, i) : 0);
    if (same)
        return waits(t, next, 0);
    t->polled = false;
    return next;
}

STEP(step_exit)
{
    (void)i;
    t->state = STATE_DONE;
    return NULL;
}

STEP(step_barrier)
{
    t->state = STATE_BARRIER;
    t->next = i + 1;
    return NULL;
}

STEP(step_fence)
{
    static int nothing;
    __atomic_fetch_add(&nothing, 0, __ATOMIC_SEQ_CST);
    return i + 1;
}

STEP(step_sleep)
{
    return waits(t, i + 1, sim_now_ns() + (uint32_t)SLOT(a));
}

STEP(step_trap)
{
    ptx_fault(t, i, 0, "trap");
}

/* ---- calls ---- */

static void pass(struct ptx_frame *to, const struct ptx_formal *there, const struct ptx_frame *from,
                 const struct ptx_formal *here)
{
    uint64_t value = 0;
    if (!there->in_slot && !here->in_slot) {
        memcpy(to->params + there->offset, from->params + here->offset,
               there->size < here->size ? there->size : here->size);
        return;
    }
    if (here->in_slot)
        value = from->slots[here->slot];
    else
        memcpy(&value, from->params + here->offset, here->size < 8 ? here->size : 8);
    if (there->in_slot)
        to->slots[there->slot] = value;
    else
        memcpy(to->params + there->offset, &value, there->size < 8 ? there->size : 8);
}

static const struct ptx_function *callee_of(struct ptx_thread *t, const struct ptx_instruction *i,
                                            const struct ptx_call *call)
{
    const struct ptx_text *text = t->frame->function->text;
    if (call->callee)
        return call->callee;
    const uint64_t address = t->slots[call->address], index = address - PTX_WINDOW_CODE;
    const struct ptx_function *f =
        PTX_WINDOW_OF(address) == PTX_WINDOW_CODE && index < text->function_count ? text->function_at[index] : NULL;
    if (!f || f->unknown || !f->body || f->entry || f->parameter_count != call->parameters ||
        f->result_count != call->results)
        ptx_fault(t, i, address, "no such function");
    return f;
}

STEP(step_call)
{
    struct ptx_frame *caller = t->frame;
    const struct ptx_call *call = &caller->function->calls[i->a];
    const struct ptx_function *f = callee_of(t, i, call);
    if (caller->depth >= MOST_CALLS_DEEP)
        ptx_fault(t, i, 0, "too many calls in each other");
    struct ptx_frame *frame = ptx_frame_enter(t, f);
    for (unsigned n = 0; n < call->parameters; n++)
        pass(frame, &f->parameters[n], caller, &call->passed[n]);
    frame->call = call;
    frame->back = i + 1;
    return f->code;
}

STEP(step_return)
{
    struct ptx_frame *frame = t->frame, *caller = frame->caller;
    if (!caller)
        return step_exit(t, i);
    const struct ptx_instruction *back = frame->back;
    for (unsigned n = 0; n < frame->call->results; n++)
        pass(caller, &frame->call->passed[frame->call->parameters + n], frame, &frame->function->results[n]);
    ptx_frame_leave(t);
    return back;
}

bool ptx_ends(const struct ptx_instruction *i)
{
    return i->run == step_return || i->run == step_exit;
}

/* ---- reading them ---- */

void flow_guard(struct body *b, const struct token *predicate, bool negative)
{
    uint32_t slot = source_token(b, predicate, false, TYPE_PREDICATE);
    struct ptx_instruction *i = emit(b, step_guard);
    i->a = slot;
    i->v[0] = negative;
}

static struct ptx_instruction *simple(struct body *b, ptx_step step)
{
    struct ptx_instruction *i = emit(b, step);
    i->flags = 0;
    return i;
}

static void branch(struct body *b, struct statement *s)
{
    take(s, "uni");
    if (s->operand_count != 1 || s->operands[0].kind != OPERAND_PLAIN) {
        fail(b, "a branch");
        return;
    }
    b->branches = ptx_more(b->branches, b->branch_count, &b->branch_capacity, sizeof *b->branches);
    b->branches[b->branch_count] = s->operands[0].token;
    simple(b, step_branch)->v[0] = b->branch_count++;
}

static void passed(struct body *b, const struct operand *list, struct ptx_formal *to, bool results)
{
    for (unsigned n = 0; n < list->count; n++) {
        int64_t number;
        const struct name *name = name_find(b, &list->list[n], &number);
        if (name && name->what == NAME_FRAME_PARAM)
            to[n] = (struct ptx_formal){name->offset, name->size, 1, 0, false};
        else if (results)
            to[n] = (struct ptx_formal){0, 0, 1, destination_token(b, &list->list[n]), true};
        else
            to[n] = (struct ptx_formal){0, 0, 1, source_token(b, &list->list[n], list->list_negative[n], TYPE_U64), true};
    }
}

/* call (results), name, (parameters), prototype; all but the name may be missing. */
static void call(struct body *b, struct statement *s)
{
    static const struct operand none;
    const struct operand *at = s->operands, *end = s->operands + s->operand_count;
    take(s, "uni");
    const struct operand *results = at < end && at->kind == OPERAND_LIST ? at++ : &none;
    const struct operand *name = at < end && at->kind == OPERAND_PLAIN ? at++ : NULL;
    const struct operand *parameters = at < end && at->kind == OPERAND_LIST ? at++ : &none;
    struct ptx_function *f = b->function;
    if (!name) {
        fail(b, "a call");
        return;
    }
    struct ptx_call made = {.parameters = parameters->count, .results = results->count};
    made.passed = calloc((size_t)parameters->count + results->count + 1, sizeof *made.passed);
    f->calls = realloc(f->calls, (f->call_count + 1) * sizeof *f->calls);
    if (!made.passed || !f->calls)
        abort();
    passed(b, parameters, made.passed, false);
    passed(b, results, made.passed + parameters->count, true);
    int64_t number;
    if (name_find(b, &name->token, &number))
        made.address = source(b, name, TYPE_U64);
    else
        made.name = token_copy(&name->token);
    f->calls[f->call_count] = made;
    simple(b, step_call)->a = f->call_count++;
}

static void barrier(struct body *b, struct statement *s)
{
    take(s, "cta");
    take(s, "aligned");
    int64_t which;
    if (!take(s, "sync") || s->operand_count != 1 || !token_number(&s->operands[0].token, &which))
        fail(b, "a barrier");
    simple(b, step_barrier);
}

static void fence(struct body *b, struct statement *s)
{
    while (TAKE_ONE(s, "cta", "gl", "gpu", "sys", "cluster", "sc", "acq_rel", "acquire", "release") >= 0)
        continue;
    simple(b, step_fence);
}

static void sleeps(struct body *b, struct statement *s)
{
    if (take_type(s) != TYPE_U32 || s->operand_count != 1) {
        fail(b, "operands");
        return;
    }
    uint32_t x = source(b, &s->operands[0], TYPE_U32);
    simple(b, step_sleep)->a = x;
}

void family_flow(struct body *b, struct statement *s)
{
    const struct token *opcode = &s->parts[0];
    if (token_is(opcode, "bra")) {
        branch(b, s);
    } else if (token_is(opcode, "call")) {
        call(b, s);
    } else if (token_is(opcode, "bar") || token_is(opcode, "barrier")) {
        barrier(b, s);
    } else if (token_is(opcode, "membar") || token_is(opcode, "fence")) {
        fence(b, s);
    } else if (token_is(opcode, "nanosleep")) {
        sleeps(b, s);
    } else {
        take(s, "uni");
        simple(b, token_is(opcode, "ret") ? step_return : token_is(opcode, "exit") ? step_exit : step_trap);
    }
}

void flow_end(struct body *b)
{
    simple(b, step_return);
}

/* ---- what is named before it is there ---- */

static const struct label *label_of(const struct body *b, const struct token *name, uint32_t at)
{
    const struct label *found = NULL;
    for (uint32_t n = 0; n < b->label_count; n++) {
        const struct label *l = &b->labels[n];
        if (l->from <= at && at < l->to && l->token.length == name->length &&
            memcmp(l->token.at, name->at, name->length) == 0 && (!found || l->depth > found->depth))
            found = l;
    }
    return found;
}

/* A loop of nothing but arithmetic on the time: what its end compares. */
static void find_gap(struct ptx_function *f, uint32_t first, uint32_t last)
{
    struct ptx_instruction *back = &f->code[last];
    const struct ptx_instruction *comparison = NULL;
    bool ticks = false;
    if (last - first > LOOP_MOST || last == first || f->code[last - 1].run != step_guard ||
        f->code[last - 1].at != back->at)
        return;
    for (uint32_t n = first; n < last - 1; n++) {
        if (!(f->code[n].flags & PTX_PURE) || f->code[n].run == step_guard)
            return;
        ticks = ticks || f->code[n].run == step_special;
        if (f->code[n].d == f->code[last - 1].a)
            comparison = &f->code[n];
    }
    if (!ticks || !comparison || !(comparison->flags & PTX_COMPARES))
        return;
    back->count = 1;
    back->v[1] = comparison->a;
    back->v[2] = comparison->b;
}

void flow_branches(struct body *b)
{
    struct ptx_function *f = b->function;
    for (uint32_t n = 0; n < f->code_count; n++) {
        struct ptx_instruction *i = &f->code[n];
        if (i->run != step_branch)
            continue;
        const struct label *l = label_of(b, &b->branches[i->v[0]], n);
        if (!l) {
            fail(b, "a branch to nowhere");
            return;
        }
        i->offset = (int64_t)l->where - n;
        if (i->offset > 0)
            continue;
        i->run = step_branch_back;
        find_gap(f, l->where, n);
    }
}

static void unknown(struct ptx_function *f, const char *what, const char *name)
{
    char why[300];
    snprintf(why, sizeof why, "%s %.200s", what, name);
    f->unknown = strdup(why);
}

static bool calls_unknown(struct ptx_function *f)
{
    for (uint32_t n = 0; n < f->call_count && !f->unknown; n++)
        if (f->calls[n].callee && f->calls[n].callee->unknown)
            unknown(f, "calls", f->calls[n].callee->unknown);
    return f->unknown;
}

void flow_link(struct ptx_text *text)
{
    for (struct ptx_function *f = text->functions; f; f = f->next) {
        for (uint32_t n = 0; n < f->call_count; n++) {
            struct ptx_call *c = &f->calls[n];
            for (struct ptx_function *g = text->functions; c->name && g && !c->callee; g = g->next)
                if (g->body && !g->entry && strcmp(g->name, c->name) == 0)
                    c->callee = g;
            if (c->name && !f->unknown &&
                (!c->callee || c->callee->parameter_count != c->parameters || c->callee->result_count != c->results))
                unknown(f, "calls what is not here:", c->name);
        }
        if (!f->body && !f->unknown)
            unknown(f, "no body:", f->name);
    }
    for (bool more = true; more;) {
        more = false;
        for (struct ptx_function *f = text->functions; f; f = f->next)
            more = (!f->unknown && calls_unknown(f)) || more;
    }
}

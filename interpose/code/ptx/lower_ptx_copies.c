/* SPDX-License-Identifier: Apache-2.0
 *
 * What touches memory without going through registers, or in a shape of its own: copies, tensor maps, textures, matrices.
 * Called by the table.
 */
#include <string.h>

#include "interpose/code/ptx/ptx.h"

enum { CODE_CHANGE = CODE_READ | CODE_WRITE | CODE_ATOMIC };

static int is_global(const struct instruction *in, uint32_t which)
{
    for (uint32_t i = 1; i < in->parts; i++) {
        int global = lexer_span_is(in->part[i], "global");
        if ((global || lexer_span_begins(in->part[i], "shared")) && which-- == 0)
            return global;
    }
    return 0;
}

static void stage(struct ptx *ptx, const struct instruction *in, enum step_kind kind, uint8_t use,
                  const struct argument *address)
{
    struct step step = {.kind = (uint8_t)kind,
                        .space = kind == STEP_TENSOR ? SPACE_GENERIC : SPACE_GLOBAL,
                        .use = use,
                        .words = 1,
                        .result = NO_REGISTER};
    if (ptx_access_address(ptx, in, address, 0, &step))
        ptx_emit(ptx, in, step);
}

static const struct argument *tensor_map(const struct instruction *in)
{
    for (uint32_t i = 0; i < in->count; i++) {
        const struct argument *argument = &in->argument[i];
        if (argument->kind == ARGUMENT_ADDRESS && argument->count > 1 && argument->items[1].kind == ARGUMENT_VECTOR)
            return argument;
    }
    return NULL;
}

static int moves_nothing(const struct instruction *in)
{
    static const char *const parts[] = {"prefetch", "commit_group", "wait_group", "wait_all", "mbarrier"};
    for (uint32_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (ptx_emit_has_part(in, parts[i]))
            return 1;
    }
    return 0;
}

/* cp.async [to], [from], ...; cp.reduce.async [to], [from], ...; the spaces stand in the name in the same order. */
void lower_copy(struct ptx *ptx, const struct instruction *in)
{
    uint8_t write = ptx_emit_has_part(in, "reduce") || ptx_emit_has_part(in, "red") ? CODE_CHANGE : CODE_WRITE;
    if (!ptx_emit_has_part(in, "async"))
        return ptx_emit_not_known(ptx, in);
    if (moves_nothing(in))
        return;
    if (ptx_emit_has_part(in, "tensor"))
        stage(ptx, in, STEP_TENSOR, is_global(in, 0) ? write : CODE_READ, tensor_map(in));
    else if (is_global(in, 0))
        stage(ptx, in, STEP_STAGE, write, ptx_access_argument(in, 0));
    else if (is_global(in, 1))
        stage(ptx, in, STEP_STAGE, CODE_READ, ptx_access_argument(in, 1));
    else if (!ptx_emit_has_part(in, "bulk"))
        ptx_emit_not_known(ptx, in);
}

/* A handle among the parameters, in a register, or one that the module names. */
static void use_handle(struct ptx *ptx, const struct instruction *in, uint8_t use)
{
    const struct argument *address = ptx_access_argument(in, 0);
    const struct argument *base = address ? &address->items[0] : NULL;
    struct step step = {.kind = STEP_TEXTURE, .use = use, .sources = 1, .words = 2, .result = NO_REGISTER};
    if (!base)
        return ptx_emit_not_known(ptx, in);
    if (base->kind == ARGUMENT_SYMBOL && base->symbol->kind == SYMBOL_VARIABLE && base->symbol->space == VARIABLE_TEXTURE) {
        ptx->form->facts->flags |= CODE_BOUND_TEXTURE;
        return;
    }
    if (base->kind == ARGUMENT_SYMBOL && base->symbol->kind == SYMBOL_PARAMETER) {
        if (!ptx_places_operand(base->symbol, base->value, 8, &step.source[0]))
            return ptx_emit_not_known(ptx, in);
    } else {
        step.source[0] = ptx_emit_source(ptx, in, base);
    }
    ptx_emit(ptx, in, step);
}

void lower_texture(struct ptx *ptx, const struct instruction *in)
{
    use_handle(ptx, in, CODE_READ);
    if (in->count)
        ptx_emit_numbers(ptx, in, &in->argument[0]);
}

void lower_surface(struct ptx *ptx, const struct instruction *in)
{
    use_handle(ptx, in, lexer_span_is(in->part[0], "sust") ? CODE_WRITE : CODE_CHANGE);
}

/* wmma.load d, [p]; wmma.store [p], d; wmma.mma d, a, b, c. */
void lower_matrix(struct ptx *ptx, const struct instruction *in)
{
    int load = ptx_emit_has_part(in, "load"), store = ptx_emit_has_part(in, "store");
    struct step step = {.kind = load ? STEP_LOAD : STEP_STORE,
                        .space = ptx_access_of(in).space,
                        .use = load ? CODE_READ : CODE_WRITE,
                        .words = 1,
                        .narrow = 1,
                        .result = NO_REGISTER};
    if (load || store) {
        if (!ptx_access_address(ptx, in, ptx_access_argument(in, 0), 0, &step))
            return;
        step.sources = (uint8_t)store;
        step.source[0] = ptx_emit_operand_constant(0);
        ptx_emit(ptx, in, step);
    }
    if (!store && in->count)
        ptx_emit_numbers(ptx, in, &in->argument[0]);
}

/* Words of shared memory come to other threads than their address says: each result is one of them, or halves of two. */
void lower_matrix_load(struct ptx *ptx, const struct instruction *in)
{
    const struct argument *to = &in->argument[0];
    int vector = to->kind == ARGUMENT_VECTOR;
    for (uint32_t i = 0; i < (vector ? to->count : 1); i++) {
        struct step step = {.kind = STEP_LOAD, .space = SPACE_SHARED, .use = CODE_READ, .words = 1, .narrow = 1};
        struct result result;
        if (!ptx_access_address(ptx, in, ptx_access_argument(in, 0), 0, &step))
            return;
        if (!ptx_emit_result(ptx, in, vector ? &to->items[i] : to, &result))
            continue;
        step.result = result.number;
        ptx_emit(ptx, in, step);
        ptx_emit_extend(ptx, in, result, 1, 0);
    }
}

void lower_matrix_store(struct ptx *ptx, const struct instruction *in)
{
    const struct argument *from = &in->argument[1];
    int vector = from->kind == ARGUMENT_VECTOR;
    for (uint32_t i = 0; i < (vector ? from->count : 1); i++) {
        struct step step = {
            .kind = STEP_STORE, .space = SPACE_SHARED, .use = CODE_WRITE, .words = 1, .narrow = 1, .result = NO_REGISTER};
        if (!ptx_access_address(ptx, in, ptx_access_argument(in, 0), 0, &step))
            return;
        step.sources = 1;
        step.source[0] = ptx_emit_source(ptx, in, vector ? &from->items[i] : from);
        ptx_emit(ptx, in, step);
    }
}

/* A tensor map in memory is changed, or brought there. In shared memory it is a number of 128 bytes. */
void lower_tensormap(struct ptx *ptx, const struct instruction *in)
{
    struct step step = {
        .kind = STEP_STORE, .space = SPACE_GLOBAL, .use = CODE_WRITE, .words = 1, .narrow = 1, .result = NO_REGISTER};
    int bring = ptx_emit_has_part(in, "cp_fenceproxy"), replace = ptx_emit_has_part(in, "replace");
    if (!bring && !replace)
        return ptx_emit_not_known(ptx, in);
    if (!is_global(in, 0)) {
        step.space = SPACE_SHARED;
        if (!replace)
            return ptx_emit_not_known(ptx, in);
    }
    if (!ptx_access_address(ptx, in, ptx_access_argument(in, 0), 0, &step))
        return;
    step.sources = 1;
    step.source[0] = ptx_emit_operand_constant(0);
    ptx_emit(ptx, in, step);
}

/* Only tcgen05.ld has results, which stand before the address. */
void lower_tensor_memory(struct ptx *ptx, const struct instruction *in)
{
    if (!ptx_emit_has_part(in, "ld"))
        return;
    for (uint32_t i = 0; i < in->count && in->argument[i].kind != ARGUMENT_ADDRESS; i++)
        ptx_emit_numbers(ptx, in, &in->argument[i]);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Instructions as nodes. Called by extent_flow for each block. Whatever has no meaning leaves its results unknown.
 */
#include "interpose/code/extents/extent_meaning.h"

static node_id make(struct extent_flow *flow, struct node node)
{
    return extent_nodes_of(&flow->nodes, node);
}

static node_id number(struct extent_flow *flow, uint8_t bits, int64_t value)
{
    return make(flow, (struct node){.kind = NODE_NUMBER, .bits = bits, .value = value});
}

/* ---- what is taken ---- */

static node_id negation(struct extent_flow *flow, node_id predicate)
{
    return make(flow, (struct node){.kind = NODE_NOT, .a = predicate});
}

static node_id take_predicate(struct extent_flow *flow, uint16_t number, int negated)
{
    node_id id = number <= flow->form->predicates ? flow->now[flow->form->registers + number] : 0;
    return negated ? negation(flow, id) : id;
}

static node_id take(struct extent_flow *flow, const struct taken *taken, uint8_t bits)
{
    switch (taken->kind) {
    case TAKES_REGISTER: return taken->number < flow->form->registers ? flow->now[taken->number] : 0;
    case TAKES_NUMBER: return number(flow, bits, taken->value);
    case TAKES_PARAMETER: return make(flow, (struct node){.kind = NODE_PARAMETER, .bits = bits, .a = taken->number});
    case TAKES_SIZE: return make(flow, (struct node){.kind = NODE_SIZE, .bits = bits, .a = taken->number});
    case TAKES_PREDICATE: return take_predicate(flow, taken->number, taken->negated);
    default: return 0;
    }
}

/* ---- numbers ---- */

static node_id sum(struct extent_flow *flow, uint8_t bits, node_id a, node_id b)
{
    return make(flow, (struct node){.kind = NODE_ADD, .bits = bits, .a = a, .b = b});
}

static node_id extended(struct extent_flow *flow, node_id a, int is_signed)
{
    return make(flow, (struct node){.kind = NODE_EXTEND, .bits = 64, .is_signed = is_signed != 0, .a = a});
}

static node_id product(struct extent_flow *flow, const struct meaning *meaning)
{
    node_id a, b;
    if (meaning->kind == MEANS_WIDE) {
        a = extended(flow, take(flow, &meaning->source[0], 32), meaning->is_signed);
        b = extended(flow, take(flow, &meaning->source[1], 32), meaning->is_signed);
    } else {
        a = take(flow, &meaning->source[0], meaning->bits);
        b = take(flow, &meaning->source[1], meaning->bits);
    }
    node_id both = make(flow, (struct node){.kind = NODE_MULTIPLY, .bits = meaning->bits, .a = a, .b = b});
    if (meaning->source[2].kind == TAKES_NOTHING)
        return both;
    return sum(flow, meaning->bits, both, take(flow, &meaning->source[2], meaning->bits));
}

/* More than 62 places make no product of numbers of 64 bits. */
static node_id shifted_left(struct extent_flow *flow, const struct meaning *meaning, node_id a)
{
    int64_t places = meaning->source[1].value;
    if (places > 62)
        return 0;
    node_id by = number(flow, meaning->bits, INT64_C(1) << places);
    return make(flow, (struct node){.kind = NODE_MULTIPLY, .bits = meaning->bits, .a = a, .b = by});
}

/* `value` of a mask as its 32 or 64 bits; one with the highest of 64 is not known. */
static node_id with_bits(struct extent_flow *flow, const struct meaning *meaning, enum node_kind kind, node_id a)
{
    int64_t value = meaning->source[1].value;
    if (meaning->bits == 32)
        value = (int64_t)(uint32_t)value;
    if (value < 0)
        return 0;
    return make(flow, (struct node){.kind = (uint8_t)kind, .bits = meaning->bits, .a = a, .value = value});
}

static node_id of_two(struct extent_flow *flow, const struct meaning *meaning, enum node_kind kind)
{
    node_id a = take(flow, &meaning->source[0], meaning->bits), b = take(flow, &meaning->source[1], meaning->bits);
    return make(
        flow, (struct node){.kind = (uint8_t)kind, .bits = meaning->bits, .is_signed = meaning->is_signed, .a = a, .b = b});
}

static node_id chosen(struct extent_flow *flow, const struct meaning *meaning)
{
    node_id a = take(flow, &meaning->source[0], meaning->bits), b = take(flow, &meaning->source[1], meaning->bits);
    node_id where = take(flow, &meaning->source[2], 0);
    return make(flow, (struct node){.kind = NODE_CHOOSE, .bits = meaning->bits, .a = a, .b = b, .c = where});
}

static node_id result_of(struct extent_flow *flow, const struct meaning *meaning)
{
    uint8_t bits = meaning->bits, from = meaning->kind == MEANS_EXTEND ? 32 : meaning->kind == MEANS_CUT ? 64 : bits;
    node_id a = take(flow, &meaning->source[0], from);
    switch (meaning->kind) {
    case MEANS_MOVE: return a;
    case MEANS_ADD: return of_two(flow, meaning, NODE_ADD);
    case MEANS_SUBTRACT: return of_two(flow, meaning, NODE_SUBTRACT);
    case MEANS_MULTIPLY:
    case MEANS_WIDE: return product(flow, meaning);
    case MEANS_DIVIDE: return of_two(flow, meaning, NODE_DIVIDE);
    case MEANS_REMAINDER: return of_two(flow, meaning, NODE_REMAINDER);
    case MEANS_SMALLER: return of_two(flow, meaning, NODE_SMALLER);
    case MEANS_LARGER: return of_two(flow, meaning, NODE_LARGER);
    case MEANS_LEFT: return shifted_left(flow, meaning, a);
    case MEANS_RIGHT:
        return make(flow, (struct node){.kind = NODE_RIGHT,
                                        .bits = bits,
                                        .is_signed = meaning->is_signed,
                                        .a = a,
                                        .value = meaning->source[1].value});
    case MEANS_AND: return with_bits(flow, meaning, NODE_AND, a);
    case MEANS_OR: return with_bits(flow, meaning, NODE_OR, a);
    case MEANS_EXTEND: return extended(flow, a, meaning->is_signed);
    case MEANS_CUT: return make(flow, (struct node){.kind = NODE_CUT, .bits = 32, .a = a});
    case MEANS_CHOOSE: return chosen(flow, meaning);
    default: return 0;
    }
}

/* ---- predicates ---- */

static node_id comparison(struct extent_flow *flow, const struct meaning *meaning)
{
    static const uint8_t kinds[] = {
        [RELATION_LESS] = NODE_LESS, [RELATION_UP_TO] = NODE_UP_TO, [RELATION_EQUAL] = NODE_EQUAL};
    node_id made = of_two(flow, meaning, (enum node_kind)kinds[meaning->relation]);
    if (meaning->negated)
        made = negation(flow, made);
    if (!meaning->with)
        return made;
    return make(flow, (struct node){.kind = meaning->with == MEANS_BOTH ? NODE_BOTH : NODE_EITHER,
                                    .a = made,
                                    .b = take(flow, &meaning->source[2], 0)});
}

static node_id predicate_of(struct extent_flow *flow, const struct meaning *meaning)
{
    node_id a = take(flow, &meaning->source[0], 0);
    switch (meaning->kind) {
    case MEANS_COMPARE: return comparison(flow, meaning);
    case MEANS_NOT: return negation(flow, a);
    case MEANS_BOTH:
    case MEANS_EITHER:
        return make(flow, (struct node){.kind = meaning->kind == MEANS_BOTH ? NODE_BOTH : NODE_EITHER,
                                        .a = a,
                                        .b = take(flow, &meaning->source[1], 0)});
    default: return 0;
    }
}

static uint64_t bit_of(struct extent_flow *flow, node_id comparison)
{
    uint32_t i = 0;
    while (i < flow->comparisons && flow->comparison[i] != comparison)
        i++;
    if (i == FLOW_COMPARISONS)
        return 0;
    if (i == flow->comparisons)
        flow->comparison[flow->comparisons++] = comparison;
    return UINT64_C(1) << i;
}

/* a < b does not hold: b <= a does. */
static uint64_t holds_not(struct extent_flow *flow, struct node node)
{
    node_id a = node.a;
    switch (node.kind) {
    case NODE_LESS: node.kind = NODE_UP_TO; break;
    case NODE_UP_TO: node.kind = NODE_LESS; break;
    default: return 0;
    }
    node.a = node.b;
    node.b = a;
    return bit_of(flow, extent_nodes_of(&flow->nodes, node));
}

static uint64_t holds(struct extent_flow *flow, node_id id, int negated, unsigned depth)
{
    struct node node = *extent_nodes_at(&flow->nodes, id);
    if (!id || depth == 16)
        return 0;
    switch (node.kind) {
    case NODE_NOT: return holds(flow, node.a, !negated, depth + 1);
    case NODE_BOTH:
    case NODE_EITHER:
        if ((node.kind == NODE_BOTH) == negated)
            return 0;
        return holds(flow, node.a, negated, depth + 1) | holds(flow, node.b, negated, depth + 1);
    case NODE_LESS:
    case NODE_UP_TO:
    case NODE_EQUAL: return negated ? holds_not(flow, node) : bit_of(flow, id);
    default: return 0;
    }
}

uint64_t extent_meaning_holds(struct extent_flow *flow, uint16_t predicate, int negated)
{
    return holds(flow, take_predicate(flow, predicate, 0), negated, 0);
}

/* ---- a block ---- */

static void forget(struct extent_flow *flow, uint32_t number, uint32_t words)
{
    for (uint32_t i = number; i < number + words && i < flow->form->registers; i++)
        flow->now[i] = 0;
    if (number && number <= flow->form->registers && extent_nodes_at(&flow->nodes, flow->now[number - 1])->bits == 64)
        flow->now[number - 1] = 0;
}

static void forget_results(struct extent_flow *flow, const struct step *step)
{
    if (step->result != NO_REGISTER)
        forget(flow, step->result, step->words);
    for (uint32_t i = 0; i < STEP_PREDICATES; i++) {
        if (step->sets[i] == ALL_PREDICATES)
            for (uint32_t p = 0; p <= flow->form->predicates; p++)
                flow->now[flow->form->registers + p] = 0;
        else if (step->sets[i] && step->sets[i] <= flow->form->predicates)
            flow->now[flow->form->registers + step->sets[i]] = 0;
    }
}

static void note_access(struct extent_flow *flow, const struct meaning *meaning)
{
    node_id address = take(flow, &meaning->source[0], 64);
    if (meaning->value)
        address = sum(flow, 64, address, number(flow, 64, meaning->value));
    uint64_t known = flow->holds;
    if (meaning->guard)
        known |= extent_meaning_holds(flow, meaning->guard, meaning->guard_negated);
    for (uint32_t i = meaning->step; i < meaning->step + meaning->covers && i < flow->form->steps; i++)
        flow->access[i] = (struct flow_access){address, meaning->bytes, known};
}

/* 1: it says all of what its steps change. */
static int apply(struct extent_flow *flow, const struct meaning *meaning)
{
    if (meaning->kind == MEANS_ACCESS) {
        note_access(flow, meaning);
        return 0;
    }
    if (extent_meaning_sets_register(meaning)) {
        node_id made = result_of(flow, meaning);
        forget(flow, meaning->result, meaning->words);
        if (meaning->result < flow->form->registers && flow->bits[meaning->result])
            flow->now[meaning->result] = made;
        return 1;
    }
    if (meaning->result <= flow->form->predicates)
        flow->now[flow->form->registers + meaning->result] = predicate_of(flow, meaning);
    return 1;
}

/* The first meaning of that step or a later one. */
static uint32_t first_meaning(const struct form *form, uint32_t step)
{
    uint32_t low = 0, high = form->meanings;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (form->meaning[middle].step < step)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void extent_meaning_block(struct extent_flow *flow, const struct block *block)
{
    const struct form *form = flow->form;
    uint32_t next = first_meaning(form, block->begin), said = block->begin;
    for (uint32_t step = block->begin; step < block->end; step++) {
        for (; next < form->meanings && form->meaning[next].step == step; next++) {
            if (apply(flow, &form->meaning[next]))
                said = step + form->meaning[next].covers;
        }
        if (step >= said)
            forget_results(flow, &form->step[step]);
    }
}

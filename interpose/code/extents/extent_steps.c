/* SPDX-License-Identifier: Apache-2.0
 *
 * From nodes to steps of intervals. Called by extent_make for each access. Each step must make an interval that holds every
 * value that the node can have in any thread at any time at which the given comparisons hold.
 */
#include "interpose/code/extents/extent_steps.h"

#include "interpose/code/arena.h"

/* A loop's steps are done twice, or up to five times where nothing comes of it (extents.c). */
enum { COST_MOST = 96, LOOPS_MOST = 2, DEPTH_MOST = 40, LEADS_MOST = 200, TRIES_MOST = 4096 };

int extent_steps_begin(struct extent_steps *steps, struct extent_flow *flow)
{
    steps->flow = flow;
    steps->visited = arena_get(flow->arena, flow->nodes.count * sizeof *steps->visited);
    steps->about = arena_get(flow->arena, flow->nodes.count * sizeof *steps->about);
    steps->has_about = arena_get(flow->arena, flow->nodes.count);
    return steps->visited && steps->about && steps->has_about;
}

static const struct node *at(const struct extent_steps *steps, node_id id)
{
    return extent_nodes_at(&steps->flow->nodes, id);
}

static int takes_b(uint8_t kind)
{
    return (kind >= CODE_EXTENT_ADD && kind <= CODE_EXTENT_LARGER) ||
           (kind >= CODE_EXTENT_JOIN && kind <= CODE_EXTENT_EQUAL);
}

uint16_t extent_steps_add(struct extent_steps *steps, struct code_extent_step step)
{
    if ((step.kind >= CODE_EXTENT_ADD && step.a == EXTENT_NONE) || (takes_b(step.kind) && step.b == EXTENT_NONE))
        return EXTENT_NONE;
    steps->cost += 1u << steps->loops;
    if (steps->count == CODE_EXTENT_STEPS || steps->cost > COST_MOST)
        return EXTENT_NONE;
    steps->step[steps->count] = step;
    steps->of[steps->count] = 0;
    return steps->count++;
}

static uint16_t add(struct extent_steps *steps, enum code_extent_kind kind, uint8_t bits, uint16_t a, uint16_t b)
{
    return extent_steps_add(steps, (struct code_extent_step){.kind = (uint8_t)kind, .bits = bits, .a = a, .b = b});
}

static uint16_t number(struct extent_steps *steps, int64_t value)
{
    return extent_steps_add(steps, (struct code_extent_step){.kind = CODE_EXTENT_NUMBER, .bits = 64, .value = value});
}

/* Whether a step is a number of 32 bits as such already. */
static int is_as(const struct code_extent_step *step, int is_signed)
{
    switch (step->kind) {
    case CODE_EXTENT_NUMBER: return step->value >= (is_signed ? INT32_MIN : 0) && step->value <= INT32_MAX;
    case CODE_EXTENT_SIGNED: return is_signed;
    case CODE_EXTENT_UNSIGNED: return !is_signed && step->bits == 32;
    case CODE_EXTENT_PARAMETER: return is_signed && step->bits == 32;
    case CODE_EXTENT_BELOW:
    case CODE_EXTENT_UP_TO:
    case CODE_EXTENT_ABOVE:
    case CODE_EXTENT_FROM:
    case CODE_EXTENT_EQUAL: return step->bits == 32 && step->is_unsigned == !is_signed;
    default: return 0;
    }
}

static uint16_t as(struct extent_steps *steps, uint8_t bits, int is_signed, uint16_t a)
{
    if (a == EXTENT_NONE || (is_signed && bits == 64) || (bits == 32 && is_as(&steps->step[a], is_signed)))
        return a;
    return add(steps, is_signed ? CODE_EXTENT_SIGNED : CODE_EXTENT_UNSIGNED, bits, a, 0);
}

/* ---- nodes without a choice ---- */

static uint16_t of_two(struct extent_steps *steps, const struct node *node, enum code_extent_kind kind, uint64_t holds)
{
    uint16_t a = extent_steps_of(steps, node->a, holds);
    uint16_t b = a == EXTENT_NONE ? EXTENT_NONE : extent_steps_of(steps, node->b, holds);
    if (kind >= CODE_EXTENT_DIVIDE && kind <= CODE_EXTENT_LARGER) {
        a = as(steps, node->bits, node->is_signed, a);
        b = as(steps, node->bits, node->is_signed, b);
    }
    return add(steps, kind, node->bits, a, b);
}

static uint16_t with_value(struct extent_steps *steps, const struct node *node, enum code_extent_kind kind, uint64_t holds)
{
    uint16_t a = as(steps, node->bits, node->is_signed, extent_steps_of(steps, node->a, holds));
    return extent_steps_add(
        steps,
        (struct code_extent_step){
            .kind = (uint8_t)kind, .bits = node->bits, .is_unsigned = !node->is_signed, .a = a, .value = node->value});
}

static uint16_t of_leaf(struct extent_steps *steps, const struct node *node)
{
    uint8_t kind = node->kind == NODE_NUMBER ? CODE_EXTENT_NUMBER
                   : node->kind == NODE_SIZE ? CODE_EXTENT_SIZE
                                             : CODE_EXTENT_PARAMETER;
    return extent_steps_add(
        steps, (struct code_extent_step){.kind = kind, .bits = node->bits, .a = (uint16_t)node->a, .value = node->value});
}

/* ---- phis ---- */

/* How many of a, b, c are nodes of which the node is made; of a phi none. */
static unsigned made_of(const struct node *node)
{
    if (node->kind == NODE_CHOOSE)
        return 3;
    if (node->kind >= NODE_RIGHT && node->kind <= NODE_CUT)
        return 1;
    return node->kind >= NODE_ADD && node->kind <= NODE_LARGER ? 2 : node->kind >= NODE_LESS ? 2 : 0;
}

/* Whether the node is made of that phi, also by other phis. Where it takes too long to tell, it counts as such. */
static int leads_to(struct extent_steps *steps, node_id id, node_id phi, unsigned depth)
{
    const struct node *node = at(steps, id);
    const struct extent_flow *flow = steps->flow;
    const node_id operand[] = {node->a, node->b, node->c};
    if (id == phi || depth == LEADS_MOST)
        return 1;
    if (!node->has_phi || steps->visited[id] == steps->visit)
        return 0;
    steps->visited[id] = steps->visit;
    for (unsigned i = 0; i < made_of(node); i++) {
        if (leads_to(steps, operand[i], phi, depth + 1))
            return 1;
    }
    for (uint32_t i = 0; node->kind == NODE_PHI && i < flow->edges; i++) {
        const struct flow_edge *edge = &flow->edge[i];
        if (edge->to == node->a && flow->out[edge->from] && leads_to(steps, flow->out[edge->from][node->b], phi, depth + 1))
            return 1;
    }
    return 0;
}

/* All that the phi may be on ways on which it is (again 1) or is not made of itself. EXTENT_NONE with *any 0: there is no
 * such way. */
static uint16_t of_ways(struct extent_steps *steps, node_id phi, int again, int *any)
{
    const struct extent_flow *flow = steps->flow;
    const struct node node = *at(steps, phi);
    uint16_t all = EXTENT_NONE;
    *any = 0;
    for (uint32_t i = 0; i < flow->edges; i++) {
        const struct flow_edge *edge = &flow->edge[i];
        node_id from = edge->to == node.a && flow->out[edge->from] ? flow->out[edge->from][node.b] : 0;
        if (edge->to != node.a || !flow->out[edge->from])
            continue;
        steps->visit++;
        if (leads_to(steps, from, phi, 0) != again)
            continue;
        uint16_t one = extent_steps_of(steps, from, edge->holds);
        all = *any && one != EXTENT_NONE ? add(steps, CODE_EXTENT_JOIN, node.bits, all, one) : one;
        *any = 1;
        if (all == EXTENT_NONE)
            return all;
    }
    return all;
}

static uint16_t of_anything(struct extent_steps *steps, uint8_t bits)
{
    if (bits != 32)
        return EXTENT_NONE;
    uint16_t whole = number(steps, INT32_MIN), end = number(steps, INT32_MAX);
    return add(steps, CODE_EXTENT_JOIN, 32, whole, end);
}

/* A loop: it begins as what it is on the ways from outside. */
static uint16_t of_loop(struct extent_steps *steps, node_id id, uint16_t first, int *comes_again)
{
    uint8_t bits = at(steps, id)->bits;
    uint16_t loop = extent_steps_add(steps, (struct code_extent_step){.kind = CODE_EXTENT_LOOP, .bits = bits, .a = first});
    if (loop == EXTENT_NONE)
        return EXTENT_NONE;
    steps->of[loop] = id;
    steps->holds[loop] = 0;
    steps->loops++;
    uint16_t again = of_ways(steps, id, 1, comes_again);
    steps->loops--;
    if (again == EXTENT_NONE)
        return EXTENT_NONE;
    steps->step[loop].b = again;
    steps->step[loop].value = steps->count - 1;
    return loop;
}

/* The phis of the first block also have what registers have when a kernel begins. */
static uint16_t of_phi(struct extent_steps *steps, node_id id)
{
    int begins, comes_again = 1;
    uint16_t first = at(steps, id)->a == 0 ? EXTENT_NONE : of_ways(steps, id, 0, &begins), before = steps->count;
    uint16_t loop =
        first == EXTENT_NONE || steps->loops == LOOPS_MOST ? EXTENT_NONE : of_loop(steps, id, first, &comes_again);
    if (loop != EXTENT_NONE)
        return loop;
    steps->count = before;
    return comes_again ? of_anything(steps, at(steps, id)->bits) : first;
}

/* ---- comparisons that hold ---- */

/* A launch says its value. */
static int is_exact(const struct node *node)
{
    return node->kind == NODE_NUMBER || node->kind == NODE_PARAMETER ||
           (node->kind == NODE_SIZE && node->a >= CODE_SIZE_THREADS);
}

/* The interval of a number under a comparison with another one. Equal 32 bits are equal as signed numbers. */
static uint16_t limited(struct extent_steps *steps, uint16_t a, uint16_t b, const struct node *comparison, int is_left)
{
    enum code_extent_kind kind = comparison->kind == NODE_EQUAL  ? CODE_EXTENT_EQUAL
                                 : comparison->kind == NODE_LESS ? (is_left ? CODE_EXTENT_BELOW : CODE_EXTENT_ABOVE)
                                 : is_left                       ? CODE_EXTENT_UP_TO
                                                                 : CODE_EXTENT_FROM;
    int is_signed = comparison->is_signed || kind == CODE_EXTENT_EQUAL;
    a = as(steps, comparison->bits, is_signed || comparison->bits == 64, a);
    b = as(steps, comparison->bits, is_signed || comparison->bits == 64, b);
    return extent_steps_add(
        steps, (struct code_extent_step){
                   .kind = (uint8_t)kind, .bits = comparison->bits, .is_unsigned = !is_signed, .a = a, .b = b});
}

/* Where nothing is known of the other side, the comparison says nothing. */
static uint16_t with_comparisons(struct extent_steps *steps, node_id id, uint16_t made, uint64_t holds)
{
    for (uint64_t left = holds; left && made != EXTENT_NONE; left &= left - 1) {
        unsigned bit = (unsigned)__builtin_ctzll(left);
        const struct node comparison = *at(steps, steps->flow->comparison[bit]);
        if (comparison.a == comparison.b || (comparison.a != id && comparison.b != id))
            continue;
        int is_left = comparison.a == id;
        uint16_t other = extent_steps_of(steps, is_left ? comparison.b : comparison.a, holds & ~(UINT64_C(1) << bit));
        if (other != EXTENT_NONE)
            made = limited(steps, made, other, &comparison, is_left);
    }
    return made;
}

/* The comparisons with the node, or with what it is made of. */
static uint64_t about(struct extent_steps *steps, node_id id, unsigned depth)
{
    const struct node *node = at(steps, id);
    const node_id operand[] = {node->a, node->b, node->c};
    if (steps->has_about[id])
        return steps->about[id];
    if (depth == LEADS_MOST)
        return UINT64_MAX;
    uint64_t all = 0;
    for (uint32_t i = 0; !is_exact(node) && i < steps->flow->comparisons; i++) {
        const struct node *comparison = at(steps, steps->flow->comparison[i]);
        if (comparison->a == id || comparison->b == id)
            all |= UINT64_C(1) << i;
    }
    for (unsigned i = 0; i < made_of(node); i++)
        all |= about(steps, operand[i], depth + 1);
    steps->has_about[id] = 1;
    return steps->about[id] = all;
}

/* Those of the comparisons that may matter for the node: so that it is one step wherever it is used. */
static uint64_t that_matter(struct extent_steps *steps, node_id id, uint64_t holds)
{
    uint64_t matter = holds & about(steps, id, 0), seen = 0;
    while (matter != seen) {
        seen = matter;
        for (uint64_t left = seen; left; left &= left - 1) {
            const struct node comparison = *at(steps, steps->flow->comparison[__builtin_ctzll(left)]);
            matter |= holds & (about(steps, comparison.a, 0) | about(steps, comparison.b, 0));
        }
    }
    return matter;
}

/* ---- */

static uint16_t without_comparisons(struct extent_steps *steps, node_id id, uint64_t holds)
{
    const struct node node = *at(steps, id);
    switch (node.kind) {
    case NODE_NUMBER:
    case NODE_PARAMETER:
    case NODE_SIZE: return of_leaf(steps, &node);
    case NODE_ADD: return of_two(steps, &node, CODE_EXTENT_ADD, holds);
    case NODE_SUBTRACT: return of_two(steps, &node, CODE_EXTENT_SUBTRACT, holds);
    case NODE_MULTIPLY: return of_two(steps, &node, CODE_EXTENT_MULTIPLY, holds);
    case NODE_DIVIDE: return of_two(steps, &node, CODE_EXTENT_DIVIDE, holds);
    case NODE_REMAINDER: return of_two(steps, &node, CODE_EXTENT_REMAINDER, holds);
    case NODE_SMALLER: return of_two(steps, &node, CODE_EXTENT_SMALLER, holds);
    case NODE_LARGER: return of_two(steps, &node, CODE_EXTENT_LARGER, holds);
    case NODE_CHOOSE: return of_two(steps, &node, CODE_EXTENT_JOIN, holds);
    case NODE_RIGHT: return with_value(steps, &node, CODE_EXTENT_SHIFT, holds);
    case NODE_AND: return with_value(steps, &node, CODE_EXTENT_BITS_OF, holds);
    case NODE_OR: return with_value(steps, &node, CODE_EXTENT_WITH, holds);
    case NODE_CUT: return extent_steps_of(steps, node.a, holds);
    case NODE_EXTEND: return as(steps, 32, node.is_signed, extent_steps_of(steps, node.a, holds));
    case NODE_PHI: return of_phi(steps, id);
    default: return EXTENT_NONE;
    }
}

static uint16_t found(const struct extent_steps *steps, node_id id, uint64_t holds)
{
    for (uint16_t i = 0; i < steps->count; i++) {
        if (steps->of[i] == id && steps->holds[i] == holds)
            return i;
    }
    return EXTENT_NONE;
}

static void note(struct extent_steps *steps, uint16_t made, node_id id, uint64_t holds)
{
    if (made == EXTENT_NONE || steps->of[made])
        return;
    steps->of[made] = id;
    steps->holds[made] = holds;
}

static uint16_t made_anew(struct extent_steps *steps, node_id id, uint64_t holds)
{
    int is_phi = at(steps, id)->kind == NODE_PHI; /* without comparisons it is the same anywhere */
    uint16_t before = steps->count, made = is_phi ? found(steps, id, 0) : EXTENT_NONE;
    if (made == EXTENT_NONE)
        made = without_comparisons(steps, id, holds);
    if (is_phi)
        note(steps, made, id, 0);
    made = with_comparisons(steps, id, made, holds);
    note(steps, made, id, holds);
    if (made == EXTENT_NONE)
        steps->count = before; /* a loop that is not complete must not stay */
    return made;
}

uint16_t extent_steps_of(struct extent_steps *steps, node_id id, uint64_t holds)
{
    if (!id || steps->depth == DEPTH_MOST || ++steps->tries > TRIES_MOST)
        return EXTENT_NONE;
    holds = that_matter(steps, id, holds);
    uint16_t made = found(steps, id, holds);
    if (made != EXTENT_NONE)
        return made;
    steps->depth++;
    made = made_anew(steps, id, holds);
    steps->depth--;
    return made;
}

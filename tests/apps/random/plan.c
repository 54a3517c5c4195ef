// SPDX-License-Identifier: Apache-2.0
//
// A seed's whole program: who has the turn, and what is done there. All of it is known before anything runs, with its
// results. Called by random_turns.c.

#include <string.h>

#include "plan.h"

enum { OPS_A_TURN = 3, ROOM = 40, TRIES = 6 };

unsigned plan_any(struct plan *p, unsigned below)
{
    p->random = p->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(p->random >> 33) % below;
}

static void remember(struct plan *p, const struct op *op)
{
    struct access accesses[ACCESSES_MOST];
    unsigned count = op->kind == POOL_FREE ? 0 : op_accesses(p, op, accesses);
    for (unsigned i = 0; i < count; i++)
        if (accesses[i].writes)
            p->recent[accesses[i].range.mem < PINNED] = accesses[i].range;
}

void plan_emit(struct plan *p, struct op *op)
{
    remember(p, op);
    op->step = p->step_count;
    reference_apply(p, op);
    model_apply(p, op);
    p->ops[p->op_count++] = *op;
}

static struct op fresh(struct plan *p)
{
    struct op op = {.value = (p->seed * 4096 + p->op_count) * 2654435761u};
    return op;
}

static void work(struct plan *p, void (*draw)(struct plan *, struct op *))
{
    for (int tries = 0; tries < TRIES; tries++) {
        struct op op = fresh(p);
        plan_draw_stream(p, &op);
        draw(p, &op);
        if (plan_admit(p, &op))
            return;
    }
}

static void kernel(struct plan *p)
{
    work(p, plan_draw_kernel);
}

static void kernel_on(struct plan *p, unsigned stream)
{
    for (int tries = 0; tries < TRIES; tries++) {
        struct op op = fresh(p);
        op.stream = (uint8_t)stream;
        op.spin = (uint8_t)plan_any(p, SPIN_LEVELS);
        plan_draw_kernel(p, &op);
        if (plan_admit(p, &op))
            return;
    }
}

static void copy(struct plan *p)
{
    work(p, plan_draw_copy);
}

// Mostly of what the host has not waited for.
static void host_access(struct plan *p)
{
    for (int tries = 0; tries < TRIES; tries++) {
        struct op op = fresh(p);
        op.to = op.from = plan_range(p, PINNED + plan_any(p, MEMS - PINNED), plan_any(p, PARTS));
        if (!tries && p->recent[0].parts)
            op.to = op.from = p->recent[0];
        op.kind = plan_any(p, 3) ? HOST_READS : HOST_WRITES;
        if (tries == TRIES - 1 || model_host_missing(p, &op, &p->model.host) >= 0) {
            plan_host_access(p, &op);
            return;
        }
    }
}

static void host_function(struct plan *p)
{
    for (int tries = 0; tries < TRIES; tries++) {
        struct op op = fresh(p);
        plan_draw_stream(p, &op);
        op.kind = plan_any(p, 3) ? HOST_FUNCTION_WRITES : HOST_FUNCTION_READS;
        op.to = op.from = plan_range(p, PINNED + plan_any(p, MEMS - PINNED), op.stream);
        if (plan_admit(p, &op))
            return;
    }
}

static void event(struct plan *p)
{
    struct op op = fresh(p);
    plan_draw_stream(p, &op);
    op.event = (uint8_t)plan_any(p, EVENTS);
    op.kind = (uint8_t)(EVENT_RECORD + plan_any(p, 4)); // by a graph, too
    op.spin = op.kind == EVENT_RECORD || op.kind == EVENT_RECORD_BY_GRAPH ? op.spin : 0;
    plan_emit(p, &op);
}

// Such an event must not measure.
static void draw_recording_kernel(struct plan *p, struct op *op)
{
    plan_draw_kernel(p, op);
    op->kind = EVENT_RECORD_BY_KERNEL;
    op->event = (uint8_t)(plan_any(p, EVENTS) & ~1u);
}

static void kernel_that_records(struct plan *p)
{
    work(p, draw_recording_kernel);
}

static void make_graph(struct plan *p, unsigned slot)
{
    struct op make = {.kind = GRAPH_MAKE, .stream = (uint8_t)(LEFT + plan_any(p, 2)), .graph = (uint8_t)slot};
    make.nodes = (uint8_t)(2 + plan_any(p, NODES_MOST - 1));
    make.nodes_at = p->node_count;
    make.capture_mode = (uint8_t)plan_any(p, 3);
    for (unsigned i = 0; i < make.nodes; i++) {
        struct op node = fresh(p);
        node.stream = make.stream;
        node.value += i * 77;
        plan_draw_node(p, &node);
        p->nodes[p->node_count++] = node;
    }
    plan_emit(p, &make);
    p->graphs[slot] = make;
}

static void graph(struct plan *p)
{
    unsigned slot = plan_any(p, GRAPHS);
    if (!p->graphs[slot].nodes || plan_any(p, 3) == 0)
        make_graph(p, slot);
    for (int tries = 0; tries < TRIES; tries++) {
        struct op op = p->graphs[slot];
        do
            plan_draw_stream(p, &op);
        while (p->model.streams[op.stream].kind == KIND_NON_BLOCKING);
        op.kind = GRAPH_LAUNCH;
        if (plan_admit(p, &op))
            return;
    }
}

static struct range whole(unsigned mem)
{
    return (struct range){.mem = (uint8_t)mem, .parts = PARTS, .words = MEM_WORDS};
}

// Memory in stream order, from 0 and from blocking streams. Not from 0x2: what a thread leaves to be freed there when it
// ends makes the driver's next cuCtxSynchronize wait for ever.
static int pool_stream(struct plan *p, struct op *op)
{
    plan_draw_stream(p, op);
    return p->model.streams[op->stream].kind == KIND_LEGACY || p->model.streams[op->stream].kind == KIND_BLOCKING;
}

static void pool_alloc(struct plan *p, unsigned mem)
{
    struct op op = fresh(p);
    while (!pool_stream(p, &op))
        ;
    op.kind = POOL_ALLOC;
    op.to = whole(mem);
    op.spin = 0;
    plan_emit(p, &op);
    p->pool_live[mem] = 1;
}

// Read late, freed behind that, and its bytes wanted again at once.
static void pool_free(struct plan *p, unsigned mem)
{
    struct op op = fresh(p), use;
    while (!pool_stream(p, &op))
        ;
    use = op;
    use.kind = DEVICE_TO_DEVICE;
    use.spin = SPIN_LEVELS - 1;
    use.from = whole(mem);
    use.to = whole(plan_any(p, POOLED));
    if (plan_any(p, 2))
        plan_admit(p, &use);
    op.to = whole(mem);
    op.kind = POOL_FREE;
    if (!plan_admit(p, &op))
        return;
    p->pool_live[mem] = 0;
    if (plan_any(p, 2))
        pool_alloc(p, mem);
}

static void pool(struct plan *p)
{
    unsigned mem = POOLED + plan_any(p, SCRATCH - POOLED);
    if (p->pool_live[mem])
        pool_free(p, mem);
    else
        pool_alloc(p, mem);
}

static void scratch(struct plan *p)
{
    unsigned mem = SCRATCH + plan_any(p, PINNED - SCRATCH);
    struct op op = fresh(p);
    if (p->pool_live[mem] && plan_any(p, 3))
        return;
    plan_draw_stream(p, &op);
    op.to = whole(mem);
    op.kind = p->pool_live[mem] ? SCRATCH_FREE : SCRATCH_ALLOC;
    op.spin = 0;
    plan_emit(p, &op);
    p->pool_live[mem] = op.kind == SCRATCH_ALLOC;
}

static unsigned passing(const struct plan *p)
{
    for (unsigned s = STREAMS_FIXED; s < p->model.stream_count; s++)
        if (p->model.streams[s].live && p->model.streams[s].kind == KIND_BLOCKING)
            return s;
    return 0;
}

// Created and used at once; destroyed some time, mostly with its work pending.
static void passing_stream(struct plan *p)
{
    struct op op = fresh(p);
    unsigned old = passing(p);
    op.kind = STREAM_DESTROY;
    op.stream = (uint8_t)old;
    if (old && plan_any(p, 2)) {
        plan_emit(p, &op);
    } else if (p->passing_count < PASSING_MOST) {
        p->passing_count++;
        op.kind = STREAM_CREATE;
        op.stream = (uint8_t)model_stream(&p->model, KIND_BLOCKING, 0);
        plan_emit(p, &op);
        kernel_on(p, op.stream);
        op.kind = STREAM_DESTROY;
        if (plan_any(p, 2))
            plan_emit(p, &op);
    }
}

static void thread_end(struct plan *p)
{
    struct op op = fresh(p);
    if (p->thread_count == THREADS_MOST)
        return;
    p->thread_count++;
    op.kind = THREAD_END;
    op.stream = p->seat_stream[p->seat];
    plan_emit(p, &op);
    p->model.streams[op.stream].live = 0;
    p->seat_stream[p->seat] = (uint8_t)model_stream(&p->model, KIND_PER_THREAD, p->seat);
}

// One stream writes a value, another waits for it: an order between them that nothing else makes.
static void value_by_stream(struct plan *p)
{
    struct op op = fresh(p);
    op.flag = (uint16_t)p->flag_count++;
    plan_draw_stream(p, &op);
    kernel_on(p, op.stream);
    op.kind = VALUE_WRITE;
    plan_emit(p, &op);
    plan_draw_stream(p, &op);
    op.kind = VALUE_WAIT;
    op.spin = 0;
    plan_emit(p, &op);
    kernel_on(p, op.stream);
}

// The same the other way round: what waits is put first. Only where legacy does not make the writer wait for it, or it
// would hang.
static void value_crossed(struct plan *p)
{
    struct op wait = fresh(p), write = fresh(p);
    struct clock next;
    plan_draw_stream(p, &wait);
    plan_draw_stream(p, &write);
    if (wait.stream == LEGACY || write.stream == LEGACY || wait.stream == write.stream)
        return;
    wait.flag = write.flag = (uint16_t)p->flag_count++;
    wait.kind = VALUE_WAIT;
    wait.spin = 0;
    write.kind = VALUE_WRITE;
    plan_emit(p, &wait);
    plan_emit(p, &write);
    next = p->model.flags[write.flag];
    model_join(&p->model.streams[wait.stream].last, &next);
}

// A stream waits for a value that the host writes after a few more operations. None of them may wait.
static void value_by_host(struct plan *p)
{
    struct op op = fresh(p);
    op.flag = (uint16_t)p->flag_count++;
    do
        plan_draw_stream(p, &op);
    while (p->model.streams[op.stream].kind == KIND_PER_THREAD);
    op.kind = VALUE_WAIT;
    op.spin = 0;
    plan_emit(p, &op);
    for (unsigned more = plan_any(p, 3); more; more--)
        work(p, plan_draw_calm);
    op.kind = VALUE_BY_HOST;
    plan_emit(p, &op);
}

static void context_synchronize(struct plan *p)
{
    struct op op = {.kind = CONTEXT_SYNCHRONIZE};
    plan_emit(p, &op);
}

static const struct {
    enum op_kind kind; /* the one by which it is left out */
    unsigned weight;
    void (*draw)(struct plan *);
} draws[] = {
    {KERNEL_FILL, 50, kernel},
    {MEMSET, 45, copy},
    {HOST_READS, 14, host_access},
    {HOST_FUNCTION_WRITES, 7, host_function},
    {EVENT_RECORD, 8, event},
    {EVENT_RECORD_BY_KERNEL, 4, kernel_that_records},
    {GRAPH_LAUNCH, 7, graph},
    {POOL_ALLOC, 6, pool},
    {SCRATCH_ALLOC, 1, scratch},
    {STREAM_CREATE, 4, passing_stream},
    {THREAD_END, 4, thread_end},
    {VALUE_WRITE, 3, value_by_stream},
    {VALUE_BY_HOST, 3, value_by_host},
    {VALUE_WAIT, 2, value_crossed},
    {CONTEXT_SYNCHRONIZE, 1, context_synchronize},
};

static void draw_one(struct plan *p)
{
    enum { DRAWS = sizeof draws / sizeof draws[0] };
    unsigned all = 0, at;
    for (unsigned i = 0; i < DRAWS; i++)
        all += draws[i].weight;
    at = plan_any(p, all);
    for (unsigned i = 0; i < DRAWS; at -= draws[i++].weight)
        if (at < draws[i].weight) {
            if (!(p->left_out >> draws[i].kind & 1))
                draws[i].draw(p);
            return;
        }
}

static int ended(const struct plan *p, unsigned first)
{
    return p->op_count > first && p->ops[p->op_count - 1].kind == THREAD_END;
}

static void step(struct plan *p)
{
    struct step *s = &p->steps[p->step_count];
    p->seat = plan_any(p, p->seats);
    s->seat = (uint8_t)p->seat;
    s->first = p->op_count;
    for (unsigned left = 1 + plan_any(p, OPS_A_TURN); left && !ended(p, s->first); left--)
        draw_one(p);
    s->count = p->op_count - s->first;
    p->step_count++;
}

static void put_away(struct plan *p)
{
    for (unsigned mem = POOLED; mem < PINNED; mem++) {
        struct op op = fresh(p);
        op.kind = mem < SCRATCH ? POOL_FREE : SCRATCH_FREE;
        op.to = whole(mem);
        if (p->pool_live[mem])
            plan_emit(p, &op);
    }
    for (unsigned s = passing(p); s; s = passing(p)) {
        struct op op = {.kind = STREAM_DESTROY, .stream = (uint8_t)s};
        plan_emit(p, &op);
    }
}

// The main thread, when the others have ended: reads all there is.
static void last_step(struct plan *p)
{
    struct step *s = &p->steps[p->step_count];
    p->seat = SEATS_MOST;
    s->seat = SEATS_MOST;
    s->first = p->op_count;
    context_synchronize(p);
    for (unsigned mem = 0; mem < MEMS; mem++) {
        struct op op = {.kind = mem < PINNED ? DEVICE_TO_PAGEABLE_SYNC : HOST_READS, .from = whole(mem)};
        if (mem < POOLED || mem >= PINNED || p->pool_live[mem])
            plan_emit(p, &op);
    }
    put_away(p);
    context_synchronize(p);
    s->count = p->op_count - s->first;
    p->step_count++;
}

void plan_make(struct plan *p, unsigned seed, unsigned steps)
{
    p->seed = seed;
    p->random = seed * 0x9e3779b97f4a7c15u;
    p->seats = 1u << seed % 4;
    p->step_count = p->op_count = p->node_count = p->flag_count = p->passing_count = p->thread_count = 0;
    memset(p->graphs, 0, sizeof p->graphs);
    memset(p->recent, 0, sizeof p->recent);
    memset(p->pool_live, 0, sizeof p->pool_live);
    model_start(&p->model);
    reference_start(p);
    for (unsigned i = 0; i < p->seats; i++, p->thread_count++)
        p->seat_stream[i] = (uint8_t)model_stream(&p->model, KIND_PER_THREAD, i);
    p->seat_stream[SEATS_MOST] = LEGACY;
    for (unsigned i = 0; i < steps && p->op_count + ROOM * OPS_A_TURN < OPS_MOST; i++)
        step(p);
    last_step(p);
}

// SPDX-License-Identifier: Apache-2.0
//
// Operations on memory, drawn at random: which kind, on which stream, which parts. Called by plan.c, which then sees to
// their order.

#include "plan.h"

enum { KINDS = 5, SMALL_WORDS = 32 };

static unsigned pick(struct plan *p, const unsigned char *from, unsigned count)
{
    return from[plan_any(p, count)];
}

static unsigned passing_stream(struct plan *p, unsigned otherwise)
{
    unsigned live[STREAMS_MOST], count = 0;
    for (unsigned s = STREAMS_FIXED; s < p->model.stream_count; s++)
        if (p->model.streams[s].live && p->model.streams[s].kind == KIND_BLOCKING)
            live[count++] = s;
    return count ? live[plan_any(p, count)] : otherwise;
}

void plan_draw_stream(struct plan *p, struct op *op)
{
    unsigned which = plan_any(p, 20);
    op->by_name = which >= 7 && which < 9;
    if (which < 9)
        op->stream = LEGACY;
    else if (which < 11)
        op->stream = p->seat_stream[p->seat];
    else if (which < 15)
        op->stream = (uint8_t)(LEFT + plan_any(p, 2));
    else if (which < 16)
        op->stream = (uint8_t)passing_stream(p, LEFT);
    else
        op->stream = plan_any(p, 3) ? FREE : OTHER_FREE;
    op->spin = (uint8_t)(plan_any(p, 2) ? 0 : plan_any(p, SPIN_LEVELS));
}

// The whole, a half, a quarter or a few words. A stream has a part where it is more often than in others, so that one
// allocation is written by several streams without order among them.
struct range plan_range(struct plan *p, unsigned mem, unsigned stream)
{
    struct range r = {.mem = (uint8_t)mem, .parts = 1};
    unsigned size = plan_any(p, 8);
    if (size == 0) {
        r.parts = PARTS;
    } else if (size == 1) {
        r.parts = PARTS / 2;
        r.first = (uint8_t)(plan_any(p, 2) * (PARTS / 2));
    } else {
        r.first = (uint8_t)(plan_any(p, 2) ? stream % PARTS : plan_any(p, PARTS));
    }
    r.words = (uint16_t)(r.parts * PART_WORDS);
    if (size > 5)
        r.words = (uint16_t)(1 + plan_any(p, SMALL_WORDS));
    return r;
}

unsigned plan_device_memory(struct plan *p)
{
    unsigned mem = plan_any(p, SCRATCH + 2);
    return mem < POOLED || p->pool_live[mem] ? mem : plan_any(p, POOLED);
}

static unsigned kernel_memory(struct plan *p)
{
    return plan_any(p, 6) ? plan_device_memory(p) : MAPPED + plan_any(p, MEMS - MAPPED);
}

static unsigned host_memory(struct plan *p)
{
    return PINNED + plan_any(p, MEMS - PINNED);
}

static unsigned neighbour(unsigned mem)
{
    if (mem >= MAPPED)
        return mem == MAPPED ? MAPPED + 1 : MAPPED;
    return mem ^ 1;
}

// Whether what was written last will do for what is to be read from such memory: mostly work on it is pending.
static int take_recent(struct plan *p, struct range *r, unsigned mem, const struct range *to)
{
    const struct range *recent = &p->recent[mem < PINNED];
    if (recent->parts < to->parts || recent->first % to->parts || (mem >= MAPPED && recent->mem < MAPPED) || plan_any(p, 2))
        return 0;
    if (recent->mem == to->mem || (recent->mem >= POOLED && recent->mem < PINNED && !p->pool_live[recent->mem]))
        return 0;
    r->mem = recent->mem;
    r->first = recent->first;
    return 1;
}

// As long as `to`, somewhere else.
static struct range source(struct plan *p, const struct range *to, unsigned mem)
{
    struct range r = *to;
    if (take_recent(p, &r, mem, to))
        return r;
    r.mem = (uint8_t)(mem == to->mem && to->parts == PARTS ? neighbour(mem) : mem);
    if (r.mem >= POOLED && r.mem < PINNED && !p->pool_live[r.mem])
        r.mem = DEVICE;
    if (r.parts < PARTS)
        r.first = (uint8_t)((r.first + r.parts * plan_any(p, PARTS / r.parts)) % PARTS);
    if (r.mem == to->mem && r.first == to->first)
        r.first = (uint8_t)((r.first + r.parts) % PARTS);
    return r;
}

void plan_draw_kernel(struct plan *p, struct op *op)
{
    static const unsigned char kinds[] = {KERNEL_FILL, KERNEL_ADD_ONE, KERNEL_ADD_ONE,
                                          KERNEL_COPY, KERNEL_COPY,    KERNEL_ADD};
    op->kind = (uint8_t)pick(p, kinds, sizeof kinds);
    op->to = plan_range(p, kernel_memory(p), op->stream);
    op->from = source(p, &op->to, kernel_memory(p));
    op->other = source(p, &op->to, kernel_memory(p));
}

static void to_device(struct plan *p, struct op *op)
{
    op->to = plan_range(p, plan_device_memory(p), op->stream);
    op->from = source(p, &op->to, host_memory(p));
}

static void to_host(struct plan *p, struct op *op)
{
    op->to = plan_range(p, host_memory(p), op->stream);
    op->from = source(p, &op->to, plan_device_memory(p));
}

static void draw_operands(struct plan *p, struct op *op)
{
    switch (op->kind) {
    case PINNED_TO_DEVICE_SYNC:
    case PINNED_TO_DEVICE: to_device(p, op); return;
    case DEVICE_TO_PINNED_SYNC:
    case DEVICE_TO_PINNED: to_host(p, op); return;
    case DEVICE_TO_PAGEABLE:
    case DEVICE_TO_PAGEABLE_SYNC: op->from = plan_range(p, plan_device_memory(p), op->stream); return;
    default:
        op->to = plan_range(p, plan_device_memory(p), op->stream);
        op->from = source(p, &op->to, plan_device_memory(p));
        return;
    }
}

static void on_default_stream(struct op *op)
{
    op->stream = LEGACY;
    op->by_name = 0;
}

// Copies and memsets of all kinds.
void plan_draw_copy(struct plan *p, struct op *op)
{
    static const unsigned char kinds[] = {
        MEMSET,           MEMSET_SYNC,      DEVICE_TO_DEVICE, DEVICE_TO_DEVICE,   DEVICE_TO_DEVICE_SYNC, PINNED_TO_DEVICE,
        PINNED_TO_DEVICE, PINNED_TO_DEVICE, PINNED_TO_DEVICE, PAGEABLE_TO_DEVICE, PAGEABLE_TO_DEVICE,    DEVICE_TO_PINNED,
        DEVICE_TO_PINNED, DEVICE_TO_PINNED, DEVICE_TO_PINNED, DEVICE_TO_PINNED,   DEVICE_TO_PINNED,
    };
    static const unsigned char waiting[] = {PINNED_TO_DEVICE_SYNC, PAGEABLE_TO_DEVICE_SYNC, DEVICE_TO_PINNED_SYNC,
                                            DEVICE_TO_PAGEABLE, DEVICE_TO_PAGEABLE_SYNC};
    op->kind = (uint8_t)(plan_any(p, 8) ? pick(p, kinds, sizeof kinds) : pick(p, waiting, sizeof waiting));
    if (op->kind == MEMSET_SYNC || op->kind == DEVICE_TO_DEVICE_SYNC || op->kind == PINNED_TO_DEVICE_SYNC ||
        op->kind == PAGEABLE_TO_DEVICE_SYNC || op->kind == DEVICE_TO_PINNED_SYNC || op->kind == DEVICE_TO_PAGEABLE_SYNC)
        on_default_stream(op);
    draw_operands(p, op);
}

// What never waits on the host: for while a stream is held back by a value that the host writes later. Not on 0x2, whose
// stream the driver may have to make first.
void plan_draw_calm(struct plan *p, struct op *op)
{
    static const unsigned char kinds[] = {MEMSET, MEMSET_SYNC, DEVICE_TO_DEVICE, DEVICE_TO_DEVICE_SYNC};
    do
        plan_draw_stream(p, op);
    while (p->model.streams[op->stream].kind == KIND_PER_THREAD);
    if (plan_any(p, 2)) {
        plan_draw_kernel(p, op);
        return;
    }
    op->kind = (uint8_t)pick(p, kinds, sizeof kinds);
    if (op->kind == MEMSET_SYNC || op->kind == DEVICE_TO_DEVICE_SYNC)
        on_default_stream(op);
    draw_operands(p, op);
}

static int passes(unsigned mem)
{
    return mem >= POOLED && mem < PINNED;
}

// What a graph may hold for longer than memory that is freed on the way.
void plan_draw_node(struct plan *p, struct op *op)
{
    static const unsigned char kinds[] = {MEMSET,           DEVICE_TO_DEVICE, PINNED_TO_DEVICE,
                                          DEVICE_TO_PINNED, DEVICE_TO_PINNED, HOST_FUNCTION_WRITES};
    do {
        if (plan_any(p, 2)) {
            plan_draw_kernel(p, op);
            continue;
        }
        op->kind = (uint8_t)pick(p, kinds, sizeof kinds);
        if (op->kind == HOST_FUNCTION_WRITES)
            op->to = plan_range(p, host_memory(p), op->stream);
        else
            draw_operands(p, op);
    } while (passes(op->to.mem) || passes(op->from.mem) || passes(op->other.mem));
}

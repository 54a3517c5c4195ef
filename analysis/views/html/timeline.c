/* SPDX-License-Identifier: Apache-2.0
 *
 * Collects operations for the page. Called for each call of a trace, so it must stay cheap; keeps at most twice what the
 * page shows, in blocks: the stretch being read and the costliest one so far.
 */
#include "analysis/views/html/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/trace/device_runs.h"

static void leave_block(struct timeline_block *block)
{
    if (--block->users != 0)
        return;
    free(block->ops);
    free(block);
}

/* The oldest block of the stretch goes. */
static void forget_oldest(struct timeline *timeline)
{
    leave_block(timeline->now[0]);
    timeline->now_count--;
    memmove(timeline->now, timeline->now + 1, timeline->now_count * sizeof timeline->now[0]);
}

/* Remembers the stretch if it lost more than the best so far, or there was no full one yet. */
void timeline_decide(struct timeline *timeline)
{
    uint64_t lost = 0;
    for (uint32_t i = 0; i < timeline->now_count; i++)
        lost += timeline->now[i]->lost_ns;
    if (timeline->best_count == TIMELINE_BLOCKS && lost <= timeline->best_lost)
        return;
    for (uint32_t i = 0; i < timeline->now_count; i++)
        timeline->now[i]->users++;
    for (uint32_t i = 0; i < timeline->best_count; i++)
        leave_block(timeline->best[i]);
    memcpy(timeline->best, timeline->now, sizeof timeline->best);
    timeline->best_count = timeline->now_count;
    timeline->best_lost = lost;
}

static struct timeline_block *open_block(struct timeline *timeline)
{
    struct timeline_block *last = timeline->now_count != 0 ? timeline->now[timeline->now_count - 1] : NULL;
    if (last != NULL && last->count < timeline->block_ops)
        return last;
    if (timeline->now_count == TIMELINE_BLOCKS) {
        timeline_decide(timeline);
        forget_oldest(timeline);
    }
    struct timeline_block *made = calloc(1, sizeof *made);
    if (made != NULL)
        made->ops = malloc(timeline->block_ops * sizeof *made->ops);
    if (made == NULL || made->ops == NULL) {
        free(made);
        timeline->out_of_memory = true;
        return NULL;
    }
    made->users = 1;
    timeline->now[timeline->now_count++] = made;
    return made;
}

static uint16_t flags_of(const struct call_view *view)
{
    uint32_t flags = view->call->r.flags;
    bool captured = (flags & PTDS_CALL_CAPTURING) != 0;
    return (uint16_t)((flags & PTDS_CALL_TWIN ? TIMELINE_TWIN : 0) | (view->succeeded ? 0 : TIMELINE_FAILED) |
                      (flags & PTDS_CALL_LEGACY ? TIMELINE_LEGACY : 0) |
                      (flags & PTDS_CALL_REMAPPED ? TIMELINE_REMAPPED : 0) | (view->timed ? TIMELINE_TIMED : 0) |
                      (captured ? TIMELINE_CAPTURED : 0) |
                      (view->work && device_runs_has(view->call->r.op) ? TIMELINE_GPU : 0) |
                      (view->submits || captured || view->scope == WAIT_STREAM ? TIMELINE_WORK : 0));
}

static void add_run(struct timeline_op *op, const struct report *report, const struct call_view *view)
{
    op->ran_after_ns = TIMELINE_NOT_RAN;
    if (view->ran != NULL && (op->flags & TIMELINE_WORK) && trace_has_time(&report->trace))
        device_runs_times(&report->trace, view->ran, &op->ran_after_ns, &op->ran_ns);
}

static void take(struct report_watch *watch, const struct report *report, const struct call_view *view, uint32_t serial)
{
    struct timeline *timeline = (struct timeline *)watch;
    const struct ptds_rec_CALL *call = &view->call->r;
    timeline->seen++;
    struct timeline_block *block = open_block(timeline);
    if (block == NULL)
        return;
    block->lost_ns += view_blocked_ns(view);
    block->ops[block->count++] = (struct timeline_op){.enter = call->enter,
                                                      .ns = view->ns,
                                                      .lost_ns = view_blocked_ns(view),
                                                      .thread = view->call->thread,
                                                      .stream = call->stream,
                                                      .target = call->target,
                                                      .stack = call->stack,
                                                      .object = call->op == PTDS_OP_LAUNCH ? call->object : 0,
                                                      .serial = serial,
                                                      .api = call->api,
                                                      .op = call->op,
                                                      .flags = flags_of(view)};
    add_run(&block->ops[block->count - 1], report, view);
}

/* The first of a block's operations that was entered no earlier. */
static uint32_t first_from(const struct timeline_block *block, uint64_t enter)
{
    uint32_t low = 0, high = block->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (block->ops[middle].enter < enter)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Which block, nobody says; the newest is the likeliest. A call whose block is gone is not drawn. */
static void mark_wait(struct report_watch *watch, const struct report *report, uint32_t thread, uint64_t enter)
{
    struct timeline *timeline = (struct timeline *)watch;
    (void)report;
    for (uint32_t b = timeline->now_count; b-- > 0;) {
        struct timeline_block *block = timeline->now[b];
        for (uint32_t i = first_from(block, enter); i < block->count && block->ops[i].enter == enter; i++)
            if (block->ops[i].thread == thread) {
                block->ops[i].flags |= TIMELINE_BEHIND;
                return;
            }
    }
}

void timeline_begin(struct timeline *timeline, uint32_t most)
{
    *timeline = (struct timeline){.watch = {.call = take, .default_wait = mark_wait}, .block_ops = most / TIMELINE_BLOCKS};
}

uint64_t timeline_count(const struct timeline *timeline)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < timeline->best_count; i++)
        count += timeline->best[i]->count;
    return count;
}

const struct timeline_op *timeline_at(const struct timeline *timeline, uint64_t index)
{
    /* All blocks but the last are full. */
    return &timeline->best[index / timeline->block_ops]->ops[index % timeline->block_ops];
}

void timeline_end(struct timeline *timeline)
{
    while (timeline->now_count != 0)
        forget_oldest(timeline);
    for (uint32_t i = 0; i < timeline->best_count; i++)
        leave_block(timeline->best[i]);
    *timeline = (struct timeline){0};
}

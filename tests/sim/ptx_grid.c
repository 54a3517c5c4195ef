/* SPDX-License-Identifier: Apache-2.0
 *
 * A launch: its threads run one after the other, on the engine's thread that calls this. One that waits (for memory, the
 * time or the others of its block) is put aside and the next one begins; when all wait, the simulator sleeps. Must never
 * take the simulator's lock.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/sim/ptx_body.h"
#include "tests/sim/sim.h"

/* How many threads of a launch can wait at a time: those behind come after one of these. */
enum { RESIDENT = 1 << 14 };
/* Between two looks: the longer, the longer nothing has come. */
#define POLL_NS 10000u
enum { LOOKS_A_STEP = 64, STEPS_MOST = 4 };

/* ---- where a launch went wrong ---- */

const char *ptx_instruction_text(const struct ptx_function *f, const struct ptx_instruction *i, char *buffer, size_t size)
{
    size_t used = 0;
    for (const char *p = f->text->text + i->at; *p && *p != ';' && used + 1 < size; p++) {
        char c = isspace((unsigned char)*p) ? ' ' : *p;
        if (c != ' ' || (used && buffer[used - 1] != ' '))
            buffer[used++] = c;
    }
    buffer[used] = 0;
    return buffer;
}

unsigned ptx_instruction_line(const struct ptx_function *f, const struct ptx_instruction *i)
{
    unsigned line = 1;
    for (uint32_t n = 0; n < i->at; n++)
        line += f->text->text[n] == '\n';
    return line;
}

void ptx_fault(const struct ptx_thread *t, const struct ptx_instruction *i, uint64_t address, const char *what)
{
    char text[200];
    const struct ptx_function *f = t->frame->function;
    fprintf(stderr, "sim: kernel %s: %s: 0x%llx, line %u: %s\n", t->grid->entry->name, what, (unsigned long long)address,
            ptx_instruction_line(f, i), ptx_instruction_text(f, i, text, sizeof text));
    abort();
}

/* ---- frames ---- */

static size_t frame_size(const struct ptx_function *f)
{
    return sizeof(struct ptx_frame) + (f->slot_count * 8) + (f->frame_bytes + 15) / 16 * 16 +
           (f->local_bytes + 15) / 16 * 16;
}

static void fill(struct ptx_thread *t, struct ptx_frame *frame)
{
    const struct ptx_function *f = frame->function;
    memcpy(frame->slots, f->slots, f->slot_count * 8);
    for (uint32_t n = 0; n < f->filled_count; n++) {
        const struct ptx_filled *filled = &f->filled[n];
        uint64_t value = (uint64_t)filled->offset;
        switch (filled->from) {
        case FILLED_SPECIAL: value = special_value(t, filled->which); break;
        case FILLED_VARIABLE: value += t->grid->variables + f->text->variable_at[filled->which]->offset; break;
        case FILLED_LOCAL: value |= (uint64_t)frame->depth << PTX_LOCAL_FRAME; break;
        }
        frame->slots[filled->slot] = value;
    }
}

/* At `memory`, which has room for it. */
static struct ptx_frame *frame_begin(struct ptx_thread *t, const struct ptx_function *f, void *memory)
{
    struct ptx_frame *frame = memory;
    *frame = (struct ptx_frame){.function = f, .caller = t->frame, .depth = t->frame ? t->frame->depth + 1 : 0};
    frame->slots = (uint64_t *)(frame + 1);
    frame->params = (unsigned char *)(frame->slots + f->slot_count);
    frame->local = frame->params + (f->frame_bytes + 15) / 16 * 16;
    memset(frame->params, 0, f->frame_bytes);
    memset(frame->local, 0, f->local_bytes);
    fill(t, frame);
    t->frame = frame;
    t->slots = frame->slots;
    return frame;
}

struct ptx_frame *ptx_frame_enter(struct ptx_thread *t, const struct ptx_function *f)
{
    void *memory = malloc(frame_size(f));
    if (!memory)
        abort();
    return frame_begin(t, f, memory);
}

void ptx_frame_leave(struct ptx_thread *t)
{
    struct ptx_frame *gone = t->frame;
    t->frame = gone->caller;
    t->slots = t->frame->slots;
    free(gone);
}

/* ---- threads ---- */

static struct ptx_thread *thread_begin(struct ptx_grid *g, struct ptx_block *b, unsigned number)
{
    const unsigned *shape = g->work->block;
    struct ptx_thread *t = g->spare_threads;
    if (t)
        g->spare_threads = t->after;
    else if (!(t = malloc(sizeof *t + frame_size(g->entry))))
        abort();
    *t = (struct ptx_thread){.grid = g, .block = b, .number = number};
    t->id[0] = number % shape[0];
    t->id[1] = number / shape[0] % shape[1];
    t->id[2] = number / shape[0] / shape[1];
    frame_begin(t, g->entry, t + 1);
    t->next = g->entry->code;
    return t;
}

static void thread_end(struct ptx_thread *t)
{
    while (t->frame->caller)
        ptx_frame_leave(t);
    t->after = t->grid->spare_threads;
    t->grid->spare_threads = t;
}

static void thread_run(struct ptx_thread *t)
{
    t->state = STATE_RUNS;
    for (const struct ptx_instruction *i = t->next; i;)
        i = i->run(t, i);
}

/* ---- blocks ---- */

static struct ptx_block *block_begin(struct ptx_grid *g, unsigned x, unsigned y, unsigned z)
{
    struct ptx_block *b = g->spare;
    const size_t shared = (g->entry->text->shared_bytes + 15) / 16 * 16, dynamic = g->work->shared;
    if (b)
        g->spare = b->next;
    else if (!(b = malloc(sizeof *b + shared + dynamic)))
        abort();
    *b = (struct ptx_block){.id = {x, y, z}};
    b->shared = (unsigned char *)(b + 1);
    b->dynamic = b->shared + shared;
    memset(b->shared, 0, shared + dynamic);
    return b;
}

static void block_end(struct ptx_grid *g, struct ptx_block *b)
{
    b->next = g->spare;
    g->spare = b;
}

/* All that have not ended stand at a barrier: they go on. */
static bool release(struct ptx_block *b)
{
    for (struct ptx_thread *t = b->threads; t; t = t->after)
        if (t->state != STATE_BARRIER)
            return false;
    for (struct ptx_thread *t = b->threads; t; t = t->after) {
        t->state = STATE_WAITS;
        t->until = 0;
    }
    return b->threads;
}

/* Lets each go on that was put aside; whether one came further than where it waits. soonest: when to look again. */
static bool round_of(const struct ptx_grid *g, struct ptx_block *b, uint64_t *soonest)
{
    const uint64_t now = sim_now_ns(), steps = g->looks / LOOKS_A_STEP;
    const uint64_t look = now + POLL_NS * (1 + (steps < STEPS_MOST ? steps : STEPS_MOST));
    bool further = false;
    for (struct ptx_thread **link = &b->threads, *t; (t = *link);) {
        if (t->state == STATE_WAITS && t->until <= now) {
            thread_run(t);
            further = further || t->state != STATE_WAITS || t->until > now;
            if (t->state == STATE_DONE) {
                *link = t->after;
                thread_end(t);
                continue;
            }
        }
        if (t->state == STATE_WAITS) {
            uint64_t until = t->until ? t->until : look;
            *soonest = until < *soonest ? until : *soonest;
        }
        link = &t->after;
    }
    return release(b) || further;
}

static void sleep_until(uint64_t when)
{
    const struct timespec at = {(time_t)(when / 1000000000u), (long)(when % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) != 0) {
    }
}

/* Until no block is left that has begun. */
static void finish(struct ptx_grid *g)
{
    while (g->blocks) {
        bool further = false;
        uint64_t soonest = UINT64_MAX;
        for (struct ptx_block **link = &g->blocks, *b; (b = *link);) {
            further = round_of(g, b, &soonest) || further;
            if (b->threads) {
                link = &b->next;
                continue;
            }
            *link = b->next;
            block_end(g, b);
        }
        g->looks = further ? 0 : g->looks + 1;
        if (!further && g->blocks)
            sleep_until(soonest);
    }
    g->suspended = 0;
}

static void run_block(struct ptx_grid *g, unsigned x, unsigned y, unsigned z)
{
    const unsigned threads = g->work->block[0] * g->work->block[1] * g->work->block[2];
    struct ptx_block *b = block_begin(g, x, y, z);
    struct ptx_thread **last = &b->threads;
    uint64_t soonest = UINT64_MAX;
    for (unsigned n = 0; n < threads; n++) {
        struct ptx_thread *t = thread_begin(g, b, n);
        thread_run(t);
        if (t->state == STATE_DONE) {
            thread_end(t);
            continue;
        }
        *last = t;
        last = &t->after;
    }
    if (b->threads)
        release(b);
    while (b->threads && round_of(g, b, &soonest))
        continue;
    if (!b->threads) {
        block_end(g, b);
        return;
    }
    b->next = g->blocks;
    g->blocks = b;
    g->suspended += threads;
    if (g->suspended >= RESIDENT)
        finish(g);
}

void ptx_run(const struct kernel_work *k, const unsigned char *parameters)
{
    struct ptx_grid g = {.work = k,
                         .entry = k->function->code,
                         .parameters = parameters,
                         .variables = k->function->module->memory,
                         .claim = k->claim};
    if (ptx_ends(g.entry->code))
        return;
    for (unsigned z = 0; z < k->grid[2]; z++)
        for (unsigned y = 0; y < k->grid[1]; y++)
            for (unsigned x = 0; x < k->grid[0]; x++)
                run_block(&g, x, y, z);
    finish(&g);
    for (struct ptx_thread *t = g.spare_threads, *next; t; t = next) {
        next = t->after;
        free(t);
    }
    for (struct ptx_block *b = g.spare, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    if (g.reported)
        claim_launch_over(&g);
}

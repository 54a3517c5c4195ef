/* SPDX-License-Identifier: Apache-2.0
 *
 * Walks the chain of frames of the thread that it runs on. Called by stacks.c: for what tells two call sites apart with
 * every recorded call that functions of Python are on the way to, for the frames themselves where a stack is defined. Must
 * never fault: memory of Python's goes away under a thread that holds no lock of the interpreter's when another thread ends
 * the interpreter, so it is read directly only where the thread's state is the interpreter's own first one, and such a walk
 * has been made before by way of the kernel.
 */
#include "interpose/record/stacks/python.h"

#include <string.h>

#include "interpose/base/loaded.h"
#include "interpose/base/pages.h"
#include "interpose/base/peek.h"
#include "interpose/base/sites.h"
#include "interpose/env/env.h"
#include "interpose/record/stacks/python_code.h"
#include "interpose/record/stacks/python_layout.h"
#include "interpose/trace/format.h"

enum {
    STEPS_MOST = 4 * PYTHON_FRAMES, /* with frames that are not shown */
    OWNER_C = 3,                    /* from this on a frame is no function's */
    SEARCHES = 64,                  /* of all objects, for an interpreter that no frame seen was in */
};
#define LOWEST 65536u
#define HIGHEST (UINT64_C(1) << 56)

/* ---- whether there is one ---- */

static struct sites interpreters;
static uint32_t searches;

static int is_interpreter(const struct elf_object *object, const void *caller)
{
    (void)caller;
    return object ? python_layout_of(object) : 0;
}

static int look_for_one(const struct elf_object *object, void *none)
{
    (void)none;
    return python_layout_of(object);
}

int python_may_call(void *const *frames, int count, int whole)
{
    if (!env_get()->python_frames)
        return 0;
    for (int i = 0; i < count; i++)
        if (sites_verdict(&interpreters, frames[i], is_interpreter))
            return 1;
    if (whole)
        return 0;
    if (!python_layout() && __atomic_fetch_add(&searches, 1, __ATOMIC_RELAXED) < SEARCHES)
        loaded_each(look_for_one, NULL);
    return python_layout() != NULL;
}

int python_is_here(void)
{
    return python_layout() != NULL;
}

struct python_thread *python_of(struct thread *thread)
{
    if (!thread->python)
        thread->python = pages_keep(sizeof *thread->python);
    return thread->python;
}

/* ---- the chain ---- */

struct step {
    uint64_t executable, instr, previous;
    uint8_t owner;
};

static inline int is_address(uint64_t at)
{
    return at >= LOWEST && at < HIGHEST && at % 8 == 0;
}

/* From the copy of the page, so that a chain costs a system call a page. */
static int fetch(struct python_thread *own, uint64_t at, void *into, size_t bytes)
{
    uint64_t page = at & ~(uint64_t)(sizeof own->bytes - 1);
    if (at + bytes > page + sizeof own->bytes)
        return peek(at, into, bytes);
    if (own->page != page && !peek(page, own->bytes, sizeof own->bytes)) {
        own->page = 0;
        return 0;
    }
    own->page = page;
    memcpy(into, own->bytes + (at - page), bytes);
    return 1;
}

static int step_at(const struct python_layout *layout, struct python_thread *own, uint64_t frame, struct step *out)
{
    uint8_t bytes[PYTHON_FRAME_BYTES];
    if (!is_address(frame) || !fetch(own, frame, bytes, sizeof bytes))
        return 0;
    memcpy(&out->executable, bytes + layout->executable, sizeof out->executable);
    memcpy(&out->instr, bytes + layout->instr, sizeof out->instr);
    memcpy(&out->previous, bytes + layout->previous, sizeof out->previous);
    out->owner = bytes[layout->owner];
    out->executable &= ~UINT64_C(7); /* 3.14 keeps notes there */
    return 1;
}

/* The thread's innermost frame; 0: none, or not to be had. Its state may be gone. The page that it was in last time is
 * read along with it: most often it is in there again. */
static uint64_t innermost(const struct python_layout *layout, struct python_thread *own, uint64_t thread)
{
    uint64_t at = 0, page = own->first;
    if (!is_address(thread))
        return 0;
    int got = page ? peek_word_and(thread + layout->current, &at, page, own->bytes, sizeof own->bytes)
                   : peek(thread + layout->current, &at, sizeof at);
    own->page = got == 2 ? page : 0;
    if (!got)
        return 0;
    if (layout->through && (!is_address(at) || !peek(at, &at, sizeof at)))
        return 0;
    own->first = at & ~(uint64_t)(sizeof own->bytes - 1);
    return at;
}

/* ---- what tells call sites apart ---- */

struct sum {
    uint64_t value;
};

static inline void add(struct sum *sum, uint64_t number)
{
    sum->value = (sum->value ^ number) * 0x9e3779b97f4a7c15u;
    sum->value ^= sum->value >> 32;
}

static inline uint64_t word(uint64_t at)
{
    return *(const uint64_t *)(uintptr_t)at;
}

/* A code object's address comes again when it is gone, its version does not. */
static uint64_t key_directly(const struct python_layout *layout, uint64_t thread)
{
    struct sum sum = {0};
    uint64_t frame = word(thread + layout->current);
    frame = layout->through && frame ? word(frame) : frame;
    for (int told = 0, steps = 0; is_address(frame) && told < PYTHON_TOLD_APART && steps < 2 * PYTHON_TOLD_APART; steps++) {
        if (*(const uint8_t *)(uintptr_t)(frame + layout->owner) < OWNER_C) {
            uint64_t code = word(frame + layout->executable) & ~UINT64_C(7);
            add(&sum, word(frame + layout->instr));
            add(&sum, *(const uint32_t *)(uintptr_t)(code + layout->version));
            told++;
        }
        frame = word(frame + layout->previous);
    }
    return sum.value | 2;
}

/* The same number by way of the kernel. */
static uint64_t key_by_peek(const struct python_layout *layout, struct python_thread *own, uint64_t thread)
{
    uint64_t instr[PYTHON_TOLD_APART], version_at[PYTHON_TOLD_APART];
    uint32_t version[PYTHON_TOLD_APART];
    int told = 0;
    struct step step;
    struct sum sum = {0};
    uint64_t frame = innermost(layout, own, thread);
    for (int steps = 0; told < PYTHON_TOLD_APART && steps < 2 * PYTHON_TOLD_APART && step_at(layout, own, frame, &step);
         steps++, frame = step.previous) {
        if (step.owner >= OWNER_C)
            continue;
        instr[told] = step.instr;
        version_at[told++] = step.executable + layout->version;
    }
    if (told && !peek_places(version_at, told, version, sizeof *version))
        return 1;
    for (int i = 0; i < told; i++) {
        add(&sum, instr[i]);
        add(&sum, version[i]);
    }
    return sum.value | 2;
}

/* The state of the thread that started the interpreter lies in the runtime itself. */
static inline int is_first(const struct python_layout *layout, uint64_t state)
{
    return state >= layout->runtime && state < layout->runtime_end;
}

/* Elsewhere a call costs some system calls more: only where that is asked for. */
static inline int is_wanted(const struct python_layout *layout, uint64_t state)
{
    return is_first(layout, state) || env_get()->python_frames == ENV_PYTHON_ON;
}

uint64_t python_key(const struct thread *thread)
{
    const struct python_layout *layout = python_layout();
    uint64_t state = layout && thread->python ? python_layout_thread_state(layout) : 0;
    if (!state)
        return 1;
    if (thread->python->proven && is_first(layout, state))
        return key_directly(layout, state);
    return is_wanted(layout, state) ? key_by_peek(layout, thread->python, state) : 1;
}

/* ---- the frames ---- */

/* What is not a function's frame, or no frame at all, ends the walk: 0. */
static int take(const struct python_layout *layout, const struct step *step, uint64_t at, struct python_frame *out,
                int *count)
{
    struct python_frame frame = {0, at};
    if (step->owner < OWNER_C) {
        frame.pc = python_code_source(layout, step->executable, step->instr);
        frame.entry = 0;
        if (!frame.pc)
            return 0;
        if (frame.pc == UINT64_MAX)
            return 1;
    }
    out[(*count)++] = frame;
    return 1;
}

/* Such a chain is damaged, or another thread's that goes on. */
static int is_again(const uint64_t *seen, int steps, uint64_t frame)
{
    for (int i = 0; i < steps; i++)
        if (seen[i] == frame)
            return 1;
    return 0;
}

int python_frames(struct thread *thread, struct python_frame *out, int most)
{
    const struct python_layout *layout = python_layout();
    uint64_t seen[STEPS_MOST];
    int count = 0, steps = 0, good = 1;
    struct step step;
    if (!layout || !python_of(thread))
        return 0;
    uint64_t state = python_layout_find_thread_state(layout);
    if (!state || !is_wanted(layout, state))
        return 0;
    uint64_t frame = innermost(layout, thread->python, state);
    for (; good && frame && count < most && steps < STEPS_MOST; frame = step.previous) {
        good = !is_again(seen, steps, frame) && step_at(layout, thread->python, frame, &step) &&
               take(layout, &step, frame, out, &count);
        seen[steps++] = frame;
    }
    thread->python->proven |= good && count > 0;
    return count;
}

void python_forget(struct thread *thread)
{
    if (thread->python)
        pages_clear(thread->python, sizeof *thread->python);
}

void python_after_fork(void)
{
    python_code_after_fork();
}

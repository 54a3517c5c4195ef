/* SPDX-License-Identifier: Apache-2.0
 *
 * Call stacks, deduplicated.
 */
#ifndef PTDS_STACKS_H
#define PTDS_STACKS_H

#include "interpose/state/call.h"

/* Outer return addresses that are compared on every use, and the thread's places. */
enum { STACKS_CHECKED = 6, STACKS_PLACES = 512, STACKS_PYTHON = UINT16_MAX };

struct stack_entry {
    const void *caller;
    const void *const *frame;
    uint32_t id;
    uint16_t checked;
    uint16_t refused; /* uses until this place is asked about again, at 1; its id is a stack of one frame. 0: not refused;
                       * STACKS_PYTHON: the id depends on the functions of Python that are on the way */
    struct {
        const void *const *slot;
        const void *value;
    } outer[STACKS_CHECKED];
    uint64_t unused; /* a size that places are cheap to multiply with */
};

static inline struct stack_entry *stacks_entry(const struct thread *thread, const void *caller, const void *const *frame)
{
    return &thread->stacks[((uint64_t)caller / 4 + (uint64_t)frame / 16) % STACKS_PLACES];
}

/* 1: the call came by the same path through the program as the entry's. */
static inline int stacks_match(const struct stack_entry *entry, const void *caller, const void *const *frame)
{
    if (entry->caller != caller || entry->frame != frame)
        return 0;
    for (uint32_t i = 0; i < entry->checked; i++) {
        if (*entry->outer[i].slot != entry->outer[i].value)
            return 0;
    }
    return 1;
}

/* The id of the call's stack. The thread remembers stacks by the wrapper's return address, its place on the stack, and the
 * return addresses found above it; one that it remembers costs a few loads. Another is unwound if `worth` is set or the
 * call site still has some of its first uses left; else the id is that of the return address alone. */
uint32_t stacks_id(struct call *C, int worth);

/* The same as stacks_usual where functions of Python are on the way. */
uint32_t stacks_usual_of_python(const struct thread *thread, const struct stack_entry *entry);

/* The id of the call's stack, where the thread remembers it and nothing has to be counted; else 0. The hot path. */
static inline uint32_t stacks_usual(const struct thread *thread, const void *caller, const void *const *frame)
{
    const struct stack_entry *entry = thread->stacks ? stacks_entry(thread, caller, frame) : NULL;
    if (!entry || !stacks_match(entry, caller, frame))
        return 0;
    if (__builtin_expect(!entry->refused, 1))
        return entry->id;
    return entry->refused == STACKS_PYTHON ? stacks_usual_of_python(thread, entry) : 0;
}

/* The id that the thread remembers for the call's place; 0 if stacks_id has to find it, or to ask again. */
uint32_t stacks_known(const struct call *C);

void stacks_forget(struct thread *thread);

/* Lets the unwinder load what it needs, once, away from the hot path. While another thread does, waits for that, but not
 * for long: then stacks are of one frame until it is done. */
void stacks_warm_up(void);

void stacks_after_fork(void);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of Python in call stacks, of CPython 3.12 to 3.14. The interpreter keeps a chain of frames for each thread, and
 * the thread's own is read from memory: no function of Python's is called, its lock is not taken, nothing is allocated. Of
 * any other interpreter nothing is read.
 */
#ifndef PTDS_PYTHON_H
#define PTDS_PYTHON_H

#include <stdint.h>

#include "interpose/record/stacks/merge_python_stack.h"
#include "interpose/record/stacks/stacks.h"
#include "interpose/state/thread.h"

/* How many functions a stack shows, and how many of them, the innermost ones, tell call sites apart on the hot path. */
enum { PYTHON_FRAMES = 48, PYTHON_TOLD_APART = 12, PYTHON_PLACES = 1024 };

/* What the thread keeps. A place: the id of the stack that C and Python functions make together. */
struct python_place {
    uint64_t key;
    uint32_t id;
    uint32_t refused; /* as in struct stack_entry */
};
struct python_thread {
    uint64_t page;  /* address of what `bytes` holds a copy of; 0 none */
    uint64_t first; /* the page that the innermost frame was in last time */
    uint32_t proven;
    uint32_t unused;
    uint8_t bytes[4096];
    struct python_place places[PYTHON_PLACES];
    struct c_stack c_stacks[STACKS_PLACES]; /* of the stack_entry of the same number */
};

/* The thread's; NULL without memory. */
struct python_thread *python_of(struct thread *thread);

/* Whether functions of Python may be among these frames' callers: one of them is an interpreter's, or they do not reach up
 * to the thread's start. Looks for the interpreter. */
int python_may_call(void *const *frames, int count, int whole);

/* An interpreter was found. */
int python_is_here(void);

/* What tells the thread's Python functions from others: a number that is never 0; 1: there are none to be read. */
uint64_t python_key(const struct thread *thread);

/* The thread's Python functions, innermost first, each defined; how many frames. Cold. */
int python_frames(struct thread *thread, struct python_frame *out, int most);

void python_forget(struct thread *thread);
void python_after_fork(void);

#endif

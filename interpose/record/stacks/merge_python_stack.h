/* SPDX-License-Identifier: Apache-2.0
 *
 * Puts the frames of Python functions into a stack of C frames, in the place of the interpreter's own. The C frames are
 * kept with their places on the stack, so that this needs no second unwinding for each call.
 */
#ifndef PTDS_MERGE_PYTHON_STACK_H
#define PTDS_MERGE_PYTHON_STACK_H

#include <stdint.h>

enum { C_STACK_FRAMES = 48 };

struct c_stack {
    uint64_t hash; /* of the frames */
    uint32_t id;   /* the stack of C frames alone; 0 not defined yet */
    uint32_t count;
    void *pc[C_STACK_FRAMES];
    uintptr_t at[C_STACK_FRAMES + 1]; /* the frame's lowest address and, the next one, past its end; 0 not known */
};

/* One frame of Python's chain. */
struct python_frame {
    uint64_t pc;    /* PTDS_PC_SOURCE | id of its SOURCE; 0: what the interpreter puts where it was entered from C */
    uint64_t entry; /* of those: its address, which is on the C stack */
};

/* Keeps the frames; the first one's pc is the call's return address. Unwinds a second time, for the addresses. */
void merge_python_stack_keep(struct c_stack *stack, void *const *frames, int count, uint64_t hash);

/* Both together, innermost first: what lies between two entries from C stands in place of the interpreter's own frame, and
 * what is left at the end. How many. */
int merge_python_stack(const struct c_stack *stack, const struct python_frame *python, int count, void **out, int most);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * The C frames of a call that functions of Python are on the way to, and where each lies on the stack: what it takes to put
 * Python's frames where they belong, without unwinding again.
 */
#ifndef PTDS_WAYS_H
#define PTDS_WAYS_H

#include <stdint.h>

enum { WAYS_FRAMES = 48 };

struct way {
    uint64_t hash; /* of the frames */
    uint32_t id;   /* the stack of C frames alone; 0 not defined yet */
    uint32_t count;
    void *pc[WAYS_FRAMES];
    uintptr_t at[WAYS_FRAMES + 1]; /* the frame's lowest address and, the next one, past its end; 0 not known */
};

/* One frame of Python's chain. */
struct python_frame {
    uint64_t pc;    /* PTDS_PC_SOURCE | id of its SOURCE; 0: what the interpreter puts where it was entered from C */
    uint64_t entry; /* of those: its address, which is on the C stack */
};

/* Keeps the frames; the first one's pc is the call's return address. Unwinds a second time, for the addresses. */
void ways_keep(struct way *way, void *const *frames, int count, uint64_t hash);

/* Both together, innermost first: what lies between two entries from C stands in place of the interpreter's own frame, and
 * what is left at the end. How many. */
int ways_merge(const struct way *way, const struct python_frame *python, int count, void **out, int most);

#endif

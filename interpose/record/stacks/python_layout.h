/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the interpreter in this process keeps what is read of it. For python*.c alone.
 */
#ifndef PTDS_PYTHON_LAYOUT_H
#define PTDS_PYTHON_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "interpose/base/elf.h"

/* Bytes from the start of what they are in. */
/* A frame up to its owner; and of a code object at most so much lies before its instructions. */
enum { PYTHON_FRAME_BYTES = 80, PYTHON_CODE_MOST = 256 };

struct python_layout {
    uintptr_t runtime, runtime_end;             /* _PyRuntime, with the main interpreter and its first thread in it */
    uintptr_t code_type, text_type, bytes_type; /* what an object of the kind names as its type */
    uint16_t finalizing;                        /* of _PyRuntime */
    uint16_t current, through;                  /* of a thread: its frame; `through`: at `current` lies a pointer to that */
    uint16_t thread_id;                         /* of a thread: pthread_self() */
    uint16_t previous, executable, instr, owner;              /* of a frame */
    uint16_t file, function, lines, first, version, start;    /* of a code object; start: of its instructions */
    uint16_t text_length, text_state, text_ascii, text_other; /* of a string; where its characters begin */
    uint16_t bytes_length, bytes_start;
};

/* NULL: none is known (yet). Any thread. */
const struct python_layout *python_layout(void);

/* Whether the object is an interpreter that can be read; it is the one from then on. */
int python_layout_of(const struct elf_object *object);

/* The Python thread state of this thread, running or not; 0: none, not found yet, or the interpreter is at its end. */
uint64_t python_layout_thread_state(const struct python_layout *layout);

/* The same, and finds where they are. Cold. */
uint64_t python_layout_find_thread_state(const struct python_layout *layout);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * A program in the language of programs.py, as driver calls. Included by the files of oracle_runner. Nothing here knows of
 * libptds, or of what a call is ordered with: programs.py and relation.py do.
 */
#ifndef ORACLE_RUNNER_H
#define ORACLE_RUNNER_H

#include <cuda.h>
#include <stdint.h>

enum { ARGUMENTS = 6, NAME = 12, MEMORIES = 64, STREAMS = 8, EVENTS = 64, VARIABLES = 2, TEXTURES = 4 };

/* One line: thread, name of the operation, arguments. */
struct line {
    unsigned thread, index, count;
    const struct operation *operation;
    char *arguments[ARGUMENTS];
};

struct operation {
    const char *name;
    unsigned arguments;
    void (*run)(const struct line *line);
};

struct memory {
    char name[NAME];
    unsigned words;
    CUdeviceptr device;
    uint32_t *host; /* NULL where the host can't touch it */
    char kind[NAME];
};

struct span {
    CUdeviceptr device;
    uint32_t *host;
    unsigned words;
};

/* Ends the process where a call fails. */
#define CU(call) runner_must((call), #call)
void runner_must(CUresult result, const char *call);
__attribute__((noreturn)) void runner_stop(const char *what, const char *which);

/* runner_world.c: made before the first line runs. */
void world_make(void);
void world_enter(void); /* in every thread */
CUstream world_stream(const char *name);
CUevent world_event(const char *name);
CUfunction world_kernel(const char *name);
CUfunction world_variable_kernel(const char *variable, const char *name);
CUdeviceptr world_variable(const char *variable);
CUtexObject *world_texture(const char *name);
struct memory *world_memory(const char *name);
struct memory *world_new_memory(const char *name, const char *words);
struct span world_span(const char *text); /* NAME+offset:words */

/* runner_memory.c: makes and frees what a line asks for. */
void memory_make(struct memory *memory, const char *kind);
void memory_free(struct memory *memory);

/* runner_kernels.c, runner_acts.c: end with a row without a name. */
extern const struct operation kernel_operations[], other_operations[];

uint32_t runner_word(const char *text);

#endif

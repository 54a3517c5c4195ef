/* SPDX-License-Identifier: Apache-2.0
 *
 * A random program whose kernels chase pointers: its steps, as drawn (draw.c), with what memory has in the end (model.c).
 * The text of its kernels is made of it (text.c), and threads that take turns carry it out (act.c). Legacy
 * order determines every byte: all is default-stream work, and each call has returned before the next one begins. Included
 * by the files of pointers_random. Nothing here knows of libptds.
 */
#ifndef APPS_POINTERS_RANDOM_PROGRAM_H
#define APPS_POINTERS_RANDOM_PROGRAM_H

#include <stdint.h>
#include <stdio.h>

enum {
    BUFFERS = 6,
    PINNED_BUFFER = 5,
    WORDS = 32,
    STEPS_MOST = 64,
    PATHS = 3,
    CELLS_MOST = 64,
    MANY_WORDS = 16384,
    LONG_SPIN = 4,
    SEATS = 4
};

/* Cells are words that have a pointer: of level 1 to a buffer, of level 2 to a cell of level 1, of level 3 to one of level
 * 2. Each place has some. */
enum place {
    FEW_TABLE,
    MANY_TABLE,
    PINNED_TABLE,
    UPPER_TABLE,
    TOP_TABLE,
    GLOBAL_ONE, /* variables of the modules; the number is the level */
    GLOBAL_TWO,
    CONSTANT_ONE,
    CONSTANT_TWO,
    PLACES
};

struct place_kind {
    const char *name;
    uint8_t level, cells, is_variable, is_constant, module; /* module: whose variable */
    uint16_t stride, words;                                 /* from cell to cell; in all */
};
extern const struct place_kind places[PLACES];

enum root {
    PLAIN,
    STRUCTURE,
    STRUCTURE_INDEXED,
    HALVES,
    HALVES_APART,
    SUM,
    SUM_OF_ANY,
    DIFFERENCE,
    XOR,
    TAG_LOW,
    TAG_HIGH,
    SELECTED,
    THROUGH_SHARED,
    BEFORE,
    INDEXED,
    ROOTS,
    VARIABLE = ROOTS /* by its name */
};
extern const char *const root_names[ROOTS + 1];

/* From a root to a buffer or a cell: as many loads as `loads`. */
struct path {
    uint8_t root, loads;
    int8_t cell; /* where it begins; -1: at a buffer */
    uint8_t buffer;
    uint16_t noise;
};

enum step_kind {
    KERNEL_STORE, /* to[i] = value + i */
    KERNEL_SCALE, /* to[i] = from[i] * 3 + value */
    KERNEL_ADD,   /* to[i] = from[i] + other[i] + value */
    KERNEL_RED,   /* to[i] += from[i], atomically */
    KERNEL_PUT,   /* a cell gets a pointer that is a parameter */
    KERNEL_MOVE,  /* a cell gets what another one has */
    BRING,        /* a cell gets a pointer, otherwise */
    BRING_TABLE,  /* all cells of a place */
    HOST_WRITE,   /* a pinned cell, after a wait */
    RENEW,        /* a buffer is freed, and one allocated that most likely lies at the same address */
    MEMSET,
    COPY,
    FROM_HOST,
    STEP_KINDS
};
extern const char *const step_names[STEP_KINDS];

enum bring {
    PAGEABLE,
    PAGEABLE_ASYNC,
    PINNED,
    PINNED_ASYNC,
    TWO_DIMENSIONS,
    THREE_DIMENSIONS,
    DEVICE_COPY,
    TABLE_BRINGS, /* those before can bring a table */
    TWO_COPIES = TABLE_BRINGS,
    TWO_MEMSETS,
    VALUE_WRITE,
    HOST_FUNCTION,
    HOST_FUNCTION_TWICE,
    GRAPH_COPY,
    BRINGS
};
extern const char *const bring_names[BRINGS];

struct step {
    uint8_t kind, seat, bring, module, spin, as_graph, lies; /* lies: the kernel's name says const where it writes */
    uint8_t cell, place, target, buffer, from;               /* target: a buffer or a cell, by the cell's level */
    uint32_t value;
    struct path path[PATHS]; /* to, from, other */
    uint8_t targets[8];      /* of all cells of a place */
    uint64_t cells;          /* RENEW: those that point to the buffer */
};

struct program {
    unsigned seed, step_count, kernels;
    uint64_t random;
    uint32_t roots, brings, cells_used; /* what this program uses, a bit each */
    struct step step[STEPS_MOST];
    uint8_t first_target[CELLS_MOST], target[CELLS_MOST]; /* of cells: at the start, in the end */
    uint32_t words[BUFFERS][WORDS];                       /* in the end */
};

/* draw.c */
extern uint32_t roots_left_out, brings_left_out;
void program_draw(struct program *p, unsigned seed, unsigned steps);
unsigned cell_count(void);
unsigned first_cell(unsigned place);
unsigned place_of(unsigned cell);
unsigned level_of(unsigned cell);
static inline int is_kernel(const struct step *step)
{
    return step->kind <= KERNEL_MOVE;
}

/* model.c */
uint32_t first_word(unsigned buffer, unsigned word);
void model_start(struct program *p);
void model_apply(struct program *p, const struct step *step);
unsigned path_buffer(const struct program *p, const struct path *path); /* where it ends */
unsigned path_cell(const struct program *p, const struct path *path);

/* print.c */
void program_print(FILE *out, const struct program *p);

#endif

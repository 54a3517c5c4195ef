/* SPDX-License-Identifier: Apache-2.0
 *
 * What random programs run with, made once (world.c), and the kernels of the one at hand (text.c). Included by the files of
 * pointers_random.
 */
#ifndef APPS_POINTERS_RANDOM_WORLD_H
#define APPS_POINTERS_RANDOM_WORLD_H

#include <stdatomic.h>

#include "tests/apps/app.h"
#include "tests/apps/pointers_random/program.h"

enum { ARGUMENTS_MOST = 32, MODULES = 2, STAGE_WORDS = 8, BLOCK_WORDS = 8, BLOCKS_MOST = 4, LARGE_STAGES = 4 };

struct fill {
    uint64_t *at, value;
};

struct world {
    struct app app;
    const struct program *program;
    uint64_t spin_ns;
    unsigned threads;
    CUdeviceptr buffer[BUFFERS], place[PLACES], results, stage_on_device;
    uint32_t *pinned_buffer;
    uint64_t *pinned_table;
    uint64_t *stage[STEPS_MOST]; /* pinned, STAGE_WORDS each */
    uint64_t *large[LARGE_STAGES], *pageable;
    unsigned large_used;
    struct fill fill[STEPS_MOST][2];
    CUmodule module[MODULES];
    CUfunction kernel[STEPS_MOST];
    atomic_uint turn, seed; /* of the step; seed: for the watch */
};
extern struct world world;

void world_start(void);
void world_begin(void); /* for world.program: modules, memory as it is at the start */
void world_end(void);
CUdeviceptr cell_address(unsigned cell);
uint64_t target_address(unsigned level, unsigned target);
void place_words(unsigned place, const uint8_t *targets, uint64_t *words); /* the whole place, with these targets */

/* text.c: a kernel's text is made together with its arguments, which are made again at each launch. */
struct emit {
    char declarations[4096], code[8192];
    unsigned parameters, registers, blocks;
    void *at[ARGUMENTS_MOST];
    uint64_t value[ARGUMENTS_MOST], block[BLOCKS_MOST][BLOCK_WORDS];
};
void emit_kernel(struct emit *e, unsigned step);
void kernel_name(unsigned step, char *name, size_t size);
char *module_text(unsigned module); /* the caller frees it */

void act(unsigned step);
void act_collect(void); /* all that the program leaves, to world.results; the caller waits */

/* Bytes of the results: the buffers' words, then each place's. */
size_t result_of_buffer(unsigned buffer);
size_t result_of_place(unsigned place);
enum { RESULT_BYTES = BUFFERS * WORDS * 4 + (8 * 8 + 2 * 4) * 8 + MANY_WORDS * 8 };

#endif

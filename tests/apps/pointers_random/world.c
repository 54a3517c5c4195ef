// SPDX-License-Identifier: Apache-2.0
//
// Memory and modules of random programs. Memory is allocated once and put back for each program; modules are each program's
// own. Called by pointers_random.c.

#include <stdlib.h>
#include <string.h>

#include "tests/apps/load.h"
#include "tests/apps/pointers_random/world.h"

struct world world;

static void *host_memory(size_t bytes, CUdeviceptr *from_device)
{
    void *at;
    CUdeviceptr unused;
    CU(cuMemHostAlloc(&at, bytes, CU_MEMHOSTALLOC_DEVICEMAP));
    CU(cuMemHostGetDevicePointer(from_device ? from_device : &unused, at, 0));
    return at;
}

void world_start(void)
{
    app_start(&world.app);
    for (unsigned buffer = 0; buffer < PINNED_BUFFER; buffer++)
        CU(cuMemAlloc(&world.buffer[buffer], WORDS * 4));
    world.pinned_buffer = host_memory(WORDS * 4, &world.buffer[PINNED_BUFFER]);
    for (unsigned place = 0; place < PLACES; place++)
        if (place == PINNED_TABLE)
            world.pinned_table = host_memory(places[place].words * 8, &world.place[place]);
        else if (!places[place].is_variable)
            CU(cuMemAlloc(&world.place[place], places[place].words * 8));
    uint64_t *stages = host_memory((size_t)STEPS_MOST * STAGE_WORDS * 8, NULL);
    for (unsigned i = 0; i < STEPS_MOST; i++)
        world.stage[i] = stages + i * STAGE_WORDS;
    for (unsigned i = 0; i < LARGE_STAGES; i++)
        world.large[i] = host_memory(MANY_WORDS * 8, NULL);
    world.pageable = calloc(MANY_WORDS, 8);
    CU(cuMemAlloc(&world.stage_on_device, MANY_WORDS * 8));
    CU(cuMemAlloc(&world.results, RESULT_BYTES));
}

CUdeviceptr cell_address(unsigned cell)
{
    unsigned place = place_of(cell);
    return world.place[place] + (CUdeviceptr)(cell - first_cell(place)) * places[place].stride * 8;
}

uint64_t target_address(unsigned level, unsigned target)
{
    return level == 1 ? world.buffer[target] : cell_address(target);
}

void place_words(unsigned place, const uint8_t *targets, uint64_t *words)
{
    const struct place_kind *kind = &places[place];
    for (unsigned i = 0; i < kind->words; i++)
        words[i] = world.buffer[PINNED_BUFFER]; // a decoy
    for (unsigned i = 0; i < kind->cells; i++)
        words[i * kind->stride] = target_address(kind->level, targets[i]);
}

static void load_modules(void)
{
    char name[32];
    for (unsigned module = 0; module < MODULES; module++) {
        char *text = module_text(module);
        CU(load_text(&world.module[module], text));
        free(text);
    }
    for (unsigned i = 0; i < world.program->step_count; i++) {
        if (!is_kernel(&world.program->step[i]))
            continue;
        kernel_name(i, name, sizeof name);
        CU(cuModuleGetFunction(&world.kernel[i], world.module[world.program->step[i].module], name));
    }
}

static void find_variables(void)
{
    for (unsigned place = 0; place < PLACES; place++)
        if (places[place].is_variable)
            CU(cuModuleGetGlobal(&world.place[place], NULL, world.module[places[place].module], places[place].name));
}

static void set_memory(void)
{
    uint32_t words[WORDS];
    for (unsigned buffer = 0; buffer < BUFFERS; buffer++) {
        for (unsigned i = 0; i < WORDS; i++)
            words[i] = first_word(buffer, i);
        if (buffer == PINNED_BUFFER)
            memcpy(world.pinned_buffer, words, sizeof words);
        else
            CU(cuMemcpyHtoD(world.buffer[buffer], words, sizeof words));
    }
    for (unsigned place = 0; place < PLACES; place++) {
        place_words(place, world.program->first_target + first_cell(place), world.pageable);
        if (place == PINNED_TABLE)
            memcpy(world.pinned_table, world.pageable, places[place].words * 8);
        else
            CU(cuMemcpyHtoD(world.place[place], world.pageable, places[place].words * 8));
    }
}

void world_begin(void)
{
    world.large_used = 0;
    load_modules();
    find_variables();
    set_memory();
    CU(cuCtxSynchronize());
}

void world_end(void)
{
    for (unsigned module = 0; module < MODULES; module++)
        CU(cuModuleUnload(world.module[module]));
}

size_t result_of_buffer(unsigned buffer)
{
    return (size_t)buffer * WORDS * 4;
}

size_t result_of_place(unsigned place)
{
    size_t at = result_of_buffer(BUFFERS);
    for (unsigned i = 0; i < place; i++)
        at += places[i].words * 8u;
    return at;
}

// SPDX-License-Identifier: Apache-2.0
//
// What a program's names stand for: streams, events, kernels, memories. Called by runner_acts.c, and by runner.c before the
// first line. Makes no driver call that a line did not ask for, once world_make has returned.

#include "tests/oracle/runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/conformance/variables.ptx.h"
#include "tests/kit/kernels.ptx.h"

enum { KERNELS = 9, VARIABLE_KERNELS = 3 };

static const char *const kernels[KERNELS] = {
    "fill", "copy", "add_one", "add", "spin_ns", "empty", "_Z4fillPjjj", "_Z4copyPjPKjj", "_Z7add_onePjj",
};
static const char *const variable_kernels[VARIABLE_KERNELS] = {"var_set", "var_add", "var_get"};

static struct {
    CUcontext context;
    CUmodule plain, mangled, variables[VARIABLES];
    CUfunction kernels[KERNELS], variable_kernels[VARIABLES][VARIABLE_KERNELS];
    CUstream blocking[STREAMS], non_blocking[STREAMS];
    CUevent events[EVENTS];
    struct memory memories[MEMORIES];
} world;

void runner_stop(const char *what, const char *which)
{
    fprintf(stderr, "oracle_runner: %s: %s\n", what, which);
    exit(2);
}

void runner_must(CUresult result, const char *call)
{
    char text[16];
    snprintf(text, sizeof text, "%d", (int)result);
    if (result != CUDA_SUCCESS)
        runner_stop(call, text);
}

void world_enter(void)
{
    CU(cuCtxSetCurrent(world.context));
}

// All at once: looking one up later may wait for work.
static void find_kernels(void)
{
    for (unsigned i = 0; i < KERNELS; i++)
        CU(cuModuleGetFunction(&world.kernels[i], kernels[i][0] == '_' ? world.mangled : world.plain, kernels[i]));
    for (unsigned i = 0; i < VARIABLES; i++)
        for (unsigned k = 0; k < VARIABLE_KERNELS; k++)
            CU(cuModuleGetFunction(&world.variable_kernels[i][k], world.variables[i], variable_kernels[k]));
}

void world_make(void)
{
    CU(cuInit(0));
    CU(cuDevicePrimaryCtxRetain(&world.context, 0));
    world_enter();
    CU(cuModuleLoadData(&world.plain, ptds_test_ptx));
    CU(cuModuleLoadData(&world.mangled, kit_ptx));
    for (unsigned i = 0; i < VARIABLES; i++)
        CU(cuModuleLoadData(&world.variables[i], ptds_variables_ptx));
    find_kernels();
    for (unsigned i = 0; i < STREAMS; i++) {
        CU(cuStreamCreate(&world.blocking[i], CU_STREAM_DEFAULT));
        CU(cuStreamCreate(&world.non_blocking[i], CU_STREAM_NON_BLOCKING));
    }
    for (unsigned i = 0; i < EVENTS; i++)
        CU(cuEventCreate(&world.events[i], CU_EVENT_DISABLE_TIMING));
}

static unsigned index_of(const char *name, unsigned below)
{
    unsigned index = (unsigned)strtoul(name + 1, NULL, 10);
    if (index >= below)
        runner_stop("no such", name);
    return index;
}

CUstream world_stream(const char *name)
{
    switch (name[0]) {
    case 'L': return NULL;
    case 'X': return CU_STREAM_LEGACY;
    case 'P': return CU_STREAM_PER_THREAD;
    case 'B': return world.blocking[index_of(name, STREAMS)];
    case 'N': return world.non_blocking[index_of(name, STREAMS)];
    default: runner_stop("no such stream", name);
    }
}

CUevent world_event(const char *name)
{
    return world.events[index_of(name, EVENTS)];
}

static unsigned place_of(const char *name, const char *const *names, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    runner_stop("no such kernel", name);
}

CUfunction world_kernel(const char *name)
{
    return world.kernels[place_of(name, kernels, KERNELS)];
}

CUfunction world_variable_kernel(const char *variable, const char *name)
{
    return world.variable_kernels[index_of(variable, VARIABLES)][place_of(name, variable_kernels, VARIABLE_KERNELS)];
}

CUdeviceptr world_variable(const char *variable)
{
    CUdeviceptr address;
    CU(cuModuleGetGlobal(&address, NULL, world.variables[index_of(variable, VARIABLES)], "ptds_var"));
    return address;
}

struct memory *world_memory(const char *name)
{
    for (unsigned i = 0; i < MEMORIES; i++)
        if (strcmp(world.memories[i].name, name) == 0)
            return &world.memories[i];
    runner_stop("no such memory", name);
}

struct memory *world_new_memory(const char *name, const char *words)
{
    struct memory *memory = world_memory("");
    if (strlen(name) >= NAME)
        runner_stop("name too long", name);
    strcpy(memory->name, name);
    memory->words = (unsigned)strtoul(words, NULL, 10);
    memory->host = NULL;
    return memory;
}

struct span world_span(const char *text)
{
    char name[NAME];
    unsigned first, words;
    if (sscanf(text, "%11[^+]+%u:%u", name, &first, &words) != 3)
        runner_stop("not a part of a memory", text);
    const struct memory *memory = world_memory(name);
    if (first + words > memory->words)
        runner_stop("outside of its memory", text);
    return (struct span){memory->device + first * 4, memory->host ? memory->host + first : NULL, words};
}

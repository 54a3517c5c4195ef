// SPDX-License-Identifier: Apache-2.0
//
// What a program's names stand for: streams, events, kernels, memories. Called by runner_acts.c, and by runner.c before the
// first line. Makes no driver call that a line did not ask for, once world_make has returned.

#include "tests/oracle/runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/conformance/tables.ptx.h"
#include "tests/conformance/textures.ptx.h"
#include "tests/conformance/variables.ptx.h"
#include "tests/kit/kernels.ptx.h"
#include "tests/oracle/own_kernels.h"

enum { KERNELS = 17, VARIABLE_KERNELS = 3 };
enum module { PLAIN, MANGLED, TABLES, TEXTURED, OWN, MODULES };

static const char *const images[MODULES] = {ptds_test_ptx, kit_ptx, ptds_tables_ptx, ptds_textures_ptx, oracle_ptx};

static const struct {
    const char *name;
    enum module module;
} kernels[KERNELS] = {
    {"fill", PLAIN},
    {"copy", PLAIN},
    {"add_one", PLAIN},
    {"add", PLAIN},
    {"spin_ns", PLAIN},
    {"empty", PLAIN},
    {"_Z4fillPjjj", MANGLED},
    {"_Z4copyPjPKjj", MANGLED},
    {"_Z7add_onePjj", MANGLED},
    {"gather", TABLES},
    {PTDS_GATHER, TABLES},
    {"scatter", TABLES},
    {PTDS_SCATTER, TABLES},
    {"deep_add", TABLES},
    {"tex_copy", TEXTURED},
    {ORACLE_PCOPY, OWN},
    {ORACLE_BODIES, OWN},
};
static const char *const variable_kernels[VARIABLE_KERNELS] = {"var_set", "var_add", "var_get"};

static struct {
    CUcontext context;
    CUmodule modules[MODULES], variables[VARIABLES];
    CUfunction kernels[KERNELS], variable_kernels[VARIABLES][VARIABLE_KERNELS];
    CUstream blocking[STREAMS], non_blocking[STREAMS];
    CUevent events[EVENTS], timing[EVENTS];
    CUtexObject textures[TEXTURES];
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
        CU(cuModuleGetFunction(&world.kernels[i], world.modules[kernels[i].module], kernels[i].name));
    for (unsigned i = 0; i < VARIABLES; i++)
        for (unsigned k = 0; k < VARIABLE_KERNELS; k++)
            CU(cuModuleGetFunction(&world.variable_kernels[i][k], world.variables[i], variable_kernels[k]));
}

void world_make(void)
{
    CU(cuInit(0));
    CU(cuDevicePrimaryCtxRetain(&world.context, 0));
    world_enter();
    for (unsigned i = 0; i < MODULES; i++)
        CU(cuModuleLoadData(&world.modules[i], images[i]));
    for (unsigned i = 0; i < VARIABLES; i++)
        CU(cuModuleLoadData(&world.variables[i], ptds_variables_ptx));
    find_kernels();
    for (unsigned i = 0; i < STREAMS; i++) {
        CU(cuStreamCreate(&world.blocking[i], CU_STREAM_DEFAULT));
        CU(cuStreamCreate(&world.non_blocking[i], CU_STREAM_NON_BLOCKING));
    }
    for (unsigned i = 0; i < EVENTS; i++) {
        CU(cuEventCreate(&world.events[i], CU_EVENT_DISABLE_TIMING));
        CU(cuEventCreate(&world.timing[i], CU_EVENT_DEFAULT));
    }
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
    return (name[0] == 'T' ? world.timing : world.events)[index_of(name, EVENTS)];
}

CUtexObject *world_texture(const char *name)
{
    return &world.textures[index_of(name, TEXTURES)];
}

CUfunction world_kernel(const char *name)
{
    for (unsigned i = 0; i < KERNELS; i++)
        if (strcmp(kernels[i].name, name) == 0)
            return world.kernels[i];
    runner_stop("no such kernel", name);
}

CUfunction world_variable_kernel(const char *variable, const char *name)
{
    for (unsigned i = 0; i < VARIABLE_KERNELS; i++)
        if (strcmp(variable_kernels[i], name) == 0)
            return world.variable_kernels[index_of(variable, VARIABLES)][i];
    runner_stop("no such kernel", name);
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

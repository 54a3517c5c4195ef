// SPDX-License-Identifier: Apache-2.0
//
// Each operation of the language of programs.py: one driver call, or one access of the host's own. Called by runner.c. What
// the host reads is printed and goes nowhere else.

#include "tests/oracle/runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 64, READ_MOST = 4096 };

static uint32_t word(const char *text)
{
    return (uint32_t)strtoul(text, NULL, 10);
}

// ---- kernels ----

static void launch(CUfunction function, const char *stream, void **parameters)
{
    CU(cuLaunchKernel(function, 1, 1, 1, BLOCK, 1, 1, 0, world_stream(stream), parameters, NULL));
}

static void fill_by(const char *kernel, const struct line *l)
{
    struct span to = world_span(l->arguments[1]);
    uint32_t value = word(l->arguments[2]);
    void *parameters[] = {&to.device, &value, &to.words};
    launch(world_kernel(kernel), l->arguments[0], parameters);
}

static void copy_by(const char *kernel, const struct line *l)
{
    struct span to = world_span(l->arguments[1]), from = world_span(l->arguments[2]);
    void *parameters[] = {&to.device, &from.device, &to.words};
    launch(world_kernel(kernel), l->arguments[0], parameters);
}

static void add_one_by(const char *kernel, const struct line *l)
{
    struct span to = world_span(l->arguments[1]);
    void *parameters[] = {&to.device, &to.words};
    launch(world_kernel(kernel), l->arguments[0], parameters);
}

static void act_fill(const struct line *l)
{
    fill_by("fill", l);
}

static void act_cfill(const struct line *l)
{
    fill_by("_Z4fillPjjj", l);
}

static void act_kcopy(const struct line *l)
{
    copy_by("copy", l);
}

static void act_ccopy(const struct line *l)
{
    copy_by("_Z4copyPjPKjj", l);
}

static void act_inc(const struct line *l)
{
    add_one_by("add_one", l);
}

static void act_cinc(const struct line *l)
{
    add_one_by("_Z7add_onePjj", l);
}

static void act_add(const struct line *l)
{
    struct span to = world_span(l->arguments[1]), one = world_span(l->arguments[2]), two = world_span(l->arguments[3]);
    void *parameters[] = {&to.device, &one.device, &two.device, &to.words};
    launch(world_kernel("add"), l->arguments[0], parameters);
}

static void act_spin(const struct line *l)
{
    uint64_t ns = 1000ull * word(l->arguments[1]);
    void *parameters[] = {&ns};
    launch(world_kernel("spin_ns"), l->arguments[0], parameters);
}

static void act_empty(const struct line *l)
{
    launch(world_kernel("empty"), l->arguments[0], NULL);
}

static void act_pad(const struct line *l)
{
    CUfunction empty = world_kernel("empty");
    for (uint32_t left = word(l->arguments[1]); left > 0; left--)
        launch(empty, l->arguments[0], NULL);
}

static void act_vset(const struct line *l)
{
    uint32_t value = word(l->arguments[2]);
    void *parameters[] = {&value};
    launch(world_variable_kernel(l->arguments[1], "var_set"), l->arguments[0], parameters);
}

static void act_vinc(const struct line *l)
{
    uint32_t words = word(l->arguments[2]);
    void *parameters[] = {&words};
    launch(world_variable_kernel(l->arguments[1], "var_add"), l->arguments[0], parameters);
}

static void act_vget(const struct line *l)
{
    struct span to = world_span(l->arguments[2]);
    void *parameters[] = {&to.device, &to.words};
    launch(world_variable_kernel(l->arguments[1], "var_get"), l->arguments[0], parameters);
}

// ---- copies and memsets ----

static void act_set(const struct line *l)
{
    struct span to = world_span(l->arguments[1]);
    CU(cuMemsetD32Async(to.device, word(l->arguments[2]), to.words, world_stream(l->arguments[0])));
}

static void act_set_sync(const struct line *l)
{
    struct span to = world_span(l->arguments[0]);
    CU(cuMemsetD32(to.device, word(l->arguments[1]), to.words));
}

static void act_d2d(const struct line *l)
{
    struct span to = world_span(l->arguments[1]), from = world_span(l->arguments[2]);
    CU(cuMemcpyDtoDAsync(to.device, from.device, to.words * 4, world_stream(l->arguments[0])));
}

static void act_d2d_sync(const struct line *l)
{
    struct span to = world_span(l->arguments[0]), from = world_span(l->arguments[1]);
    CU(cuMemcpyDtoD(to.device, from.device, to.words * 4));
}

static void act_h2d(const struct line *l)
{
    struct span to = world_span(l->arguments[1]), from = world_span(l->arguments[2]);
    CU(cuMemcpyHtoDAsync(to.device, from.host, to.words * 4, world_stream(l->arguments[0])));
}

static void act_h2d_sync(const struct line *l)
{
    struct span to = world_span(l->arguments[0]), from = world_span(l->arguments[1]);
    CU(cuMemcpyHtoD(to.device, from.host, to.words * 4));
}

static void act_d2h(const struct line *l)
{
    struct span to = world_span(l->arguments[1]), from = world_span(l->arguments[2]);
    CU(cuMemcpyDtoHAsync(to.host, from.device, to.words * 4, world_stream(l->arguments[0])));
}

static void act_d2h_sync(const struct line *l)
{
    struct span to = world_span(l->arguments[0]), from = world_span(l->arguments[1]);
    CU(cuMemcpyDtoH(to.host, from.device, to.words * 4));
}

// ---- what the host reads and writes ----

// As "value*count value*count".
static void print_words(const struct line *l, const uint32_t *words, unsigned count)
{
    printf("%u", l->index);
    for (unsigned i = 0, same; i < count; i += same) {
        for (same = 1; i + same < count && words[i + same] == words[i]; same++)
            ;
        printf(" %u*%u", words[i], same);
    }
    printf("\n");
}

static void act_read(const struct line *l)
{
    struct span from = world_span(l->arguments[0]);
    uint32_t words[READ_MOST];
    CU(cuMemcpyDtoH(words, from.device, from.words * 4));
    print_words(l, words, from.words);
}

static void act_aread(const struct line *l)
{
    struct span from = world_span(l->arguments[1]);
    uint32_t words[READ_MOST];
    CU(cuMemcpyDtoHAsync(words, from.device, from.words * 4, world_stream(l->arguments[0])));
    print_words(l, words, from.words);
}

static void act_hread(const struct line *l)
{
    struct span from = world_span(l->arguments[0]);
    print_words(l, from.host, from.words);
}

static void act_hwrite(const struct line *l)
{
    struct span to = world_span(l->arguments[0]);
    for (unsigned i = 0; i < to.words; i++)
        to.host[i] = word(l->arguments[1]);
}

// ---- order ----

static void act_record(const struct line *l)
{
    CU(cuEventRecord(world_event(l->arguments[1]), world_stream(l->arguments[0])));
}

static void act_wait(const struct line *l)
{
    CU(cuStreamWaitEvent(world_stream(l->arguments[0]), world_event(l->arguments[1]), 0));
}

static void act_esync(const struct line *l)
{
    CU(cuEventSynchronize(world_event(l->arguments[0])));
}

static void act_ssync(const struct line *l)
{
    CU(cuStreamSynchronize(world_stream(l->arguments[0])));
}

static void act_csync(const struct line *l)
{
    (void)l;
    CU(cuCtxSynchronize());
}

// ---- memories come and go ----

static void act_alloc(const struct line *l)
{
    struct memory *memory = world_new_memory(l->arguments[0], l->arguments[2]);
    size_t bytes = memory->words * 4;
    void *host;
    memory->kind = strcmp(l->arguments[1], "managed") == 0 ? 'g' : l->arguments[1][0];
    switch (memory->kind) {
    case 'd': CU(cuMemAlloc(&memory->device, bytes)); return;
    case 'g':
        CU(cuMemAllocManaged(&memory->device, bytes, CU_MEM_ATTACH_GLOBAL));
        memory->host = (uint32_t *)(uintptr_t)memory->device;
        return;
    case 'v': memory->device = world_variable(memory->name); return;
    default: break;
    }
    CU(cuMemHostAlloc(&host, bytes, memory->kind == 'm' ? CU_MEMHOSTALLOC_DEVICEMAP : 0));
    CU(cuMemHostGetDevicePointer(&memory->device, host, 0));
    memory->host = host;
}

static void act_free(const struct line *l)
{
    struct memory *memory = world_memory(l->arguments[0]);
    if (memory->kind == 'd' || memory->kind == 'g')
        CU(cuMemFree(memory->device));
    else
        CU(cuMemFreeHost(memory->host));
    memory->name[0] = 0;
}

static void act_palloc(const struct line *l)
{
    struct memory *memory = world_new_memory(l->arguments[1], l->arguments[2]);
    memory->kind = 'p';
    CU(cuMemAllocAsync(&memory->device, memory->words * 4, world_stream(l->arguments[0])));
}

static void act_pfree(const struct line *l)
{
    struct memory *memory = world_memory(l->arguments[1]);
    CU(cuMemFreeAsync(memory->device, world_stream(l->arguments[0])));
    memory->name[0] = 0;
}

const struct operation *operation_find(const char *name)
{
    static const struct operation operations[] = {
        {"fill", 3, act_fill},         {"cfill", 3, act_cfill},       {"kcopy", 3, act_kcopy},
        {"ccopy", 3, act_ccopy},       {"inc", 2, act_inc},           {"cinc", 2, act_cinc},
        {"add", 4, act_add},           {"spin", 2, act_spin},         {"empty", 1, act_empty},
        {"pad", 2, act_pad},           {"vset", 3, act_vset},         {"vinc", 3, act_vinc},
        {"vget", 3, act_vget},         {"set", 3, act_set},           {"set_sync", 2, act_set_sync},
        {"d2d", 3, act_d2d},           {"d2d_sync", 2, act_d2d_sync}, {"h2d", 3, act_h2d},
        {"h2d_sync", 2, act_h2d_sync}, {"d2h", 3, act_d2h},           {"d2h_sync", 2, act_d2h_sync},
        {"read", 1, act_read},         {"aread", 2, act_aread},       {"hread", 1, act_hread},
        {"hwrite", 2, act_hwrite},     {"record", 2, act_record},     {"wait", 2, act_wait},
        {"esync", 1, act_esync},       {"ssync", 1, act_ssync},       {"csync", 0, act_csync},
        {"alloc", 3, act_alloc},       {"free", 1, act_free},         {"palloc", 3, act_palloc},
        {"pfree", 2, act_pfree},
    };
    for (unsigned i = 0; i < sizeof operations / sizeof operations[0]; i++)
        if (strcmp(operations[i].name, name) == 0)
            return &operations[i];
    return NULL;
}

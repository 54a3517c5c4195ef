// SPDX-License-Identifier: Apache-2.0
//
// The operations that are no kernels: each one driver call, or one access of the host's own. Called by runner.c. What the
// host reads is printed and goes nowhere else.

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/oracle/runner.h"

enum { READ_MOST = 4096, POINTERS = 4, POLL_NS = 50000, POLL_MOST = 4000 };

// ---- copies and memsets ----

static void act_set(const struct line *l)
{
    struct span to = world_span(l->arguments[1]);
    CU(cuMemsetD32Async(to.device, runner_word(l->arguments[2]), to.words, world_stream(l->arguments[0])));
}

static void act_set_sync(const struct line *l)
{
    struct span to = world_span(l->arguments[0]);
    CU(cuMemsetD32(to.device, runner_word(l->arguments[1]), to.words));
}

static void act_d2d(const struct line *l)
{
    struct span to = world_span(l->arguments[1]), from = world_span(l->arguments[2]);
    CU(cuMemcpyDtoDAsync(to.device, from.device, to.words * 4, world_stream(l->arguments[0])));
}

/* Two slices of two rows. */
static void act_slabs(const struct line *l)
{
    size_t row = runner_word(l->arguments[3]) * 4;
    CUDA_MEMCPY3D copy = {.dstMemoryType = CU_MEMORYTYPE_DEVICE, .srcMemoryType = CU_MEMORYTYPE_DEVICE};
    copy.dstDevice = world_memory(l->arguments[1])->device;
    copy.srcDevice = world_memory(l->arguments[2])->device;
    copy.dstPitch = copy.srcPitch = copy.WidthInBytes = row;
    copy.dstHeight = runner_word(l->arguments[4]);
    copy.srcHeight = runner_word(l->arguments[5]);
    copy.Height = copy.Depth = 2;
    CU(cuMemcpy3DAsync(&copy, world_stream(l->arguments[0])));
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
    flockfile(stdout); /* a line is one thread's */
    printf("%u", l->index);
    for (unsigned i = 0, same; i < count; i += same) {
        for (same = 1; i + same < count && words[i + same] == words[i]; same++)
            ;
        printf(" %u*%u", words[i], same);
    }
    printf("\n");
    funlockfile(stdout);
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

// Looks at memory that the GPU writes, without a call, until it holds a value; not for ever, since other work may overwrite
// it.
static void act_hpoll(const struct line *l)
{
    struct span from = world_span(l->arguments[0]);
    const volatile uint32_t *words = from.host;
    struct timespec nap = {.tv_nsec = POLL_NS};
    for (unsigned looks = 0, seen = 0; seen < from.words && looks < POLL_MOST; looks++) {
        for (seen = 0; seen < from.words && words[seen] == runner_word(l->arguments[1]); seen++)
            ;
        if (seen < from.words)
            nanosleep(&nap, NULL);
    }
}

static void act_hwrite(const struct line *l)
{
    struct span to = world_span(l->arguments[0]);
    for (unsigned i = 0; i < to.words; i++)
        to.host[i] = runner_word(l->arguments[1]);
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

static void act_elapsed(const struct line *l)
{
    float ms;
    CU(cuEventElapsedTime(&ms, world_event(l->arguments[0]), world_event(l->arguments[1])));
}

struct host_write {
    struct span to;
    uint32_t value;
};

static void CUDA_CB write_words(void *data)
{
    struct host_write *write = data;
    for (unsigned i = 0; i < write->to.words; i++)
        write->to.host[i] = write->value;
    free(write);
}

static void act_hostfn(const struct line *l)
{
    struct host_write *write = malloc(sizeof *write);
    *write = (struct host_write){world_span(l->arguments[1]), runner_word(l->arguments[2])};
    CU(cuLaunchHostFunc(world_stream(l->arguments[0]), write_words, write));
}

// ---- memories come and go ----

static void act_alloc(const struct line *l)
{
    memory_make(world_new_memory(l->arguments[0], l->arguments[2]), l->arguments[1]);
}

static void act_free(const struct line *l)
{
    memory_free(world_memory(l->arguments[0]));
}

static void act_palloc(const struct line *l)
{
    struct memory *memory = world_new_memory(l->arguments[1], l->arguments[2]);
    CU(cuMemAllocAsync(&memory->device, memory->words * 4, world_stream(l->arguments[0])));
}

static void act_pfree(const struct line *l)
{
    struct memory *memory = world_memory(l->arguments[1]);
    CU(cuMemFreeAsync(memory->device, world_stream(l->arguments[0])));
    memory->name[0] = 0;
}

// Pointers to memories, put into another.
static void act_table(const struct line *l)
{
    uint64_t pointers[POINTERS];
    unsigned count = l->count - 1;
    for (unsigned i = 0; i < count; i++)
        pointers[i] = world_memory(l->arguments[i + 1])->device;
    CU(cuMemcpyHtoD(world_memory(l->arguments[0])->device, pointers, count * sizeof *pointers));
}

static void act_texture(const struct line *l)
{
    const struct memory *memory = world_memory(l->arguments[1]);
    CUDA_RESOURCE_DESC what = {.resType = CU_RESOURCE_TYPE_LINEAR};
    CUDA_TEXTURE_DESC how = {.flags = CU_TRSF_READ_AS_INTEGER};
    what.res.linear.devPtr = memory->device;
    what.res.linear.format = CU_AD_FORMAT_UNSIGNED_INT32;
    what.res.linear.numChannels = 1;
    what.res.linear.sizeInBytes = memory->words * 4;
    CU(cuTexObjectCreate(world_texture(l->arguments[0]), &what, &how, NULL));
}

const struct operation other_operations[] = {
    {"set", 3, act_set},       {"set_sync", 2, act_set_sync}, {"d2d", 3, act_d2d},         {"d2d_sync", 2, act_d2d_sync},
    {"h2d", 3, act_h2d},       {"h2d_sync", 2, act_h2d_sync}, {"d2h", 3, act_d2h},         {"d2h_sync", 2, act_d2h_sync},
    {"read", 1, act_read},     {"aread", 2, act_aread},       {"hread", 1, act_hread},     {"hwrite", 2, act_hwrite},
    {"record", 2, act_record}, {"wait", 2, act_wait},         {"esync", 1, act_esync},     {"ssync", 1, act_ssync},
    {"csync", 0, act_csync},   {"elapsed", 2, act_elapsed},   {"hostfn", 3, act_hostfn},   {"alloc", 3, act_alloc},
    {"free", 1, act_free},     {"hpoll", 2, act_hpoll},       {"palloc", 3, act_palloc},   {"pfree", 2, act_pfree},
    {"table1", 2, act_table},  {"table2", 3, act_table},      {"texture", 2, act_texture}, {"slabs", 6, act_slabs},
    {NULL, 0, NULL},
};

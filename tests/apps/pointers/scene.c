// SPDX-License-Identifier: Apache-2.0
//
// What one case runs with: allocations and modules of its own, so that none has been seen before. Called by pointers.c and
// by the rows. Whatever is started here is done before the case begins.

#include <stdlib.h>
#include <string.h>

#include "tests/apps/load.h"
#include "tests/apps/pointers/pointers.h"

void pass_64(struct arguments *arguments, uint64_t value)
{
    unsigned i = arguments->count++;
    arguments->value[i] = value;
    arguments->at[i] = &arguments->value[i];
}

void pass_32(struct arguments *arguments, uint32_t value)
{
    pass_64(arguments, value);
}

void pass_at(struct arguments *arguments, void *bytes)
{
    arguments->at[arguments->count++] = bytes;
}

int can(struct scene *s, CUresult result, const char *no)
{
    if (result != CUDA_SUCCESS && !s->no)
        s->no = no;
    return result == CUDA_SUCCESS;
}

CUdeviceptr words_of(uint32_t value)
{
    CUdeviceptr words;
    CU(cuMemAlloc(&words, BYTES));
    CU(cuMemsetD32(words, value, WORDS));
    return words;
}

void load(struct scene *s, const struct way *way, CUmodule *module, CUfunction *write, CUfunction *read)
{
    char *text = way_text(way);
    if (can(s, load_text(module, text), "the driver does not take the kernel")) {
        if (way->body != BODY_TEXTURE)
            CU(cuModuleGetFunction(write, *module, way->write_name ? way->write_name : "way_write"));
        CU(cuModuleGetFunction(read, *module, way->read_name ? way->read_name : "way_read"));
    }
    free(text);
}

CUdeviceptr variable(CUmodule module, const char *name)
{
    CUdeviceptr address;
    size_t size;
    CU(cuModuleGetGlobal(&address, &size, module, name));
    return address;
}

void launch_one(CUfunction function, struct arguments *arguments)
{
    CU(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments->at, NULL));
}

void table_make(struct scene *s, size_t entries, size_t entry)
{
    s->entries = entries;
    s->entry = entry;
    for (size_t i = 0; i < entries; i++)
        s->pageable[i] = s->decoy;
    CU(cuMemAlloc(&s->table, entries * 8));
    CU(cuMemcpyHtoD(s->table, s->pageable, entries * 8));
}

void spin_before(struct scene *s)
{
    CU(app_spin(s->app, NULL, s->ns / 4));
}

void put_by_kernel(struct scene *s, CUdeviceptr at, uint64_t value)
{
    struct arguments arguments = {.count = 0};
    pass_64(&arguments, at);
    pass_64(&arguments, value);
    launch_one(s->put, &arguments);
}

// The plain kernels' module is one for all scenes.
static void load_plain(struct scene *s)
{
    static CUmodule module;
    static CUfunction write, read, put;
    if (!module) {
        load(s, &way_plain, &module, &write, &read);
        if (!module)
            return;
        CU(cuModuleGetFunction(&put, module, "put"));
    }
    s->plain_module = module;
    s->plain_write = write;
    s->plain_read = read;
    s->put = put;
}

// A kernel without parameters: how long, what or where to, how much.
static void set_settings(struct scene *s)
{
    uint64_t settings[3] = {way_reads_second(s->scheme) ? 0 : s->ns, s->scheme == WRITE ? NEW : s->seen, WORDS};
    CU(cuMemcpyHtoD(variable(s->module, "settings"), settings, sizeof settings));
}

void scene_make(struct scene *s)
{
    void *pinned;
    s->made = s->target = words_of(OLD);
    s->decoy = words_of(OTHER);
    s->seen = words_of(0);
    CU(cuMemHostAlloc(&pinned, MANY * 8, CU_MEMHOSTALLOC_DEVICEMAP));
    CU(cuMemHostGetDevicePointer(&s->pinned_device, pinned, 0));
    s->pinned = pinned;
    s->pageable = calloc(MANY, 8);
    memset(s->pinned, 0, MANY * 8);
    CU(cuStreamCreate(&s->aside, CU_STREAM_NON_BLOCKING));
    load_plain(s);
    if (!s->no)
        load(s, s->row->way, &s->module, &s->write_kernel, &s->read_kernel);
    if (!s->no && s->row->way->no_parameters)
        set_settings(s);
    if (!s->no && s->row->make)
        s->row->make(s);
    CU(cuCtxSynchronize());
}

static void free_all(struct scene *s)
{
    enum { MORE = sizeof s->more / sizeof s->more[0] };
    CU(cuMemFree(s->made));
    CU(cuMemFree(s->decoy));
    CU(cuMemFree(s->seen));
    if (s->entries)
        CU(cuMemFree(s->table));
    for (unsigned i = 0; i < MORE; i++)
        if (s->more[i])
            CU(cuMemFree(s->more[i]));
    CU(cuMemFreeHost(s->pinned));
    free(s->pageable);
}

void scene_end(struct scene *s)
{
    CU(cuCtxSynchronize());
    if (s->row->end)
        s->row->end(s);
    if (s->graph)
        CU(cuGraphExecDestroy(s->graph));
    if (s->module)
        CU(cuModuleUnload(s->module));
    if (s->other_module)
        CU(cuModuleUnload(s->other_module));
    CU(cuStreamDestroy(s->aside));
    free_all(s);
}

// SPDX-License-Identifier: Apache-2.0
//
// The operations that are kernels, each one launch. Called by runner.c.

#include <stdint.h>
#include <string.h>

#include "tests/conformance/tables.ptx.h"
#include "tests/oracle/own_kernels.h"
#include "tests/oracle/runner.h"

enum { BLOCK = 64, DEEP_WORDS = 500 };

static void launch(CUfunction function, const char *stream, void **parameters)
{
    CU(cuLaunchKernel(function, 1, 1, 1, BLOCK, 1, 1, 0, world_stream(stream), parameters, NULL));
}

static void fill_by(const char *kernel, const struct line *l)
{
    struct span to = world_span(l->arguments[1]);
    uint32_t value = runner_word(l->arguments[2]);
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
    uint64_t ns = 1000ull * runner_word(l->arguments[1]);
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
    for (uint32_t left = runner_word(l->arguments[1]); left > 0; left--)
        launch(empty, l->arguments[0], NULL);
}

static void act_vset(const struct line *l)
{
    uint32_t value = runner_word(l->arguments[2]);
    void *parameters[] = {&value};
    launch(world_variable_kernel(l->arguments[1], "var_set"), l->arguments[0], parameters);
}

static void act_vinc(const struct line *l)
{
    uint32_t words = runner_word(l->arguments[2]);
    void *parameters[] = {&words};
    launch(world_variable_kernel(l->arguments[1], "var_add"), l->arguments[0], parameters);
}

static void act_vget(const struct line *l)
{
    struct span to = world_span(l->arguments[2]);
    void *parameters[] = {&to.device, &to.words};
    launch(world_variable_kernel(l->arguments[1], "var_get"), l->arguments[0], parameters);
}

// ---- by pointers that lie in memory, by textures ----

static void gather_by(const char *kernel, const struct line *l)
{
    struct span to = world_span(l->arguments[1]);
    uint32_t count = runner_word(l->arguments[3]);
    void *parameters[] = {&to.device, &world_memory(l->arguments[2])->device, &count, &to.words};
    launch(world_kernel(kernel), l->arguments[0], parameters);
}

static void scatter_by(const char *kernel, const struct line *l)
{
    uint32_t count = runner_word(l->arguments[2]), words = runner_word(l->arguments[3]),
             value = runner_word(l->arguments[4]);
    void *parameters[] = {&world_memory(l->arguments[1])->device, &count, &value, &words};
    launch(world_kernel(kernel), l->arguments[0], parameters);
}

static void act_gather(const struct line *l)
{
    gather_by("gather", l);
}

static void act_cgather(const struct line *l)
{
    gather_by(PTDS_GATHER, l);
}

static void act_scatter(const struct line *l)
{
    scatter_by("scatter", l);
}

static void act_cscatter(const struct line *l)
{
    scatter_by(PTDS_SCATTER, l);
}

static void act_oscatter(const struct line *l)
{
    scatter_by(ORACLE_BODIES, l);
}

static void act_deep(const struct line *l)
{
    struct span to = world_span(l->arguments[1]);
    uint64_t words[DEEP_WORDS] = {0};
    void *parameters[] = {words, &to.words};
    words[DEEP_WORDS - 1] = to.device;
    launch(world_kernel("deep_add"), l->arguments[0], parameters);
}

static void act_pcopy(const struct line *l)
{
    copy_by(ORACLE_PCOPY, l);
}

static void act_tcopy(const struct line *l)
{
    struct span to = world_span(l->arguments[1]);
    void *parameters[] = {&to.device, world_texture(l->arguments[2]), &to.words};
    launch(world_kernel("tex_copy"), l->arguments[0], parameters);
}

const struct operation kernel_operations[] = {
    {"fill", 3, act_fill},         {"cfill", 3, act_cfill},
    {"kcopy", 3, act_kcopy},       {"ccopy", 3, act_ccopy},
    {"pcopy", 3, act_pcopy},       {"inc", 2, act_inc},
    {"cinc", 2, act_cinc},         {"add", 4, act_add},
    {"spin", 2, act_spin},         {"empty", 1, act_empty},
    {"pad", 2, act_pad},           {"vset", 3, act_vset},
    {"vinc", 3, act_vinc},         {"vget", 3, act_vget},
    {"gather", 4, act_gather},     {"cgather", 4, act_cgather},
    {"scatter", 5, act_scatter},   {"cscatter", 5, act_cscatter},
    {"oscatter", 5, act_oscatter}, {"deep", 2, act_deep},
    {"tcopy", 3, act_tcopy},       {NULL, 0, NULL},
};

// SPDX-License-Identifier: Apache-2.0
//
// Rows of variables of the kernel's own module that have the pointer, global and constant ones. Listed in pointers.h for
// the runner.

#include "tests/apps/pointers/pointers.h"

enum { BEHIND = 4096 };

static CUdeviceptr pointer(const struct scene *s)
{
    return variable(s->module, "pointer");
}

static void decoy(struct scene *s)
{
    bring_pageable(s, pointer(s), s->decoy);
}

static void decoy_behind(struct scene *s)
{
    bring_pageable(s, pointer(s), s->decoy - BEHIND);
}

static void decoys(struct scene *s)
{
    s->entry = ENTRY;
    for (size_t i = 0; i < FEW; i++)
        s->pageable[i] = s->decoy;
    CU(cuMemcpyHtoD(pointer(s), s->pageable, FEW * 8));
}

// The table of functions is filled in by a kernel.
static void functions(struct scene *s)
{
    CUfunction set;
    decoy(s);
    CU(cuModuleGetFunction(&set, s->module, "set_functions"));
    can(s, cuLaunchKernel(set, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), "the driver does not run the kernel");
}

static void own_words(struct scene *s)
{
    s->target = variable(s->module, "own_words");
    CU(cuMemsetD32(s->target, OLD, WORDS));
}

static void copied(struct scene *s)
{
    bring_pageable(s, pointer(s), s->target);
}

static void copied_behind(struct scene *s)
{
    bring_pageable(s, pointer(s), s->target - BEHIND);
}

static void pinned_async(struct scene *s)
{
    s->pinned[0] = s->target;
    CU(cuMemcpyHtoDAsync(pointer(s), s->pinned, 8, NULL));
}

static void halves(struct scene *s)
{
    bring_halves(s, pointer(s), s->target);
}

static void memset_halves(struct scene *s)
{
    bring_memset_halves(s, pointer(s), s->target);
}

static void host_function(struct scene *s)
{
    bring_by_host_function(s, pointer(s), s->target);
}

static void rewritten(struct scene *s)
{
    bring_rewritten(s, pointer(s), s->target);
}

static void device_copy(struct scene *s)
{
    bring_device_copy(s, pointer(s), s->target);
}

static void other_modules_kernel(struct scene *s)
{
    put_by_kernel(s, pointer(s), s->target);
}

static void own_kernel(struct scene *s)
{
    struct arguments arguments = {.count = 0};
    CUfunction set;
    CU(cuModuleGetFunction(&set, s->module, "set_pointer"));
    pass_64(&arguments, s->target);
    launch_one(set, &arguments);
}

static void entry_copied(struct scene *s)
{
    bring_pageable(s, pointer(s) + s->entry * 8, s->target);
}

static void entry_by_host_function(struct scene *s)
{
    bring_by_host_function(s, pointer(s) + s->entry * 8, s->target);
}

#define ROW(title, how, made, brought) \
    { \
        .name = title, .way = &how, .make = made, .bring = brought \
    }
#define BOTH(how, brought) \
    ROW("variable-" how, way_variable, decoy, brought), ROW("constant-" how, way_constant, decoy, brought)

const struct row rows_variable[] = {
    BOTH("copied", copied),
    BOTH("pinned-async", pinned_async),
    BOTH("halves", halves),
    BOTH("memset-halves", memset_halves),
    BOTH("host-function", host_function),
    BOTH("host-function-rewritten", rewritten),
    BOTH("device-copy", device_copy),
    BOTH("other-modules-kernel", other_modules_kernel),
    ROW("variable-own-kernel", way_variable, decoy, own_kernel),
    ROW("variable-behind", way_variable_behind, decoy_behind, copied_behind),
    ROW("constant-behind", way_constant_behind, decoy_behind, copied_behind),
    ROW("variable-table", way_variable_table, decoys, entry_copied),
    ROW("variable-table-host-function", way_variable_table, decoys, entry_by_host_function),
    ROW("constant-table", way_constant_table, decoys, entry_copied),
    ROW("constant-table-host-function", way_constant_table, decoys, entry_by_host_function),
    ROW("no-parameters", way_no_parameters, decoy, copied),
    ROW("no-parameters-own-kernel", way_no_parameters, decoy, own_kernel),
    ROW("no-parameters-own-words", way_own_words, own_words, NULL),
    ROW("function-pointer", way_function, functions, copied),
    {.name = NULL},
};

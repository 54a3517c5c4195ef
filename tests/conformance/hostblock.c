/* SPDX-License-Identifier: Apache-2.0
 *
 * Does the call block the host while a kernel runs in another stream of the context? "B": it returned only when the kernel
 * ended; "." at once. Every call against every kind of busy stream.
 */
#include "tests/conformance/hostblock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct scene scene;

static const struct {
    const char *name;
    CUstream *created;
    uintptr_t special;
} busy[] = {
    {"legacy", NULL, 0}, {"per-thread", NULL, 2}, {"blocking", &conf.blocking, 0}, {"nonblocking", &conf.nonblocking, 0}};
enum { BUSY = sizeof busy / sizeof busy[0] };

static void set_scene(void)
{
    MUST(cuMemAlloc_v2(&scene.device, MIB));
    MUST(cuMemAlloc_v2(&scene.device2, MIB));
    MUST(cuMemHostAlloc((void **)&scene.pinned, MIB, CU_MEMHOSTALLOC_PORTABLE));
    MUST(cuMemHostAlloc((void **)&scene.pinned2, MIB, CU_MEMHOSTALLOC_PORTABLE));
    scene.pageable = malloc(MIB);
    scene.large_pageable = malloc(64 * MIB);
    if (!scene.pageable || !scene.large_pageable)
        exit(2);
    memset(scene.pageable, 1, MIB);
    memset(scene.large_pageable, 1, 64 * MIB);
    MUST(cuMemAlloc_v2(&scene.large, 64 * MIB));
    MUST(cuMemcpyHtoD_v2(scene.large, scene.large_pageable, 64 * MIB)); /* so that all of it is there */
    MUST(cuMemAllocManaged(&scene.managed, MIB, CU_MEM_ATTACH_GLOBAL));
    MUST(cuMemsetD8_v2(scene.device, 0, MIB));
    MUST(cuCtxSynchronize());
}

static void one(const struct block_case *c, int kind)
{
    char name[96];
    CUresult code;
    scene.busy = busy[kind].created ? *busy[kind].created : (CUstream)busy[kind].special;
    scene.size = c->size;
    if (c->prepare)
        c->prepare();
    uint32_t *gate = conf_gate(scene.busy, false);
    bool blocked = conf_blocks(gate, c->call, NULL, &code);
    MUST(cuCtxSynchronize());
    if (c->clean_up)
        c->clean_up();
    snprintf(name, sizeof name, "%s busy=%s", c->name, busy[kind].name);
    if (code != CUDA_SUCCESS)
        conf_say_code("block", name, code);
    else
        conf_say("block", name, blocked ? "B" : ".");
}

/* A case whose name starts with "? " has no measured answer: the mark goes to the front of the line. */
static void run(const struct block_case *cases)
{
    for (; cases->name; cases++)
        for (int kind = 0; kind < BUSY; kind++) {
            struct block_case c = *cases;
            if (strncmp(c.name, "? ", 2) == 0) {
                fputs("? ", stdout);
                c.name += 2;
            }
            one(&c, kind);
        }
}

int main(void)
{
    conf_begin();
    set_scene();
    run(copy_cases);
    run(host_cases);
    run(memory_cases);
    run(context_cases);
    run(other_cases);
    return conf_end();
}

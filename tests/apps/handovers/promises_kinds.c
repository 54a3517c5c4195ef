// SPDX-License-Identifier: Apache-2.0
//
// Cases of promises about the kinds of memory: one thread's slow work on stream 0 writes it, another thread's reads it.
// Called by the runner (promises.c).

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "tests/apps/handovers/promises.h"

extern char **environ;

static void read_words(struct promise *p)
{
    copy(p, NULL, p->seen, p->words, WORDS);
}

// What p->words points at now is NEW.
static int written_and_read(struct promise *p)
{
    slow_add(p, NULL);
    elsewhere(p, read_words);
    return device_are(p->seen, NEW + 1, WORDS);
}

static int managed(struct promise *p)
{
    CU(cuMemAllocManaged(&p->words, BYTES, CU_MEM_ATTACH_GLOBAL));
    CU(cuMemsetD32(p->words, NEW, WORDS));
    CU(cuCtxSynchronize());
    return written_and_read(p);
}

static int registered(struct promise *p)
{
    uint32_t *own = aligned_alloc(4096, 4096);
    for (int i = 0; i < WORDS; i++)
        own[i] = NEW;
    CU(cuMemHostRegister(own, 4096, CU_MEMHOSTREGISTER_DEVICEMAP));
    CU(cuMemHostGetDevicePointer(&p->words, own, 0));
    return written_and_read(p);
}

static int from_pool(struct promise *p)
{
    CUmemoryPool pool;
    CU(cuDeviceGetDefaultMemPool(&pool, p->app.device));
    CU(cuMemAllocFromPoolAsync(&p->words, BYTES, pool, NULL));
    fill(p, NULL, p->words, NEW, WORDS);
    CU(cuCtxSynchronize());
    return written_and_read(p);
}

// ---- arrays ----

static CUarray array;

static CUDA_MEMCPY2D whole(void)
{
    CUDA_MEMCPY2D c;
    memset(&c, 0, sizeof c);
    c.WidthInBytes = BYTES;
    c.Height = 1;
    return c;
}

static void read_array(struct promise *p)
{
    CUDA_MEMCPY2D c = whole();
    c.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    c.srcArray = array;
    c.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    c.dstDevice = p->seen;
    CU(cuMemcpy2DAsync(&c, NULL));
}

static int array_written(struct promise *p)
{
    CUDA_ARRAY_DESCRIPTOR shape = {WORDS, 1, CU_AD_FORMAT_UNSIGNED_INT32, 1};
    CUDA_MEMCPY2D c = whole();
    CU(cuArrayCreate(&array, &shape));
    c.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    c.srcDevice = p->words;
    c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    c.dstArray = array;
    slow_add(p, NULL);
    CU(cuMemcpy2DAsync(&c, NULL));
    elsewhere(p, read_array);
    return device_are(p->seen, NEW + 1, WORDS);
}

// ---- another process's memory ----

static const char variable[] = "PROMISES_HANDLE";

static int other_process(struct promise *p)
{
    const char *text = getenv(variable);
    CUipcMemHandle handle;
    if (!text) {
        p->no = "run by other-process";
        return 1;
    }
    for (size_t i = 0; i < sizeof handle; i++) {
        unsigned byte = 0;
        sscanf(text + 2 * i, "%2x", &byte);
        handle.reserved[i] = (char)byte;
    }
    if (cuIpcOpenMemHandle(&p->words, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) == CUDA_SUCCESS)
        return written_and_read(p);
    p->no = "no memory of other processes"; // containers may forbid it
    return 1;
}

static int from_other_process(struct promise *p)
{
    char *arguments[] = {"promises", "other-process-reads", "strict", NULL};
    char text[2 * sizeof(CUipcMemHandle) + 1];
    posix_spawn_file_actions_t actions;
    CUipcMemHandle handle;
    pid_t child;
    int status;
    CUresult result = cuIpcGetMemHandle(&handle, p->words);
    if (result == CUDA_ERROR_NOT_SUPPORTED) {
        p->no = "no memory of other processes";
        return 1;
    }
    CU(result);
    for (size_t i = 0; i < sizeof handle; i++)
        snprintf(text + 2 * i, 3, "%02x", (unsigned char)handle.reserved[i]);
    setenv(variable, text, 1);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", 0, 0);
    return posix_spawn(&child, "/proc/self/exe", &actions, NULL, arguments, environ) == 0 &&
           waitpid(child, &status, 0) == child && status == 0;
}

const struct named_case cases_kinds[] = {
    {"managed", managed, 0},
    {"registered", registered, 0},
    {"from-pool", from_pool, 0},
    {"array", array_written, 0},
    {"other-process-reads", other_process, 0},
    {"other-process", from_other_process, 0},
    {0},
};

/* SPDX-License-Identifier: Apache-2.0
 *
 * What the handles 0, 0x1 and 0x2 answer: ids, flags, priority, context, destroy; what cuStreamQuery(0) covers; which of
 * a function and a kernel handle answers which parameter query.
 */
#include <stdio.h>
#include <string.h>

#include "tests/conformance/conf.h"
#include "tests/conformance/kernels.ptx.h"

static unsigned long long id_of(uintptr_t handle, bool twin)
{
    unsigned long long id = 0;
    if (twin)
        MUST(cuStreamGetId_ptsz((CUstream)handle, &id));
    else
        MUST(cuStreamGetId((CUstream)handle, &id));
    return id;
}

static void ids_elsewhere(void *out)
{
    unsigned long long *ids = out;
    ids[0] = id_of(0, false);
    ids[1] = id_of(2, false);
    ids[2] = id_of(0, true);
}

static void ids(void)
{
    unsigned long long there[3], blocking;
    conf_elsewhere(ids_elsewhere, there);
    MUST(cuStreamGetId(conf.blocking, &blocking));
    conf_say_bool("id", "0==0x1", id_of(0, false) == id_of(1, false));
    conf_say_bool("id", "0==0x2", id_of(0, false) == id_of(2, false));
    conf_say_bool("id", "0@ptsz==0x2", id_of(0, true) == id_of(2, false));
    conf_say_bool("id", "0x1@ptsz==0", id_of(1, true) == id_of(0, false));
    conf_say_bool("id", "0@thread2==0", there[0] == id_of(0, false));
    conf_say_bool("id", "0x2@thread2==0x2", there[1] == id_of(2, false));
    conf_say_bool("id", "0@ptsz@thread2==0x2@thread2", there[2] == there[1]);
    conf_say_bool("id", "0x2-again==0x2", id_of(2, false) == id_of(2, false));
    conf_say_bool("id", "blocking==0", blocking == id_of(0, false));
}

static void queries(const char *name, CUstream s)
{
    unsigned int flags = 99;
    int priority = 99;
    CUcontext ctx = NULL;
    char text[32];
    MUST(cuStreamGetFlags(s, &flags));
    MUST(cuStreamGetPriority(s, &priority));
    MUST(cuStreamGetCtx(s, &ctx));
    snprintf(text, sizeof text, "%u", flags);
    conf_say("flags", name, text);
    snprintf(text, sizeof text, "%d", priority);
    conf_say("priority", name, text);
    conf_say_bool("ctx-is-current", name, ctx == conf.ctx);
}

/* A gate in one stream; what does a query of 0 say? */
static void query_null(const char *name, CUstream busy)
{
    uint32_t *gate = conf_gate(busy, false);
    CUresult result = cuStreamQuery(NULL);
    conf_open(gate);
    MUST(cuCtxSynchronize());
    conf_say_code("query-0", name, result);
}

static void parameter_queries(void)
{
    CUlibrary library;
    CUkernel kernel;
    size_t offset = 99, size = 99;
    const char *name = "";
    MUST(cuLibraryLoadData(&library, ptds_test_ptx, NULL, NULL, 0, NULL, NULL, 0));
    MUST(cuLibraryGetKernel(&kernel, library, "fill"));
    conf_say_code("parameters", "cuFuncGetParamInfo,function", cuFuncGetParamInfo(conf.fill, 1, &offset, &size));
    conf_say_bool("parameters", "function-second-at-8-size-4", offset == 8 && size == 4);
    conf_say_code("parameters", "cuFuncGetName,function", cuFuncGetName(&name, conf.fill));
    conf_say_bool("parameters", "function-name", strcmp(name, "fill") == 0);
    conf_say_code("parameters", "cuKernelGetParamInfo,kernel", cuKernelGetParamInfo(kernel, 2, &offset, &size));
    conf_say_bool("parameters", "kernel-third-at-12-size-4", offset == 12 && size == 4);
    conf_say_code("parameters", "cuKernelGetName,kernel", cuKernelGetName(&name, kernel));
    conf_say_code("parameters", "cuFuncGetParamInfo,kernel", cuFuncGetParamInfo((CUfunction)kernel, 0, &offset, &size));
    conf_say_code("parameters", "cuFuncGetName,kernel", cuFuncGetName(&name, (CUfunction)kernel));
    fputs("? ", stdout);
    conf_say_code("parameters", "cuKernelGetParamInfo,function",
                  cuKernelGetParamInfo((CUkernel)conf.fill, 0, &offset, &size));
    fputs("? ", stdout);
    conf_say_code("parameters", "cuFuncGetParamInfo,past-the-end", cuFuncGetParamInfo(conf.fill, 3, &offset, &size));
    MUST(cuLibraryUnload(library));
}

int main(void)
{
    conf_begin();
    ids();
    queries("0", NULL);
    queries("0x1", CU_STREAM_LEGACY);
    queries("0x2", CU_STREAM_PER_THREAD);
    queries("blocking", conf.blocking);
    queries("nonblocking", conf.nonblocking);
    conf_say_code("destroy", "0", cuStreamDestroy_v2(NULL));
    conf_say_code("destroy", "0x1", cuStreamDestroy_v2(CU_STREAM_LEGACY));
    conf_say_code("destroy", "0x2", cuStreamDestroy_v2(CU_STREAM_PER_THREAD));
    query_null("busy=legacy", NULL);
    query_null("busy=per-thread", CU_STREAM_PER_THREAD);
    query_null("busy=blocking", conf.blocking);
    query_null("busy=nonblocking", conf.nonblocking);
    parameter_queries();
    return conf_end();
}

// SPDX-License-Identifier: Apache-2.0
//
// The schemes of a case (pointers.h), each an operation of one thread that is slow and one of another that must come
// after it. All is default-stream work, and the first thread's calls have returned before the second one begins, so legacy
// order says what it sees. Called by pointers.c. Must never wait for the first operation before the second one is issued.

#include <string.h>

#include "tests/apps/pointers/pointers.h"

static void write_plainly(struct scene *s, uint64_t ns)
{
    struct arguments arguments = {.count = 0};
    if (s->row->write) {
        s->row->write(s, ns);
        return;
    }
    if (!ns) {
        CU(cuMemsetD32Async(s->target, NEW, WORDS, NULL));
        return;
    }
    pass_64(&arguments, s->target);
    pass_64(&arguments, ns);
    pass_32(&arguments, NEW);
    pass_32(&arguments, WORDS);
    launch_one(s->plain_write, &arguments);
}

static void read_plainly(struct scene *s)
{
    if (s->row->read)
        s->row->read(s);
    else
        CU(cuMemcpyDtoDAsync(s->seen, s->target, BYTES, NULL));
}

CUfunction arguments_of(struct scene *s, struct arguments *arguments)
{
    CUfunction function = s->scheme == WRITE ? s->write_kernel : s->read_kernel;
    arguments->count = 0;
    if (s->row->way->no_parameters)
        return function;
    s->row->way->pass(s, arguments);
    pass_64(arguments, way_reads_second(s->scheme) ? 0 : s->ns);
    if (s->scheme == WRITE)
        pass_32(arguments, NEW);
    else
        pass_64(arguments, s->seen);
    pass_32(arguments, WORDS);
    return function;
}

static void launch_way(struct scene *s)
{
    struct arguments arguments;
    CUfunction function = arguments_of(s, &arguments);
    void **at = arguments.count ? arguments.at : NULL;
    if (s->row->launch)
        s->row->launch(s, function, at);
    else if (!can(s, cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, at, NULL), "the driver does not run the kernel"))
        return;
    if (!s->no && s->row->launched)
        s->row->launched(s);
}

static void bring(struct scene *s)
{
    if (s->row->bring)
        s->row->bring(s);
}

// READ: what brought the pointers is done before the slow operation begins, so that to wait for the one is not to wait for
// the other.
static void first(struct scene *s)
{
    if (s->scheme != LATE)
        bring(s);
    if (s->no)
        return;
    if (s->scheme == READ)
        CU(cuStreamSynchronize(NULL));
    if (way_reads_second(s->scheme))
        write_plainly(s, s->ns);
    else
        launch_way(s);
}

static void second(struct scene *s)
{
    if (s->scheme == LATE && !s->no)
        bring(s);
    if (s->no)
        return;
    if (s->scheme == WRITE)
        read_plainly(s);
    else if (s->scheme == KEEP)
        write_plainly(s, 0);
    else
        launch_way(s);
    CU(cuStreamSynchronize(NULL));
    CU(cuMemcpyDtoH(s->words, s->seen, BYTES));
}

static void body(unsigned index, void *scene)
{
    struct scene *s = scene;
    if (index == 0) {
        first(s);
        __atomic_store_n(&s->first_done, 1, __ATOMIC_RELEASE);
    } else {
        while (!__atomic_load_n(&s->first_done, __ATOMIC_ACQUIRE))
            ;
        second(s);
    }
}

static void both(unsigned index, void *scene)
{
    (void)index;
    first(scene);
    second(scene);
}

int scheme_run(struct scene *s, unsigned threads)
{
    const uint32_t expected = s->scheme == KEEP ? OLD : NEW;
    app_threads(s->app, threads, threads == 1 ? both : body, s);
    for (unsigned i = 0; i < WORDS && !s->no; i++)
        if (s->words[i] != expected)
            return 0;
    return 1;
}

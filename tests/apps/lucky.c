// SPDX-License-Identifier: Apache-2.0
//
// lucky streams|threads|ordered [ms 50] [launches 255]: kernels add to an array, and after a pause of the host a copy reads
// it.
//   streams   kernels and copy on two non-blocking streams, and nothing orders them but the pause: wrong by itself
//   threads   both on the default stream, from two threads: legacy order makes it right, per-thread streams leave the pause
//   ordered   as streams, and an event orders them: right
// Right as long as the kernels end within the pause. Run by the tests of `ptds probe --shake`.
#include <stdio.h>
#include <string.h>

#include "app.h"

enum { WORDS = 64 };

struct lucky {
    struct app app;
    CUdeviceptr words;
    CUstream writer, reader;
    CUevent written; // NULL: none
    unsigned launches, ms;
    uint32_t seen;
};

static void write_all(struct lucky *l)
{
    for (unsigned i = 0; i < l->launches; i++)
        CU(app_add_one(&l->app, l->writer, l->words, WORDS));
    if (l->written) {
        CU(cuEventRecord(l->written, l->writer));
        CU(cuStreamWaitEvent(l->reader, l->written, 0));
    }
    app_sleep_ms(l->ms);
}

static void *read_one(void *shared)
{
    struct lucky *l = shared;
    app_thread(&l->app);
    CU(cuMemcpyDtoHAsync(&l->seen, l->words, sizeof l->seen, l->reader));
    CU(cuStreamSynchronize(l->reader));
    return NULL;
}

int main(int argc, char **argv)
{
    static struct lucky l;
    const char *how = argc > 1 ? argv[1] : "streams";
    double begin = app_now_ms();
    pthread_t thread;
    app_start(&l.app);
    l.ms = app_number(argc, argv, 2, 50);
    l.launches = app_number(argc, argv, 3, 255);
    CU(cuMemAlloc(&l.words, WORDS * sizeof(uint32_t)));
    CU(cuMemsetD32(l.words, 0, WORDS));
    if (strcmp(how, "threads") != 0) {
        CU(cuStreamCreate(&l.writer, CU_STREAM_NON_BLOCKING));
        CU(cuStreamCreate(&l.reader, CU_STREAM_NON_BLOCKING));
    }
    if (strcmp(how, "ordered") == 0)
        CU(cuEventCreate(&l.written, CU_EVENT_DISABLE_TIMING));
    CU(cuCtxSynchronize());
    write_all(&l);
    pthread_create(&thread, NULL, read_one, &l);
    pthread_join(thread, NULL);
    CU(cuCtxSynchronize());
    printf("seen %u\n", l.seen);
    return app_finish(l.seen == l.launches, app_digest(APP_DIGEST, &l.seen, sizeof l.seen), app_now_ms() - begin);
}

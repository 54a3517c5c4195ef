/* SPDX-License-Identifier: Apache-2.0
 *
 * calls [threads 1] [batches 200] [warm-up batches 20] [doors all] [calls all] [queue 800] [before 0] [company 0]:
 * nanoseconds of host time for single driver calls, by three doors: the ELF link, cuGetProcAddress, dlsym; by the latter
 * two the first call only, since a call goes on alike by every door. One line each: `name door threads median p10 p90`,
 * over batches of calls by all threads, smaller ones where there are many threads. Doors and calls are comma lists; queue:
 * how many calls a stream holds before it makes the host wait, 0 where none does; before: so many event records first, by
 * one thread; company: so many more threads that have launched on the default stream once and live on, quiet. Run by
 * scripts/bench without and with the shim, in turn.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/bench/lane.h"

struct bench {
    struct setting setting;
    unsigned threads, batches, warm_up, queue;
};

struct worker {
    const struct bench *bench;
    const struct door *door;
    const struct call *call;
    pthread_barrier_t *start;
    double *ns; /* one a batch */
    pthread_t thread;
};

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Where there are many threads, each does less: calls that leave nothing queued, still enough that the threads' unequal
 * start does not show; the others, no more than the queue of one stream holds for all of them. */
static unsigned batch_size(const struct worker *w)
{
    enum { ENOUGH = 200, FEW = 8 };
    unsigned batch = w->call->batch, share = batch / w->bench->threads;
    if (w->call->queues && w->bench->queue)
        return least(batch, w->bench->queue / w->bench->threads > FEW ? w->bench->queue / w->bench->threads : FEW);
    return share > ENOUGH ? share : least(batch, ENOUGH);
}

static double one_batch(const struct worker *w, const struct lane *l)
{
    unsigned size = batch_size(w);
    CU(cuCtxSynchronize());
    pthread_barrier_wait(w->start);
    uint64_t began = now_ns();
    for (unsigned i = 0; i < size; i++)
        CU(w->call->run(l));
    uint64_t ended = now_ns();
    pthread_barrier_wait(w->start);
    return (double)(ended - began) / size / w->call->made;
}

static void *work(void *argument)
{
    struct worker *w = argument;
    struct lane l = make_lane(&w->bench->setting, w->door);
    for (unsigned batch = 0; batch < w->bench->warm_up; batch++)
        one_batch(w, &l);
    for (unsigned batch = 0; batch < w->bench->batches; batch++)
        w->ns[batch] = one_batch(w, &l);
    CU(cuCtxSynchronize());
    drop_lane(&l);
    return NULL;
}

static void measure(const struct bench *b, const struct door *door, const struct call *call)
{
    pthread_barrier_t start;
    unsigned samples = b->threads * b->batches;
    struct worker *workers = calloc(b->threads, sizeof *workers);
    double *ns = calloc(samples, sizeof *ns);
    pthread_barrier_init(&start, NULL, b->threads);
    for (unsigned i = 0; i < b->threads; i++) {
        workers[i] = (struct worker){b, door, call, &start, ns + (size_t)i * b->batches, 0};
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    for (unsigned i = 0; i < b->threads; i++)
        pthread_join(workers[i].thread, NULL);
    printf("%s %s %u %.1f %.1f %.1f\n", call->name, door->name, b->threads, percentile(ns, samples, 50),
           percentile(ns, samples, 10), percentile(ns, samples, 90));
    fflush(stdout);
    pthread_barrier_destroy(&start);
    free(workers);
    free(ns);
}

/* So that the recorder's memory has all been written to. */
static void record_events(const struct setting *setting, unsigned count)
{
    enum { AT_ONCE = 500 };
    const struct call *call = find_call("event-record");
    struct lane l = make_lane(setting, &setting->doors[0]);
    for (unsigned made = 0; made < count; made++) {
        CU(call->run(&l));
        if (made % AT_ONCE == 0)
            CU(cuCtxSynchronize());
    }
    drop_lane(&l);
}

/* What one thread pays may depend on who else has put work somewhere. */
static pthread_barrier_t company_came;

static void *be_company(void *argument)
{
    const struct setting *setting = argument;
    struct lane l = make_lane(setting, &setting->doors[0]);
    CU(find_call("launch-four")->run(&l));
    CU(find_call("memcpy-htod-async")->run(&l));
    pthread_barrier_wait(&company_came);
    pthread_barrier_wait(&company_came); /* which only the end of the process ends */
    return NULL;
}

static void bring_company(struct setting *setting, unsigned count)
{
    pthread_barrier_init(&company_came, NULL, count + 1);
    for (unsigned i = 0; i < count; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, be_company, setting);
        pthread_detach(thread);
    }
    pthread_barrier_wait(&company_came);
}

int main(int argc, char **argv)
{
    static struct bench b;
    b.threads = number(argc, argv, 1, 1);
    b.batches = number(argc, argv, 2, 200);
    b.warm_up = number(argc, argv, 3, 20);
    const char *doors = argc > 4 ? argv[4] : NULL, *names = argc > 5 ? argv[5] : NULL;
    b.queue = number(argc, argv, 6, 800);
    make_setting(&b.setting);
    unsigned before = number(argc, argv, 7, 0);
    if (before)
        record_events(&b.setting, before);
    unsigned company = number(argc, argv, 8, 0);
    if (company)
        bring_company(&b.setting, company);
    for (unsigned d = 0; d < DOORS; d++) {
        for (unsigned c = 0; in_list(doors, b.setting.doors[d].name) && c < (d == 0 ? call_count : 1); c++) {
            if (in_list(names, calls[c].name))
                measure(&b, &b.setting.doors[d], &calls[c]);
        }
    }
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * What recording costs over time and in a process of many threads; run by scripts/bench.
 *   sustain count CALL N              makes the call N times: for the size of the trace that is left
 *   sustain pace CALL RATE SECONDS    one thread makes RATE calls a second, evenly: `achieved` calls a second, `busy` ns a
 * call sustain threads N                 N threads that each have made CUDA calls, alive: `rss` in kB Lines are `name
 * value`. A wait between calls is no part of `busy`.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/lane.h"

enum { PACE_BATCH = 100, CALLS_A_THREAD = 20, STACK = 256 * 1024 };

static struct setting setting;

static void sustain_count(const struct call *call, unsigned n)
{
    struct lane l = make_lane(&setting, &setting.doors[0]);
    for (unsigned i = 0; i < n; i += call->made) {
        CU(call->run(&l));
        if (i % 512 == 0)
            CU(cuCtxSynchronize());
    }
    printf("calls %u\n", n);
}

/* The clock is asked twice a batch, so that asking is 1 % of a call's cost at most. */
static void sustain_pace(const struct call *call, unsigned rate, unsigned seconds)
{
    struct lane l = make_lane(&setting, &setting.doors[0]);
    uint64_t began = now_ns(), busy = 0, done = 0, wanted = (uint64_t)rate * seconds;
    while (done < wanted) {
        uint64_t due = began + done * 1000000000u / rate, now;
        while ((now = now_ns()) < due)
            ;
        for (unsigned i = 0; i < PACE_BATCH; i += call->made)
            CU(call->run(&l));
        busy += now_ns() - now;
        done += PACE_BATCH;
    }
    printf("achieved %.0f\n", (double)done * 1e9 / (double)(now_ns() - began));
    printf("busy %.2f\n", (double)busy / (double)done);
}

static pthread_barrier_t made, seen;

static void *live(void *unused)
{
    CU(cuCtxSetCurrent(setting.context));
    struct lane l = {.door = &setting.doors[0], .empty = setting.empty};
    for (unsigned i = 0; i < CALLS_A_THREAD; i++)
        CU(find_call("launch")->run(&l));
    pthread_barrier_wait(&made);
    pthread_barrier_wait(&seen);
    return unused;
}

static unsigned long resident_kb(void)
{
    char line[256];
    unsigned long kb = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        sscanf(line, "VmRSS: %lu", &kb);
    if (status)
        fclose(status);
    return kb;
}

static void sustain_threads(unsigned n)
{
    pthread_t *threads = calloc(n, sizeof *threads);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    pthread_barrier_init(&made, NULL, n + 1);
    pthread_barrier_init(&seen, NULL, n + 1);
    for (unsigned i = 0; i < n; i++) {
        if (pthread_create(&threads[i], &attributes, live, NULL) != 0)
            must(CUDA_ERROR_OPERATING_SYSTEM, "pthread_create");
    }
    pthread_barrier_wait(&made);
    printf("rss %lu\n", resident_kb());
    pthread_barrier_wait(&seen);
    for (unsigned i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    free(threads);
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[1] : "";
    make_setting(&setting);
    if (strcmp(what, "count") == 0)
        sustain_count(find_call(argv[2]), number(argc, argv, 3, 100000));
    else if (strcmp(what, "pace") == 0)
        sustain_pace(find_call(argv[2]), number(argc, argv, 3, 1000000), number(argc, argv, 4, 3));
    else if (strcmp(what, "threads") == 0)
        sustain_threads(number(argc, argv, 2, 1000));
    else
        must(CUDA_ERROR_INVALID_VALUE, "sustain count|pace|threads");
    CU(cuCtxSynchronize());
    return 0;
}

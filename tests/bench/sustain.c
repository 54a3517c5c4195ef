/* SPDX-License-Identifier: Apache-2.0
 *
 * What recording and order cost over time and in a process of many threads; run by scripts/bench and scripts/gpu.
 *   sustain count CALL N              makes the call N times: for the size of the trace that is left
 *   sustain pace CALL RATE SECONDS    one thread makes RATE calls a second, evenly: `achieved` calls a second, `busy` ns a
 *                                     call; a wait between calls is no part of it
 *   sustain threads N                 N threads that each have made CUDA calls, alive: `rss` in kB
 *   sustain together CALL N MS        N threads make the call for so long, each with memory of its own: `ns` that one call
 *                                     occupies a processor; the same for any N where the threads do not meet
 *   sustain growth WHAT N             WHAT (growth.c) N times: `growth` of VmRSS in kB, a hundredth of it done before
 *   sustain flat WHAT N               what one of WHAT (flat.c) costs at `first` and after N, as the `last`, in ns
 * Lines are `name value`.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/bench/crowd.h"
#include "tests/bench/flat.h"
#include "tests/bench/growth.h"
#include "tests/bench/lane.h"

enum { PACE_BATCH = 100, CALLS_A_THREAD = 20 };

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

static void calls_of_thread(const struct setting *of)
{
    struct lane l = {.door = &of->doors[0], .empty = of->empty};
    for (unsigned i = 0; i < CALLS_A_THREAD; i++)
        CU(find_call("launch")->run(&l));
}

static void sustain_threads(unsigned n)
{
    struct crowd *crowd = crowd_begin(&setting, n, calls_of_thread);
    printf("rss %lu\n", resident_kb());
    crowd_end(crowd);
}

/* ---- together ---- */

struct together {
    const struct call *call;
    uint64_t made;
};

static pthread_barrier_t made, seen;
static int stopped;

/* The clock is another thread's affair. */
static void *make_calls(void *argument)
{
    struct together *mine = argument;
    struct lane l = make_lane(&setting, &setting.doors[0]);
    uint64_t calls_made = 0;
    CU(mine->call->run(&l));
    pthread_barrier_wait(&made);
    while (!__atomic_load_n(&stopped, __ATOMIC_RELAXED)) {
        for (int i = 0; i < PACE_BATCH; i++)
            CU(mine->call->run(&l));
        calls_made += PACE_BATCH;
    }
    mine->made = calls_made * mine->call->made;
    pthread_barrier_wait(&seen);
    drop_lane(&l);
    return NULL;
}

static void sustain_together(const struct call *call, unsigned n, unsigned ms)
{
    pthread_t *threads = calloc(n, sizeof *threads);
    struct together *all = calloc(n, sizeof *all);
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t total = 0;
    pthread_barrier_init(&made, NULL, n + 1);
    pthread_barrier_init(&seen, NULL, n + 1);
    for (unsigned i = 0; i < n; i++) {
        all[i].call = call;
        if (pthread_create(&threads[i], NULL, make_calls, &all[i]) != 0)
            must(CUDA_ERROR_OPERATING_SYSTEM, "pthread_create");
    }
    pthread_barrier_wait(&made);
    uint64_t began = now_ns();
    usleep(ms * 1000);
    __atomic_store_n(&stopped, 1, __ATOMIC_RELAXED);
    pthread_barrier_wait(&seen);
    uint64_t took = now_ns() - began;
    for (unsigned i = 0; i < n; i++) {
        pthread_join(threads[i], NULL);
        total += all[i].made;
    }
    printf("ns %.1f\n", (double)took * (n < processors ? n : (double)processors) / (double)total);
    free(threads);
    free(all);
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
    else if (strcmp(what, "together") == 0)
        sustain_together(find_call(argv[2]), number(argc, argv, 3, 8), number(argc, argv, 4, 200));
    else if (strcmp(what, "growth") == 0)
        growth(&setting, argv[2], number(argc, argv, 3, 100000));
    else if (strcmp(what, "flat") == 0)
        flat(&setting, argv[2], number(argc, argv, 3, 100000));
    else
        must(CUDA_ERROR_INVALID_VALUE, "sustain count|pace|threads|together|growth|flat");
    CU(cuCtxSynchronize());
    return 0;
}

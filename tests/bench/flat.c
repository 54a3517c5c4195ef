/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a call costs more the longer a program runs and the more it keeps: flat.h. Called by sustain.c.
 *   streams   blocking streams created, launched on and destroyed, one after the other, without default-stream work: the
 *             first N / 8 and the last
 *   kept      the same, destroyed only at the end: handles that are used once
 *   live      launches on the default stream and on one stream: before and while N streams live
 *   turn      launches on so many streams in turn: 100, and N
 *   threads   streams created, launched on and destroyed: before and while N threads live that have made calls
 */
#include "tests/bench/flat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/bench/crowd.h"

enum { BATCH = 200, FEW = 100, BATCHES = 20 };

static const struct setting *setting;
static struct lane lane;
static CUstream *streams;
static unsigned made;

static void launch(CUstream stream)
{
    CU(cuLaunchKernel(setting->empty, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
}

static void pass(unsigned i)
{
    CUstream stream;
    (void)i;
    CU(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    launch(stream);
    CU(cuStreamDestroy(stream));
}

static void keep(unsigned i)
{
    (void)i;
    CU(cuStreamCreate(&streams[made], CU_STREAM_DEFAULT));
    launch(streams[made++]);
}

static void launch_twice(unsigned i)
{
    (void)i;
    launch(NULL);
    launch(lane.blocking);
}

static void launch_in_turn(unsigned i)
{
    launch(streams[i % made]);
}

/* This thread's own: what others do meanwhile counts little. */
static uint64_t used_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The quickest batch's ns for one: what disturbs a machine only makes it slower. */
static double quickest(void (*once)(unsigned i), unsigned batches)
{
    double best = 1e18;
    for (unsigned b = 0; b < batches; b++) {
        uint64_t began = used_ns();
        for (unsigned i = 0; i < BATCH; i++)
            once(b * BATCH + i);
        double ns = (double)(used_ns() - began) / BATCH;
        best = ns < best ? ns : best;
    }
    return best;
}

static void say(double first, double last)
{
    printf("first %.1f\nlast %.1f\n", first, last);
}

static void over_time(void (*once)(unsigned i), unsigned n)
{
    unsigned batches = n / BATCH / 8 + 1;
    double first = quickest(once, batches);
    quickest(once, batches * 6);
    say(first, quickest(once, batches));
}

static void while_live(unsigned n)
{
    keep(0);
    quickest(launch_twice, 5);
    double first = quickest(launch_twice, BATCHES);
    while (made < n)
        keep(0);
    say(first, quickest(launch_twice, BATCHES));
}

static void in_turn(unsigned n)
{
    while (made < FEW)
        keep(0);
    double first = quickest(launch_in_turn, BATCHES);
    while (made < n)
        keep(0);
    say(first, quickest(launch_in_turn, BATCHES));
}

static void launch_once(const struct setting *unused)
{
    (void)unused;
    launch(NULL);
}

static void among_threads(unsigned n)
{
    double first = quickest(pass, BATCHES);
    struct crowd *crowd = crowd_begin(setting, n, launch_once);
    say(first, quickest(pass, BATCHES));
    crowd_end(crowd);
}

void flat(const struct setting *of, const char *what, unsigned n)
{
    setting = of;
    lane = make_lane(of, &of->doors[0]);
    streams = calloc(n + 2 * FEW * BATCH, sizeof *streams);
    if (strcmp(what, "streams") == 0)
        over_time(pass, n);
    else if (strcmp(what, "kept") == 0)
        over_time(keep, n);
    else if (strcmp(what, "live") == 0)
        while_live(n);
    else if (strcmp(what, "turn") == 0)
        in_turn(n);
    else if (strcmp(what, "threads") == 0)
        among_threads(n);
    else
        must(CUDA_ERROR_INVALID_VALUE, "flat streams|kept|live|turn|threads");
    for (unsigned i = 0; i < made; i++)
        CU(cuStreamDestroy(streams[i]));
    free(streams);
}

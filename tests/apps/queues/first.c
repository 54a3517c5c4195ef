/* SPDX-License-Identifier: Apache-2.0
 *
 * Which first acts stay inside the driver while a kernel runs: the first launch on a new thread's 0x2, a new stream, the
 * first launch on a stream that was made ahead, and others; after so many streams were made ahead. And what streams cost.
 */
#include "queues.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct tested *ahead; /* a stream that was made ahead and has not been used */

static void act_create(void *unused)
{
    CUstream stream;
    (void)unused;
    CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
}

static void act_create_high(void *unused)
{
    CUstream stream;
    int lowest, highest;
    (void)unused;
    CU(cuCtxGetStreamPriorityRange(&lowest, &highest));
    CU(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, highest));
}

static void act_create_blocking(void *unused)
{
    CUstream stream;
    (void)unused;
    CU(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
}

static void act_event(void *unused)
{
    CUevent event;
    (void)unused;
    CU(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
}

static void act_alloc(void *unused)
{
    CUdeviceptr memory;
    (void)unused;
    CU(cuMemAlloc(&memory, 4 << 20));
}

static void act_destroy(void *tested)
{
    CU(cuStreamDestroy(((struct tested *)tested)->stream));
}

static void report(const char *name, struct caller *caller, void (*body)(void *), void *argument)
{
    double began = now_ms();
    int in_time = ask(caller, body, argument, STUCK_MS);
    printf(" %s=%.2f%s", name, now_ms() - began, in_time ? "" : "S");
    fflush(stdout);
    if (in_time)
        return;
    *flag = 1; /* the kernel ends, the call returns; later acts of the line find nothing running */
    while (__atomic_load_n(&caller->answered, __ATOMIC_ACQUIRE) != caller->asked)
        sleep_ms(1);
    printf("(%.0f)", now_ms() - began);
}

/* acts: t a launch on a new thread's 0x2, p a launch on a stream made ahead, n b new streams, e event, m memory, d destroy
 */
static void act(char which)
{
    void (*body)(void *) = which == 'n'   ? act_create
                           : which == 'b' ? act_create_blocking
                           : which == 'h' ? act_create_high
                           : which == 'e' ? act_event
                           : which == 'm' ? act_alloc
                           : which == 'd' ? act_destroy
                                          : mark;
    char name[2] = {which};
    struct tested *on = ahead ? ahead : &streams[0];
    if (which == 't') {
        add_stream('t');
        on = &streams[stream_count - 1];
        sleep_ms(20); /* the thread is there */
    }
    report(name, which == 't' ? on->caller : streams[0].caller, body, on);
    if (which != 't' && which != 'p')
        return;
    unsigned at = (unsigned)(on - streams);
    for (double until = now_ms() + QUIET_MS; !marks[at] && now_ms() < until;)
        sleep_ms(0.2);
    printf(*flag ? "?" : marks[at] ? "+" : "-"); /* whether the kernel ran meanwhile */
}

void first_main(int argc, char **argv)
{
    char held = *option(argc, argv, "held", "t");
    const char *used = option(argc, argv, "used", "0"), *spec = option(argc, argv, "streams", "");
    begin();
    add_stream('n'); /* whose caller all acts but the threads' own have */
    add_streams(spec);
    unsigned made = stream_count;
    for (unsigned i = 1; i < made && *used == '1'; i++)
        ask_for(i, mark);
    ahead = made > 1 ? &streams[made - 1] : NULL;
    add_stream(held == 'D' ? 't' : held);
    release();
    rearm();
    ask_for(stream_count - 1, hold);
    if (held == 'D')
        ask_for(stream_count - 1, mark);
    sleep_ms(20);
    for (const char *acts = option(argc, argv, "acts", "t"); *acts; acts++)
        act(*acts);
    release();
}

/* ---- memory ---- */

static size_t free_now(void)
{
    size_t available, total;
    CU(cuMemGetInfo(&available, &total));
    return available;
}

static void told(const char *what, unsigned at, size_t *before)
{
    size_t now = free_now();
    if (now != *before)
        printf(" %s%u:%+ldK", what, at, ((long)*before - (long)now) / 1024);
    *before = now;
}

void memory_main(int argc, char **argv)
{
    const char *spec = option(argc, argv, "streams", "n64");
    unsigned events = (unsigned)atoi(option(argc, argv, "events", "0"));
    CUdevice device;
    size_t available, total;
    double began = now_ms();
    CU(cuInit(0));
    CU(cuDeviceGet(&device, 0));
    double initialised = now_ms();
    CU(cuDevicePrimaryCtxRetain(&context, device));
    CU(cuCtxSetCurrent(context));
    printf(" init=%.0fms retain=%.0fms", initialised - began, now_ms() - initialised);
    CU(cuMemGetInfo(&available, &total));
    printf(" context=%ldK", (long)(total - available) / 1024);
    CU(cuCtxSetCurrent(NULL));
    begin();
    size_t before = free_now();
    printf(" ready=%ldK", (long)(total - before) / 1024);
    char one_more[] = {*spec, 0};
    for (int i = 0, count = atoi(spec + 1); i < count; i++) {
        add_stream(*one_more);
        told("made", stream_count, &before);
    }
    for (unsigned i = 0; i < stream_count; i++) {
        ask_for(i, mark);
        told("used", i + 1, &before);
    }
    for (unsigned i = 0; i < events; i++) {
        act_event(NULL);
        told("event", i + 1, &before);
    }
    printf(" end=%ldK", (long)(total - free_now()) / 1024);
}

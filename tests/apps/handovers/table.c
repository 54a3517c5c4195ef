// SPDX-License-Identifier: Apache-2.0
//
// Runs ways with things and prints a line for each: `way thing right|stale|skip`. A thread that never calls CUDA opens the
// gates and ends the program where a case hangs. Called by the programs' main functions.

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/apps/handovers/things.h"

enum { GATE_MS = 10, CASE_SECONDS = 20, LEAST_THINGS = 3, LEAST_WAYS = 8 };

struct watch {
    struct handover *h;
    const struct way *way;
    double began; // 0: no case runs
};

static struct watch watch;

void short_nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

void *give_in_thread(void *handover)
{
    give(handover);
    return NULL;
}

void *take_in_thread(void *handover)
{
    take(handover);
    return NULL;
}

static void *open_gates(void *argument)
{
    struct handover *h = argument;
    for (;; short_nap()) {
        unsigned long long at = __atomic_load_n(&h->open_at, __ATOMIC_RELAXED);
        if (at && app_now_ms() * 1e6 >= (double)at) {
            __atomic_store_n(&h->open_at, 0, __ATOMIC_RELAXED);
            __atomic_store_n(h->gate.flag, 1, __ATOMIC_RELEASE);
        }
        double began;
        __atomic_load(&watch.began, &began, __ATOMIC_ACQUIRE);
        if (began != 0 && app_now_ms() - began > CASE_SECONDS * 1e3) {
            printf("%s %s hang\nWRONG a case hangs\n", watch.way->name, h->thing->name);
            fflush(stdout);
            _Exit(1);
        }
    }
    return NULL;
}

static void watch_case(const struct way *way, double began)
{
    watch.way = way;
    __atomic_store(&watch.began, &began, __ATOMIC_RELEASE);
}

static void body(unsigned index, void *shared)
{
    watch.way->parts[index](shared);
}

static unsigned count_parts(const struct way *way)
{
    unsigned count = 0;
    while (count < MOST_PARTS && way->parts[count])
        count++;
    return count;
}

static void run_parts(struct handover *h, const struct way *way)
{
    if (count_parts(way) == 1)
        way->parts[0](h);
    else
        app_threads(&h->app, count_parts(way), body, h);
}

// Whether it was right, or could not be tried.
static int try_case(struct handover *h, const struct way *way, const struct thing *thing)
{
    h->thing = thing;
    h->told = h->step = 0;
    h->no = NULL;
    things_reset(h);
    watch_case(way, app_now_ms());
    if (way->begin)
        way->begin(h);
    if (!h->no) {
        run_parts(h, way);
        things_judge(h);
    }
    if (way->end && !h->no)
        way->end(h);
    watch_case(way, 0);
    printf("%s %s %s%s%s\n", way->name, thing->name,
           h->no      ? "skip"
           : h->right ? "right"
                      : "stale",
           h->no ? " " : "", h->no ? h->no : "");
    return h->no || h->right;
}

static int name_is(const char *name, const char *given)
{
    return !given || strcmp(name, given) == 0;
}

struct choice {
    const char *way, *thing; // NULL: any
    int all, default_only;
    unsigned ms;
};

static struct choice read_choice(int argc, char **argv)
{
    struct choice c = {.ms = GATE_MS};
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "ms=", 3) == 0)
            c.ms = (unsigned)strtoul(argv[i] + 3, NULL, 10);
        else if (strcmp(argv[i], "all") == 0)
            c.all = 1;
        else if (strcmp(argv[i], "default") == 0)
            c.all = c.default_only = 1;
        else if (strcmp(argv[i], "spread") != 0)
            *(c.way ? &c.thing : &c.way) = argv[i];
    }
    c.all = c.all || c.way;
    return c;
}

// The spread: the nth way takes the next few things; 4 steps on is another kind of thing, and comes round to all of them.
static int is_chosen(const struct choice *c, unsigned way, unsigned ways, unsigned thing)
{
    unsigned each = (LEAST_WAYS * THINGS + ways - 1) / ways;
    if (c->all)
        return !c->default_only || !things[thing].other_stream;
    each = each < LEAST_THINGS ? LEAST_THINGS : each > THINGS ? THINGS : each;
    for (unsigned k = 0; k < each; k++)
        if ((way * each + k) * 4 % THINGS == thing)
            return 1;
    return 0;
}

static unsigned count_ways(const struct way *const *groups)
{
    unsigned count = 0;
    for (; *groups; groups++)
        for (const struct way *way = *groups; way->name; way++)
            count++;
    return count;
}

static unsigned try_way(struct handover *h, const struct choice *c, const struct way *way, unsigned number, unsigned ways,
                        int *right)
{
    unsigned tried = 0;
    if (!name_is(way->name, c->way))
        return 0;
    for (unsigned t = 0; t < THINGS; t++)
        if (name_is(things[t].name, c->thing) && is_chosen(c, number, ways, t)) {
            *right &= try_case(h, way, &things[t]);
            tried++;
        }
    return tried;
}

int handovers_main(int argc, char **argv, const struct way *const *groups)
{
    static struct handover h;
    struct choice choice = read_choice(argc, argv);
    unsigned ways = count_ways(groups), number = 0, tried = 0;
    int right = 1;
    pthread_t opener;
    setvbuf(stdout, NULL, _IOLBF, 0);
    app_start(&h.app);
    h.gate.ms = choice.ms;
    things_make(&h);
    pthread_create(&opener, NULL, open_gates, watch.h = &h);
    double began = app_now_ms();
    for (; *groups; groups++)
        for (const struct way *way = *groups; way->name; way++)
            tried += try_way(&h, &choice, way, number++, ways, &right);
    if (!tried)
        printf("WRONG no such way or thing\n");
    return app_finish(right && tried, app_digest(APP_DIGEST, &tried, sizeof tried), app_now_ms() - began);
}

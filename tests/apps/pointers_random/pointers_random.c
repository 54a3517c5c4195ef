// SPDX-License-Identifier: Apache-2.0
//
// pointers_random [--seed N] [--count N] [--steps N] [--spin-ns N] [--threads N] [--lanes] [--without NAME,...] [--print]:
// random programs whose kernels chase pointers, and whose pointers arrive, in every way there is. Threads (2 to 4, by the
// seed) take turns by one atomic word, so that legacy order determines all bytes; what is left in memory is compared with
// what the steps do one after the other. Prints `seed N: right`, or the first difference. --lanes: one thread does all.
// --spin-ns (200000): how long kernels take at most, four times that before the last one. --without leaves ways out by
// name. --print prints the programs and runs nothing. Run by scripts/gpu and the test beside tests/apps/pointers.

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "tests/apps/load.h"
#include "tests/apps/pointers_random/world.h"

enum { STEPS = 16, SPIN_NS = 200000, HANG_MS = 30000, LOOK_MS = 100 };

struct options {
    unsigned seed, count, steps, threads, print; // threads 0: by the seed
};

static struct program program;

// A program that hangs ends the process.
static void *watch(void *unused)
{
    unsigned seed = 0, still_ms = 0;
    (void)unused;
    for (;; still_ms += LOOK_MS, app_sleep_ms(LOOK_MS)) {
        unsigned now = atomic_load(&world.seed);
        if (now != seed)
            still_ms = 0;
        seed = now;
        if (still_ms < HANG_MS)
            continue;
        printf("seed %u: WRONG: hangs at step %u\n", seed, atomic_load(&world.turn));
        fflush(stdout);
        _Exit(1);
    }
    return NULL;
}

// The thread whose turn it is not waits. Not the one that makes the last step looks at the result.
static void take_turns(unsigned index, void *unused)
{
    const struct program *p = world.program;
    (void)unused;
    for (unsigned i = 0; i < p->step_count; i++) {
        if (p->step[i].seat % world.threads != index)
            continue;
        while (atomic_load_explicit(&world.turn, memory_order_acquire) != i)
            sched_yield();
        act(i);
        atomic_store_explicit(&world.turn, i + 1, memory_order_release);
    }
    if ((p->step[p->step_count - 1].seat + 1u) % world.threads != index)
        return;
    while (atomic_load_explicit(&world.turn, memory_order_acquire) != p->step_count)
        sched_yield();
    act_collect();
}

static int buffers_right(const struct program *p, const char *results)
{
    uint32_t words[WORDS];
    for (unsigned buffer = 0; buffer < BUFFERS; buffer++) {
        memcpy(words, results + result_of_buffer(buffer), sizeof words);
        for (unsigned i = 0; i < WORDS; i++)
            if (words[i] != p->words[buffer][i]) {
                printf("seed %u: WRONG: buffer %u, word %u: expected %#x, got %#x\n", p->seed, buffer, i,
                       p->words[buffer][i], words[i]);
                return 0;
            }
    }
    return 1;
}

static int places_right(const struct program *p, const char *results)
{
    static uint64_t words[MANY_WORDS];
    for (unsigned place = 0; place < PLACES; place++) {
        const char *at = results + result_of_place(place);
        place_words(place, p->target + first_cell(place), words);
        for (unsigned i = 0; i < places[place].words; i++) {
            uint64_t got;
            memcpy(&got, at + i * 8, sizeof got);
            if (got == words[i])
                continue;
            printf("seed %u: WRONG: %s, word %u: expected %#llx, got %#llx\n", p->seed, places[place].name, i,
                   (unsigned long long)words[i], (unsigned long long)got);
            return 0;
        }
    }
    return 1;
}

static int run(unsigned seed, const struct options *o)
{
    static char results[RESULT_BYTES];
    program_draw(&program, seed, o->steps);
    world.threads = o->threads ? o->threads : 2 + seed % (SEATS - 1);
    atomic_store(&world.seed, seed);
    world.program = &program;
    world_begin();
    atomic_store(&world.turn, 0);
    app_threads(&world.app, world.threads, take_turns, NULL);
    CU(cuCtxSynchronize());
    CU(cuMemcpyDtoH(results, world.results, sizeof results));
    int right = buffers_right(&program, results) && places_right(&program, results);
    if (right)
        printf("seed %u: right\n", seed);
    fflush(stdout);
    world_end();
    return right;
}

static void leave_out(const char *name)
{
    for (unsigned i = 0; i < ROOTS; i++)
        if (strcmp(root_names[i], name) == 0) {
            roots_left_out |= 1u << i;
            return;
        }
    for (unsigned i = 0; i < BRINGS; i++)
        if (strcmp(bring_names[i], name) == 0) {
            brings_left_out |= 1u << i;
            return;
        }
    fprintf(stderr, "pointers_random: nothing is called %s\n", name);
    exit(2);
}

static void leave_all_out(char *names)
{
    for (char *name; (name = strsep(&names, ","));)
        leave_out(name);
}

static uint64_t number(int argc, char **argv, int *i)
{
    if (*i + 1 >= argc) {
        fprintf(stderr, "pointers_random: %s needs a value\n", argv[*i]);
        exit(2);
    }
    return strtoull(argv[++*i], NULL, 10);
}

static struct options read_options(int argc, char **argv)
{
    struct options o = {.seed = 1, .count = 20, .steps = STEPS};
    world.spin_ns = SPIN_NS;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--seed") == 0)
            o.seed = (unsigned)number(argc, argv, &i);
        else if (strcmp(argv[i], "--count") == 0)
            o.count = (unsigned)number(argc, argv, &i);
        else if (strcmp(argv[i], "--steps") == 0)
            o.steps = (unsigned)number(argc, argv, &i);
        else if (strcmp(argv[i], "--spin-ns") == 0)
            world.spin_ns = number(argc, argv, &i);
        else if (strcmp(argv[i], "--threads") == 0)
            o.threads = (unsigned)number(argc, argv, &i);
        else if (strcmp(argv[i], "--lanes") == 0)
            o.threads = 1;
        else if (strcmp(argv[i], "--linked") == 0)
            load_links = 1;
        else if (strcmp(argv[i], "--print") == 0)
            o.print = 1;
        else if (strcmp(argv[i], "--without") == 0 && i + 1 < argc)
            leave_all_out(argv[++i]);
        else {
            fprintf(stderr, "pointers_random: what is %s?\n", argv[i]);
            exit(2);
        }
    }
    o.threads = o.threads > SEATS ? SEATS : o.threads;
    o.steps = o.steps > STEPS_MOST ? STEPS_MOST : o.steps < 2 ? 2 : o.steps;
    return o;
}

int main(int argc, char **argv)
{
    struct options o = read_options(argc, argv);
    unsigned right = 0;
    pthread_t watcher;
    if (!o.print) {
        world_start();
        pthread_create(&watcher, NULL, watch, NULL);
    }
    double began = app_now_ms();
    for (unsigned seed = o.seed; seed - o.seed < o.count; seed++) {
        if (o.print) {
            program_draw(&program, seed, o.steps);
            program_print(stdout, &program);
            right++;
        } else {
            right += (unsigned)run(seed, &o);
        }
    }
    return o.print ? 0 : app_finish(right == o.count, app_digest(APP_DIGEST, &right, sizeof right), app_now_ms() - began);
}

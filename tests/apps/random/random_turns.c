// SPDX-License-Identifier: Apache-2.0
//
// random_turns [--trace SEED] [first seed 1] [seeds 20] [steps 60]: random programs of 1 to 8 threads that take turns by
// one atomic word, so that legacy order determines every byte that the host ever reads: each byte is compared with what the
// operations do one after the other. Prints "seed N digest" a seed; the same on every driver. --trace prints a seed's steps
// and runs nothing. RANDOM_TURNS_US (300): the longest spin before an operation. RANDOM_TURNS_WITHOUT: operations to leave
// out, by comma, as `leaves_out` below names them. Run by scripts/gpu and random_test.sh.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "act.h"

enum { STEPS = 60, SPIN_US = 300, HANG_MS = 20000, LOOK_MS = 100 };

static struct plan plan;

static const struct {
    const char *name;
    enum op_kind kind;
} kinds_left_out[] = {
    {"kernels", KERNEL_FILL},   {"copies", MEMSET},
    {"host", HOST_READS},       {"functions", HOST_FUNCTION_WRITES},
    {"events", EVENT_RECORD},   {"graphs", GRAPH_LAUNCH},
    {"pool", POOL_ALLOC},       {"scratch", SCRATCH_ALLOC},
    {"passing", STREAM_CREATE}, {"ends", THREAD_END},
    {"values", VALUE_WRITE},    {"by-host", VALUE_BY_HOST},
    {"crossed", VALUE_WAIT},    {"context", CONTEXT_SYNCHRONIZE},
};

static void leave_out(const char *name)
{
    enum { KINDS = sizeof kinds_left_out / sizeof kinds_left_out[0] };
    unsigned i = 0;
    if (strcmp(name, "order-by-host") == 0) {
        plan.model.without_host = 1;
        return;
    }
    while (i < KINDS && strcmp(kinds_left_out[i].name, name) != 0)
        i++;
    if (i == KINDS) {
        fprintf(stderr, "RANDOM_TURNS_WITHOUT: nothing is called %s\n", name);
        exit(2);
    }
    plan.left_out |= 1ull << kinds_left_out[i].kind;
}

static void leave_all_out(const char *list)
{
    char *names = strdup(list ? list : ""), *rest = names;
    for (char *name; (name = strsep(&rest, ","));)
        if (*name)
            leave_out(name);
    free(names);
}

// A process that hangs says where.
static void *watch(void *unused)
{
    unsigned seed = 0, current = 0, still_ms = 0;
    (void)unused;
    for (;; still_ms += LOOK_MS) {
        unsigned now_seed = atomic_load(&world.seed), now = atomic_load(&world.current);
        if (now_seed != seed || now != current)
            still_ms = 0;
        seed = now_seed;
        current = now;
        if (still_ms >= HANG_MS) {
            printf("seed %u hangs at step ", seed);
            print_op(stdout, &plan, &plan.ops[current]);
            fflush(stdout);
            turns_say_where();
            _exit(1);
        }
        app_sleep_ms(LOOK_MS);
    }
    return NULL;
}

static int reads(const struct op *op)
{
    return op->kind == DEVICE_TO_PAGEABLE || op->kind == DEVICE_TO_PAGEABLE_SYNC || op->kind == HOST_FUNCTION_READS ||
           op->kind == HOST_READS;
}

// Over all that the host read; says what was wrong first.
static uint64_t judge(int *right)
{
    uint64_t digest = APP_DIGEST;
    int said = 0;
    for (unsigned i = 0; i < plan.op_count; i++) {
        const struct op *op = &plan.ops[i];
        if (!reads(op))
            continue;
        digest = app_digest(digest, &op->seen, sizeof op->seen);
        if (op->seen == op->expected || said)
            continue;
        said = 1;
        *right = 0;
        printf("seed %u wrong at step ", plan.seed);
        print_op(stdout, &plan, op);
    }
    return digest;
}

static uint64_t one_seed(unsigned seed, unsigned steps, int *right)
{
    uint64_t digest;
    plan_make(&plan, seed, steps);
    atomic_store(&world.current, 0);
    atomic_store(&world.seed, seed);
    act_begin();
    turns_run();
    act_end();
    digest = judge(right);
    printf("seed %u %016llx\n", seed, (unsigned long long)digest);
    fflush(stdout);
    return digest;
}

static int trace(unsigned seed, unsigned steps)
{
    plan_make(&plan, seed, steps);
    printf("seed %u, %u threads\n", seed, plan.seats);
    for (unsigned i = 0; i < plan.op_count; i++)
        print_op(stdout, &plan, &plan.ops[i]);
    return 0;
}

int main(int argc, char **argv)
{
    const char *us = getenv("RANDOM_TURNS_US");
    uint64_t digest = APP_DIGEST;
    int right = 1;
    pthread_t watcher;
    leave_all_out(getenv("RANDOM_TURNS_WITHOUT"));
    if (argc > 1 && strcmp(argv[1], "--trace") == 0)
        return trace(app_number(argc, argv, 2, 1), app_number(argc, argv, 3, STEPS));
    unsigned first = app_number(argc, argv, 1, 1), seeds = app_number(argc, argv, 2, 20);
    unsigned steps = app_number(argc, argv, 3, STEPS);
    if (steps > STEPS_MOST)
        steps = STEPS_MOST;
    world.most_us = us ? (unsigned)strtoul(us, NULL, 10) : SPIN_US;
    world.plan = &plan;
    act_start();
    double began = app_now_ms();
    pthread_create(&watcher, NULL, watch, NULL);
    for (unsigned seed = first; seed - first < seeds; seed++) {
        uint64_t one = one_seed(seed, steps, &right);
        digest = app_digest(digest, &one, sizeof one);
    }
    return app_finish(right, digest, app_now_ms() - began);
}

// SPDX-License-Identifier: Apache-2.0
//
// handovers_openmp [spread|all|default|WAY THING] [ms=N]: the same as handovers, between the threads of OpenMP regions.
// Built with gcc's and with clang's OpenMP (handovers_openmp_clang). Run by scripts/gpu and the tests beside it.

#include <stdio.h>

#include "tests/apps/handovers/handovers.h"

#ifdef _OPENMP

#include <omp.h>

enum { TWO = 2 };

// In a thread that did not give.
static void take_elsewhere(struct handover *h, int giver)
{
    if (omp_get_thread_num() == (giver + 1) % TWO)
        take(h);
}

// ---- regions and loops ----

static void region_begin(struct handover *h)
{
    give(h);
#pragma omp parallel num_threads(TWO)
    take_elsewhere(h, 0);
}

static void region_end(struct handover *h)
{
#pragma omp parallel num_threads(TWO)
    if (omp_get_thread_num() == 1)
        give(h);
    take(h);
}

static void loop_end(struct handover *h)
{
#pragma omp parallel num_threads(TWO)
    {
#pragma omp for schedule(static, 1)
        for (int i = 0; i < TWO; i++)
            if (i == 1)
                give(h);
        take_elsewhere(h, 1);
    }
}

static void dynamic_loop_end(struct handover *h)
{
    int giver = 0;
#pragma omp parallel num_threads(TWO)
    {
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < TWO; i++)
            if (i == 1) {
                giver = omp_get_thread_num();
                give(h);
            }
        take_elsewhere(h, giver);
    }
}

static void sections_end(struct handover *h)
{
    int giver = 0;
#pragma omp parallel num_threads(TWO)
    {
#pragma omp sections
        {
#pragma omp section
            {
                giver = omp_get_thread_num();
                give(h);
            }
#pragma omp section
            short_nap();
        }
        take_elsewhere(h, giver);
    }
}

static void copyprivate(struct handover *h)
{
#pragma omp parallel num_threads(TWO)
    {
        int giver;
#pragma omp single copyprivate(giver)
        {
            giver = omp_get_thread_num();
            give(h);
        }
        take_elsewhere(h, giver);
    }
}

static void master_barrier(struct handover *h)
{
#pragma omp parallel num_threads(TWO)
    {
#pragma omp master
        give(h);
#pragma omp barrier
        take_elsewhere(h, 0);
    }
}

static void ordered(struct handover *h)
{
#pragma omp parallel for ordered schedule(static, 1) num_threads(TWO)
    for (int i = 0; i < TWO; i++)
#pragma omp ordered
    {
        if (i == 0)
            give(h);
        else
            take(h);
    }
}

static void doacross(struct handover *h)
{
#pragma omp parallel for ordered(1) schedule(static, 1) num_threads(TWO)
    for (int i = 0; i < TWO; i++) {
#pragma omp ordered depend(sink : i - 1)
        if (i == 0)
            give(h);
        else
            take(h);
#pragma omp ordered depend(source)
    }
}

static void reduction(struct handover *h)
{
    int given = 0;
#pragma omp parallel for schedule(static, 1) num_threads(TWO) reduction(+ : given)
    for (int i = 0; i < TWO; i++)
        if (i == 1) {
            give(h);
            given++;
        }
    if (given == 1)
        take(h);
}

// ---- locks and atomics: the taker looks until it was told ----

static void critical(struct handover *h)
{
#pragma omp parallel num_threads(TWO)
    if (omp_get_thread_num() == 1) {
        give(h);
#pragma omp critical(told)
        h->told = 1;
    } else {
        for (int told = 0; !told; short_nap()) {
#pragma omp critical(told)
            told = h->told;
        }
        take(h);
    }
}

static void lock(struct handover *h)
{
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(TWO)
    if (omp_get_thread_num() == 1) {
        give(h);
        omp_set_lock(&lock);
        h->told = 1;
        omp_unset_lock(&lock);
    } else {
        for (int told = 0; !told; short_nap()) {
            omp_set_lock(&lock);
            told = h->told;
            omp_unset_lock(&lock);
        }
        take(h);
    }
    omp_destroy_lock(&lock);
}

static void nest_lock(struct handover *h)
{
    omp_nest_lock_t lock;
    omp_init_nest_lock(&lock);
#pragma omp parallel num_threads(TWO)
    if (omp_get_thread_num() == 1) {
        omp_set_nest_lock(&lock);
        omp_set_nest_lock(&lock);
        give(h);
        h->told = 1;
        omp_unset_nest_lock(&lock);
        omp_unset_nest_lock(&lock);
    } else {
        for (int told = 0; !told; short_nap())
            if (omp_test_nest_lock(&lock)) {
                told = h->told;
                omp_unset_nest_lock(&lock);
            }
        take(h);
    }
    omp_destroy_nest_lock(&lock);
}

static void atomic(struct handover *h)
{
#pragma omp parallel num_threads(TWO)
    if (omp_get_thread_num() == 1) {
        give(h);
#pragma omp atomic write seq_cst
        h->told = 1;
    } else {
        for (int told = 0; !told; short_nap()) {
#pragma omp atomic read seq_cst
            told = h->told;
        }
        take(h);
    }
}

static void flush(struct handover *h)
{
#pragma omp parallel num_threads(TWO)
    if (omp_get_thread_num() == 1) {
        give(h);
#pragma omp flush
#pragma omp atomic write
        h->told = 1;
    } else {
        for (int told = 0; !told; short_nap()) {
#pragma omp atomic read
            told = h->told;
        }
#pragma omp flush
        take(h);
    }
}

// ---- tasks: the thread that makes them waits until another one runs the giver's ----

static void give_task(struct handover *h)
{
    tell(&h->step);
    give(h);
}

static void taskwait(struct handover *h)
{
#pragma omp parallel num_threads(TWO)
#pragma omp single
    {
#pragma omp task
        give_task(h);
        await(&h->step);
#pragma omp taskwait
        take(h);
    }
}

static void taskgroup(struct handover *h)
{
#pragma omp parallel num_threads(TWO)
#pragma omp single
    {
#pragma omp taskgroup
        {
#pragma omp task
            give_task(h);
            await(&h->step);
        }
        take(h);
    }
}

/* The first thread makes the tasks: of another's table of dependences, gcc's library may forget where it is, and it leaks
 * (measured: the next region begins before that thread has freed it). */
static void depend(struct handover *h)
{
    int item = 0;
#pragma omp parallel num_threads(TWO)
#pragma omp master
    {
#pragma omp task depend(out : item)
        give_task(h);
        await(&h->step);
#pragma omp task depend(in : item) if (0)
        take(h);
    }
    (void)item;
}

static void task_start(struct handover *h)
{
#pragma omp parallel num_threads(TWO)
#pragma omp single
    {
        give(h);
#pragma omp task
        {
            tell(&h->step);
            take(h);
        }
        await(&h->step);
    }
}

static void task_barrier(struct handover *h)
{
#pragma omp parallel num_threads(TWO)
    {
#pragma omp single nowait
        {
#pragma omp task
            give_task(h);
        }
        if (omp_get_thread_num() == 0)
            await(&h->step);
#pragma omp barrier
#pragma omp master
        take(h);
    }
}

static const struct way ways_openmp[] = {
    {"region-begin", {region_begin}, NULL, NULL},
    {"region-end", {region_end}, NULL, NULL},
    {"for", {loop_end}, NULL, NULL},
    {"for-dynamic", {dynamic_loop_end}, NULL, NULL},
    {"sections", {sections_end}, NULL, NULL},
    {"single-copyprivate", {copyprivate}, NULL, NULL},
    {"omp-barrier", {master_barrier}, NULL, NULL},
    {"ordered", {ordered}, NULL, NULL},
    {"ordered-depend", {doacross}, NULL, NULL},
    {"reduction", {reduction}, NULL, NULL},
    {"critical", {critical}, NULL, NULL},
    {"omp-lock", {lock}, NULL, NULL},
    {"omp-nest-lock", {nest_lock}, NULL, NULL},
    {"omp-atomic", {atomic}, NULL, NULL},
    {"omp-flush", {flush}, NULL, NULL},
    {"taskwait", {taskwait}, NULL, NULL},
    {"taskgroup", {taskgroup}, NULL, NULL},
    {"task-depend", {depend}, NULL, NULL},
    {"task-start", {task_start}, NULL, NULL},
    {"task-barrier", {task_barrier}, NULL, NULL},
    {0},
};

int main(int argc, char **argv)
{
    static const struct way *const groups[] = {ways_openmp, NULL};
    omp_set_dynamic(0);
    return handovers_main(argc, argv, groups);
}

#else

int main(void)
{
    puts("SKIP no compiler with OpenMP where this was built");
    return 0;
}

#endif

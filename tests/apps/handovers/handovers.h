/* SPDX-License-Identifier: Apache-2.0
 *
 * What the hand-over programs share. A *way* is how one thread tells another that it may go on; a *thing* is what the giver
 * has started by then and not waited for. Legacy order makes every pair of them right. Ordinary CUDA programs: nothing here
 * knows of libptds. Ways are in ways_*.c, those of C++ in handovers_cpp.cc and cpp_*.cc, of OpenMP in handovers_openmp.c,
 * things in things.c, the runner in table.c.
 */
#ifndef APPS_HANDOVERS_HANDOVERS_H
#define APPS_HANDOVERS_HANDOVERS_H

#include "tests/apps/app.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All of the host's memory in one allocation fits a page: what a kernel may reach by it can be looked at, and its work is
 * not taken for work that may touch everything, which would be in order whatever it touches (simulated_test.sh looks). */
enum { WORDS = 256, BYTES = WORDS * 4, OLD = 1, NEW = 2, OTHER = 9, MOST_PARTS = 4 };

struct thing;

struct handover {
    struct app app;
    const struct thing *thing;
    struct gate gate;
    unsigned long long open_at; /* nanoseconds; 0: the gate is open or nothing waits for it */
    int right;
    /* What the things use. */
    CUdeviceptr words, seen, other, pooled, mapped_device;
    uint32_t *pinned, *mapped, *pageable;
    CUstream blocking[2], nonblocking;
    CUevent event;
    CUgraphExec graph, reading_graph;
    /* What the ways use; 0 when a case begins. */
    pthread_t worker;
    int told;       /* under a lock of the way's */
    int step;       /* by tell() and told_of(): for turns that are not the hand-over itself */
    const char *no; /* why the way cannot be tried here */
};

/* The giver's calls and the taker's. Each may come from any thread. */
void give(struct handover *h);
void take(struct handover *h);

typedef void part(struct handover *h);

/* Each part runs in a thread of its own; a way with one part runs in the main thread. `begin` makes what the parts talk
 * through, in the main thread, and sets h->no where that is not to be had. */
struct way {
    const char *name;
    part *parts[MOST_PARTS];
    part *begin, *end;
};

/* Ends with a way without a name. */
extern const struct way ways_pthread[], ways_lock[], ways_semaphore[], ways_c11[], ways_atomic[], ways_descriptor[],
    ways_ipc[], ways_signal[];

/* argv: nothing, or "spread": every way with some things, every thing with some ways; "all": the whole product; "default":
 * all things that need no blocking or non-blocking stream; WAY THING: one pair; "ms=N": how long what is handed over stays
 * unfinished. Prints a line for each, returns the exit status. */
int handovers_main(int argc, char **argv, const struct way *const *groups);

/* For turns before the hand-over: relaxed, so that they order nothing themselves. */
static inline void tell(int *flag)
{
    __atomic_store_n(flag, 1, __ATOMIC_RELAXED);
}

static inline int told_of(const int *flag)
{
    return __atomic_load_n(flag, __ATOMIC_RELAXED);
}

static inline void await(const int *flag)
{
    while (!told_of(flag))
        ;
}

/* In threads that the way makes itself. */
void *give_in_thread(void *handover);
void *take_in_thread(void *handover);

/* Between two looks. */
void short_nap(void);

#ifdef __cplusplus
}
#endif

#endif

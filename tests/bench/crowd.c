/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads for what is measured while many live: crowd.h. Called by sustain.c and flat.c.
 */
#include "tests/bench/crowd.h"

#include <pthread.h>
#include <stdlib.h>

enum { STACK = 256 * 1024 };

struct crowd {
    const struct setting *setting;
    void (*first)(const struct setting *setting);
    pthread_barrier_t alive, seen;
    unsigned count;
    pthread_t thread[];
};

static void *live(void *argument)
{
    struct crowd *crowd = argument;
    CU(cuCtxSetCurrent(crowd->setting->context));
    crowd->first(crowd->setting);
    pthread_barrier_wait(&crowd->alive);
    pthread_barrier_wait(&crowd->seen);
    return NULL;
}

struct crowd *crowd_begin(const struct setting *setting, unsigned n, void (*first)(const struct setting *setting))
{
    struct crowd *crowd = calloc(1, sizeof *crowd + n * sizeof crowd->thread[0]);
    pthread_attr_t attributes;
    crowd->setting = setting;
    crowd->first = first;
    crowd->count = n;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    pthread_barrier_init(&crowd->alive, NULL, n + 1);
    pthread_barrier_init(&crowd->seen, NULL, n + 1);
    for (unsigned i = 0; i < n; i++) {
        if (pthread_create(&crowd->thread[i], &attributes, live, crowd) != 0)
            must(CUDA_ERROR_OPERATING_SYSTEM, "pthread_create");
    }
    pthread_barrier_wait(&crowd->alive);
    return crowd;
}

void crowd_end(struct crowd *crowd)
{
    pthread_barrier_wait(&crowd->seen);
    for (unsigned i = 0; i < crowd->count; i++)
        pthread_join(crowd->thread[i], NULL);
    free(crowd);
}

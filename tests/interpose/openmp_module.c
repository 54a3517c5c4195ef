/* SPDX-License-Identifier: Apache-2.0
 *
 * A module with an OpenMP runtime of its own, which openmp_loader opens for itself alone.
 */
extern void GOMP_parallel(void (*)(void *), void *, unsigned, unsigned);
extern void GOMP_barrier(void);
extern int omp_get_num_threads(void);

__attribute__((visibility("default"))) int team_size(void);
__attribute__((visibility("default"))) void begin_team(int *counted);

static void count(void *counted)
{
    __atomic_fetch_add((int *)counted, 1, __ATOMIC_RELAXED);
    GOMP_barrier();
    if (omp_get_num_threads() != __atomic_load_n((int *)counted, __ATOMIC_RELAXED))
        __atomic_store_n((int *)counted, -100, __ATOMIC_RELAXED);
    GOMP_barrier();
}

int team_size(void)
{
    int counted = 0;
    GOMP_parallel(count, &counted, 3, 0);
    return counted;
}

/* Ends in the call, so that it seems to come from whoever called this, who knows of no OpenMP. */
void begin_team(int *counted)
{
    GOMP_parallel(count, counted, 3, 0);
}

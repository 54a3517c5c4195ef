/* SPDX-License-Identifier: Apache-2.0
 *
 * Claims: what a launch was said to touch, against what it touches. Said by whoever calls sim_claim_next (a test that knows
 * the footprint, before it launches); asked at each access of a global address. Must never take the simulator's lock.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/ptx.h"
#include "tests/sim/sim.h"
#include "tests/sim/sim_test_api.h"

enum { REPORTS_A_LAUNCH = 8 };

struct claim {
    unsigned users;
    unsigned count;
    bool everything;
    struct sim_range ranges[];
};

static __thread struct claim *next_claim;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long unclaimed;
static char first_text[512];

struct claim *claim_hold(struct claim *claim)
{
    if (claim)
        __atomic_fetch_add(&claim->users, 1, __ATOMIC_RELAXED);
    return claim;
}

void claim_release(struct claim *claim)
{
    if (claim && __atomic_fetch_sub(&claim->users, 1, __ATOMIC_ACQ_REL) == 1)
        free(claim);
}

struct claim *claim_take(void)
{
    struct claim *claim = next_claim;
    next_claim = NULL;
    return claim;
}

void sim_claim_next(const struct sim_range *ranges, unsigned count, int everything)
{
    claim_release(next_claim);
    next_claim = malloc(sizeof *next_claim + count * sizeof *ranges);
    if (!next_claim)
        abort();
    next_claim->users = 1;
    next_claim->count = count;
    next_claim->everything = everything;
    if (count)
        memcpy(next_claim->ranges, ranges, count * sizeof *ranges);
}

static bool covers(const struct sim_range *r, uint64_t address, size_t size, bool writes)
{
    return r->begin <= address && address < r->end && size <= r->end - address && (r->writes || !writes);
}

/* Begin and end 0: the variables of the kernel's module, whose addresses nobody need have asked for. */
static bool covers_variable(const struct sim_range *r, const struct ptx_grid *g, uint64_t address, bool writes)
{
    return r->begin == 0 && r->end == 0 && (r->writes || !writes) && g->variables &&
           address - g->variables < g->entry->text->memory_bytes;
}

static void report(struct ptx_thread *t, const struct ptx_instruction *i, uint64_t address, size_t size, bool writes)
{
    char text[200], line[512];
    const struct ptx_function *f = t->frame->function;
    snprintf(line, sizeof line, "sim: kernel %.100s %s %zu bytes at 0x%llx, which was not claimed: line %u: %s",
             t->grid->entry->name, writes ? "writes" : "reads", size, (unsigned long long)address,
             ptx_instruction_line(f, i), ptx_instruction_text(f, i, text, sizeof text));
    pthread_mutex_lock(&lock);
    if (!unclaimed++)
        memcpy(first_text, line, sizeof first_text);
    pthread_mutex_unlock(&lock);
    if (t->grid->reported++ < REPORTS_A_LAUNCH)
        fprintf(stderr, "%s\n", line);
}

void claim_check(struct ptx_thread *t, const struct ptx_instruction *i, uint64_t address, uint64_t other, size_t size,
                 bool writes)
{
    const struct claim *c = t->grid->claim;
    if (c->everything)
        return;
    for (unsigned n = 0; n < c->count; n++)
        if (covers(&c->ranges[n], address, size, writes) || (other && covers(&c->ranges[n], other, 1, writes)) ||
            covers_variable(&c->ranges[n], t->grid, address, writes))
            return;
    report(t, i, address, size, writes);
}

void claim_launch_over(const struct ptx_grid *g)
{
    (void)g;
    if (knob_claims_abort())
        abort();
}

unsigned long sim_unclaimed_accesses(void)
{
    pthread_mutex_lock(&lock);
    unsigned long count = unclaimed;
    pthread_mutex_unlock(&lock);
    return count;
}

const char *sim_unclaimed_text(void)
{
    return first_text;
}

void sim_reset_unclaimed(void)
{
    pthread_mutex_lock(&lock);
    unclaimed = 0;
    first_text[0] = 0;
    pthread_mutex_unlock(&lock);
}

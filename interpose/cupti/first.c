/* SPDX-License-Identifier: Apache-2.0
 *
 * See first.h. Called by cupti.c: on the program's threads around operations, and on CUPTI's. Knows no CUPTI. Must never
 * lock or allocate, nor answer where a second operation may have been made by the same call.
 */
#include "interpose/cupti/first.h"

#include <stddef.h>

#define FIRSTS 4096u /* threads; what later ones begin with has no times */

static struct first {
    uint64_t ticket;
    uint64_t began, ended; /* ended 0: not yet, and nothing here to be read */
    uint64_t next;         /* when the thread's next operation began; 0: none has */
    uint32_t thread, work;
} firsts[FIRSTS];
static uint32_t taken;

static __thread struct first *own;
static __thread int over;

int first_open(void)
{
    return !over;
}

static void followed(uint64_t now)
{
    if (own)
        __atomic_store_n(&own->next, now, __ATOMIC_RELEASE);
    over = 1;
}

void first_begins(uint32_t thread, uint64_t ticket, uint32_t work, uint64_t now)
{
    uint32_t place = FIRSTS;
    if (own) {
        followed(now);
        return;
    }
    if (__atomic_load_n(&taken, __ATOMIC_RELAXED) < FIRSTS)
        place = __atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED);
    over = place >= FIRSTS || !now || !work;
    if (over)
        return;
    own = &firsts[place];
    own->ticket = ticket;
    own->began = now;
    own->thread = thread;
    own->work = work;
}

void first_ends(uint64_t now)
{
    if (!own || own->ended || !now) /* without its end it is never looked at */
        followed(now);
    else
        __atomic_store_n(&own->ended, now, __ATOMIC_RELEASE);
}

uint64_t first_within(uint32_t thread, uint64_t start, uint64_t end, uint32_t *work)
{
    const struct first *found = NULL;
    uint32_t count = __atomic_load_n(&taken, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < count && i < FIRSTS; i++) {
        const struct first *first = &firsts[i];
        uint64_t ended = __atomic_load_n(&first->ended, __ATOMIC_ACQUIRE);
        if (!ended || first->thread != thread || first->began < start || ended > end)
            continue;
        uint64_t next = __atomic_load_n(&first->next, __ATOMIC_ACQUIRE);
        if (found || (next && next <= end))
            return 0;
        found = first;
    }
    if (!found)
        return 0;
    *work = found->work;
    return found->ticket;
}

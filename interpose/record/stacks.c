/* SPDX-License-Identifier: Apache-2.0
 *
 * Takes and remembers call stacks. Called by the recorder at the end of a call. Unwinding costs tens of microseconds, so it
 * happens once for each path through the program, not once a call. Must never run inside dlsym: backtrace() loads libgcc on
 * first use.
 */
#include "interpose/record/stacks.h"

#include <errno.h>
#include <execinfo.h>
#include <string.h>

#include "interpose/base/memory.h"
#include "interpose/record/definitions.h"
#include "interpose/state/map.h"

#define CACHE 512u
#define CHECKED 6u /* outer return addresses that are compared on every use */
#define FRAMES 48
#define FIRST_USES 48u  /* unwinds granted to a call site that never blocks */
#define SCAN_WORDS 2048 /* how far up the stack one frame's return address is looked for */

struct stack_entry {
    const void *caller;
    const void *const *frame;
    uint32_t id;
    uint32_t checked;
    const void *const *slot[CHECKED];
    const void *value[CHECKED];
};

static struct map by_content; /* hash of a stack -> id */
static struct map uses;       /* return address -> unwinds so far, + 1 */

static uint64_t hash(void *const *frames, int count)
{
    uint64_t h = 1469598103934665603u;
    for (int i = 0; i < count; i++) {
        h ^= (uint64_t)frames[i];
        h *= 1099511628211u;
        h ^= h >> 31;
    }
    return h | 1;
}

static uint32_t id_of(void *const *frames, int count)
{
    uint64_t key = hash(frames, count);
    uint32_t id = (uint32_t)map_get(&by_content, key);
    if (id)
        return id;
    id = define_stack(frames, (uint32_t)count);
    map_set(&by_content, key, id);
    return id;
}

static int matches(const struct stack_entry *entry, const struct call *C)
{
    if (entry->caller != C->caller || entry->frame != C->frame)
        return 0;
    for (uint32_t i = 0; i < entry->checked; i++) {
        if (*entry->slot[i] != entry->value[i])
            return 0;
    }
    return 1;
}

/* Where the outer return addresses lie on the stack, so that the next call can be told to have come the same way. */
static void find_slots(struct stack_entry *entry, void *const *frames, int count)
{
    const void *const *at = entry->frame;
    entry->checked = 0;
    for (int i = 1; i < count && entry->checked < CHECKED; i++) {
        int left = SCAN_WORDS;
        do
            at++;
        while (*at != frames[i] && --left > 0);
        if (left == 0)
            return;
        entry->slot[entry->checked] = at;
        entry->value[entry->checked++] = frames[i];
    }
}

static int granted(const struct call *C)
{
    uint64_t key = (uint64_t)C->caller, used = map_add(&uses, key, 1);
    if (!used)
        map_set(&uses, key, 1);
    return used < FIRST_USES || (used & (used - 1)) == 0;
}

static uint32_t unwind(struct stack_entry *entry, const struct call *C)
{
    void *frames[FRAMES];
    int saved = errno, count = backtrace(frames, FRAMES), first = 0;
    errno = saved;
    while (first < count && frames[first] != C->caller)
        first++;
    if (first == count) {
        frames[0] = (void *)(uintptr_t)C->caller;
        first = 0;
        count = 1;
    }
    *entry = (struct stack_entry){.caller = C->caller, .frame = C->frame};
    /* The last frames are the thread's start, below which the stack may end: nothing is looked for there. */
    find_slots(entry, frames + first, count - first - 2);
    entry->id = id_of(frames + first, count - first);
    return entry->id;
}

uint32_t stacks_id(struct call *C, int worth)
{
    struct thread *thread = C->thread;
    if (!thread->stacks && !(thread->stacks = memory_keep(CACHE * sizeof *thread->stacks)))
        return 0;
    uint64_t key = (uint64_t)C->caller * 31 + (uint64_t)C->frame;
    struct stack_entry *entry = &thread->stacks[(key >> 3 ^ key >> 13) % CACHE];
    if (__builtin_expect(matches(entry, C), 1))
        return entry->id;
    if (worth || granted(C))
        return unwind(entry, C);
    void *caller = (void *)(uintptr_t)C->caller;
    return id_of(&caller, 1);
}

void stacks_after_fork(void)
{
    map_reset(&by_content);
    map_reset(&uses);
}

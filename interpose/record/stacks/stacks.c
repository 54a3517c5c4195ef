/* SPDX-License-Identifier: Apache-2.0
 *
 * Takes and remembers call stacks. Called by the recorder at the end of a call. Unwinding costs tens of microseconds, so it
 * happens once for each path through the program, not once a call. Must never run inside dlsym: backtrace() loads libgcc on
 * first use. So it may wait for the loader's lock, and the holder of that lock, in a constructor, must not wait for it.
 */
#include "interpose/record/stacks/stacks.h"

#include <errno.h>
#include <execinfo.h>
#include <string.h>

#include "interpose/base/elf.h"
#include "interpose/base/loaded.h"
#include "interpose/base/own_stack.h"
#include "interpose/base/pages.h"
#include "interpose/base/word.h"
#include "interpose/record/file/define.h"
#include "interpose/record/stacks/python.h"
#include "interpose/state/map.h"

#define FRAMES 48
#define FIRST_USES 48u        /* unwinds granted to a call site that never blocks */
#define PYTHON_WAYS 1024u     /* likewise, where many ways of Python's may lead through it */
#define PYTHON_USES 65536u    /* likewise, where frames of Python alone are read, which costs a few microseconds */
#define SCAN_WORDS 2048       /* how far up the stack one frame's return address is looked for */
#define MAIN_STACK (1u << 20) /* of the main thread's stack, so much below its start is taken to be its own */
#define REFUSED 256u          /* calls that a refusal holds for */
#define WARM_UP_MS 100u       /* loading a library takes a few */

extern void *__libc_stack_end; /* ld.so's, since 2.1 */

static struct map by_content; /* hash of a stack -> id */
static struct map uses;       /* return address -> unwinds so far, + 1 */

/* Whether backtrace() has all that it loads. An old libc's waits, without end, for a thread whose first one is under way.
 */
static uint32_t warm;
enum { COLD, WARMING, WARM };

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

static void find_own_stack(struct thread *thread)
{
    const void *low, *high;
    if (!thread->stack_asked && own_stack(&low, &high)) {
        thread->stack_low = low;
        thread->stack_high = high;
    }
    thread->stack_asked = 1;
}

/* How far up from here the stack is surely mapped, now and whenever this frame is in use: a thread's own is in one piece,
 * of any other only the page is known, since a coroutine's may end anywhere. */
static const void *const *readable_end(const struct call *C)
{
    uintptr_t frame = (uintptr_t)C->frame, top = (uintptr_t)__libc_stack_end;
    uintptr_t low = (uintptr_t)C->thread->stack_low, high = (uintptr_t)C->thread->stack_high;
    if (frame < top && top - frame < MAIN_STACK)
        return (const void *const *)top;
    if (frame >= low && frame < high)
        return (const void *const *)high;
    return (const void *const *)((frame | (PAGES_SMALLEST - 1)) + 1);
}

/* Functions built with branch protection sign what they keep there; unwinding takes that off, and so does this. */
static const void *unsigned_address(const void *kept)
{
#if defined(__aarch64__)
    register const void *address __asm__("x30") = kept;
    __asm__("hint #7" : "+r"(address)); /* xpaclri, which older processors take for nothing */
    return address;
#else
    return kept;
#endif
}

/* The unwinder knows no way out of generated code: a walk that comes to some ends there. */
static int ends_in_generated_code(void *const *frames, int count)
{
    struct elf_object object;
    return count > 1 && !loaded_containing(frames[count - 1], &object);
}

/* Where the outer return addresses lie on the stack, so that the next call can be told to have come the same way: the first
 * ones, and the last one if `last`, which is where functions of Python differ that call through the same C. */
static void find_slots(struct stack_entry *entry, const struct call *C, void *const *frames, int count, int last)
{
    const void *const *at = entry->frame, *const *end = readable_end(C);
    entry->checked = 0;
    for (int i = 1; i < count && entry->checked < STACKS_CHECKED; i++) {
        int left = SCAN_WORDS;
        do
            at++;
        while (at < end && unsigned_address(*at) != frames[i] && --left > 0);
        if (at >= end || left == 0) {
            /* Two paths that can't be told apart: the stack is not remembered. */
            if (last || !entry->checked)
                entry->caller = NULL;
            return;
        }
        if (last && i != count - 1 && entry->checked == STACKS_CHECKED - 1)
            continue;
        entry->outer[entry->checked].slot = at;
        entry->outer[entry->checked++].value = *at;
    }
}

static int granted(uint64_t key, uint32_t most)
{
    uint64_t used = map_add(&uses, key, 1);
    if (!used)
        map_set(&uses, key, 1);
    return used < most || (used & (used - 1)) == 0;
}

/* ---- functions of Python ---- */

static uint64_t key_with_python(const struct thread *thread, const struct c_stack *stack)
{
    return (stack->hash ^ python_key(thread)) | 1;
}

static struct c_stack *c_stack_of(const struct thread *thread, const struct stack_entry *entry)
{
    return &thread->python->c_stacks[entry - thread->stacks];
}

static struct python_place *place_of(const struct thread *thread, uint64_t key)
{
    return &thread->python->places[(key >> 1) % PYTHON_PLACES];
}

uint32_t stacks_usual_of_python(const struct thread *thread, const struct stack_entry *entry)
{
    uint64_t key = key_with_python(thread, c_stack_of(thread, entry));
    const struct python_place *place = place_of(thread, key);
    return place->key == key && !place->refused ? place->id : 0;
}

/* The place is the frames' as they are, which the interpreter is found by. */
static uint32_t with_python(struct c_stack *stack, struct thread *thread)
{
    struct python_frame python[2 * PYTHON_FRAMES];
    void *frames[FRAMES + PYTHON_FRAMES];
    int count =
        merge_python_stack(stack, python, python_frames(thread, python, 2 * PYTHON_FRAMES), frames, FRAMES + PYTHON_FRAMES);
    uint32_t id = id_of(frames, count);
    uint64_t key = key_with_python(thread, stack);
    *place_of(thread, key) = (struct python_place){.key = key, .id = id};
    return id;
}

static uint32_t id_with_python(const struct stack_entry *entry, const struct call *C, int worth)
{
    struct c_stack *stack = c_stack_of(C->thread, entry);
    uint64_t key = key_with_python(C->thread, stack);
    struct python_place *place = place_of(C->thread, key);
    if (place->key == key && (!place->refused || (!worth && --place->refused)))
        return place->id;
    if (worth || granted(~(uint64_t)C->caller, PYTHON_USES))
        return with_python(stack, C->thread);
    stack->id = stack->id ? stack->id : id_of(stack->pc, (int)stack->count);
    *place = (struct python_place){.key = key, .id = stack->id, .refused = REFUSED};
    return stack->id;
}

/* ---- */

static uint32_t unwind(struct stack_entry *entry, const struct call *C)
{
    void *frames[FRAMES];
    int saved = errno, first = 0;
    C->thread->unwinding = 1; /* both may allocate, and the program's malloc may call CUDA */
    find_own_stack(C->thread);
    int count = backtrace(frames, FRAMES), whole = count < FRAMES;
    while (first < count && frames[first] != C->caller)
        first++;
    if (first == count) {
        frames[0] = (void *)(uintptr_t)C->caller;
        first = 0;
        count = 1;
    }
    *entry = (struct stack_entry){.caller = C->caller, .frame = C->frame};
    /* Otherwise the last frames are the thread's start, below which the stack may end: nothing is looked for there. */
    int generated = ends_in_generated_code(frames + first, count - first);
    find_slots(entry, C, frames + first, count - first - (generated ? 0 : 2), generated);
    int python =
        entry->caller && python_may_call(frames + first, count - first, whole && !generated) && python_of(C->thread);
    if (python) {
        entry->refused = STACKS_PYTHON;
        merge_python_stack_keep(c_stack_of(C->thread, entry), frames + first, count - first,
                                hash(frames + first, count - first));
    }
    C->thread->unwinding = 0;
    errno = saved;
    entry->id = python ? with_python(c_stack_of(C->thread, entry), C->thread) : id_of(frames + first, count - first);
    return entry->id;
}

uint32_t stacks_known(const struct call *C)
{
    struct stack_entry *entry = C->thread->stacks ? stacks_entry(C->thread, C->caller, C->frame) : NULL;
    if (!entry || !stacks_match(entry, C->caller, C->frame) || entry->refused == 1)
        return 0;
    if (entry->refused == STACKS_PYTHON)
        return stacks_usual_of_python(C->thread, entry);
    entry->refused -= entry->refused != 0;
    return entry->id;
}

static int can_unwind(const struct thread *thread)
{
    return !thread->unwinding && __atomic_load_n(&warm, __ATOMIC_ACQUIRE) == WARM;
}

static uint32_t find(struct stack_entry *entry, const struct call *C, int worth)
{
    if (can_unwind(C->thread) && (worth || granted((uint64_t)C->caller, python_is_here() ? PYTHON_WAYS : FIRST_USES)))
        return unwind(entry, C);
    void *caller = (void *)(uintptr_t)C->caller;
    *entry = (struct stack_entry){.caller = C->caller, .frame = C->frame, .id = id_of(&caller, 1), .refused = REFUSED};
    return entry->id;
}

uint32_t stacks_id(struct call *C, int worth)
{
    if (!C->thread->stacks && !(C->thread->stacks = pages_keep(STACKS_PLACES * sizeof *C->thread->stacks)))
        return 0;
    struct stack_entry *entry = stacks_entry(C->thread, C->caller, C->frame);
    int same = stacks_match(entry, C->caller, C->frame);
    if (same && entry->refused == STACKS_PYTHON)
        return id_with_python(entry, C, worth);
    if (same && (!entry->refused || (!worth && --entry->refused)))
        return entry->id;
    return find(entry, C, worth);
}

void stacks_forget(struct thread *thread)
{
    if (thread->stacks)
        pages_clear(thread->stacks, STACKS_PLACES * sizeof *thread->stacks);
    python_forget(thread);
}

void stacks_warm_up(void)
{
    void *frame;
    uint32_t state = COLD;
    if (!__atomic_compare_exchange_n(&warm, &state, WARMING, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        if (state == WARMING)
            word_leaves(&warm, WARMING, WARM_UP_MS);
        return;
    }
    backtrace(&frame, 1);
    __atomic_store_n(&warm, WARM, __ATOMIC_RELEASE);
    word_wake(&warm);
}

void stacks_after_fork(void)
{
    warm = warm == WARM ? WARM : COLD; /* a thread that was at it is the parent's */
    map_reset(&by_content);
    map_reset(&uses);
    python_after_fork();
}

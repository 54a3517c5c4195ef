/* SPDX-License-Identifier: Apache-2.0
 *
 * What memory an operation touches, and how. Called once an operation that runs. Words come from the trace: they may be
 * any number. A word of a launch counts only if it lies in an allocation; what the kernel does there says its signature,
 * if it is known.
 */
#include "analysis/order/memory/touches.h"

#include <string.h>

#include "analysis/base/hints.h"
#include "analysis/model/classify.h"
#include "analysis/order/arguments/copy_rows.h"
#include "analysis/order/memory/access_cache.h"
#include "analysis/order/memory/access_check.h"
#include "analysis/order/memory/conflicts.h"
#include "analysis/order/memory/live_memories.h"
#include "analysis/order/memory/memory_use.h"
#include "analysis/order/memory/remembered.h"
#include "analysis/order/memory/signatures.h"
#include "analysis/order/memory/touch_parts.h"

struct operation {
    struct edge_query by;
    uint32_t count;           /* accesses so far */
    unsigned touches, opaque; /* classes of memory */
    bool tells_host;          /* it may write memory that the host can read */
    struct memory *freed;     /* NULL: none */
};

/* Whether there is room for one more access; else the operation is opaque. */
static bool counts(struct operation *operation)
{
    if (operation->count == TOUCHES_MOST)
        operation->opaque |= TOUCHES_ALL;
    return operation->count < TOUCHES_MOST;
}

static void add(struct verdicts *v, struct operation *operation, struct memory *memory, const struct touch *touch)
{
    if (!counts(operation))
        return;
    operation->touches |= memory->classes;
    operation->tells_host |= (memory->classes & TOUCHES_HOST) != 0 && touch->access != ACCESS_READ;
    uint32_t order = access_cache_order(v, operation->count++);
    if (touch->extent == EXTENT_FROM) {
        struct toucher by = access_cache_toucher(v, operation->by.strand);
        access_cache_look_in(v, &by, order, memory, touch->lo, touch->access);
        return;
    }
    access_check_range(v, &operation->by, memory, touch);
    memory_use_newest(v, memory, operation->by.strand, touch->access);
    remembered_add(v, operation->by.strand, memory, touch, v->now, v->end);
}

/* Rows of bytes as a range: without holes, with holes, or (pitch not known) from the first byte on. */
static struct touch range_of(uint64_t address, const struct copy_rows *size, enum access access)
{
    uint64_t width = size->width, height = size->height != 0 ? size->height : 1, pitch = size->pitch, rows, bytes;
    struct touch touch = {.lo = address, .access = access, .extent = EXTENT_EXACT};
    if (height != 1 && pitch != width)
        touch.extent = pitch < width ? EXTENT_FROM : EXTENT_HOLES;
    if (__builtin_mul_overflow(height - 1, pitch, &rows) || __builtin_add_overflow(rows, width, &bytes) ||
        __builtin_add_overflow(address, bytes, &touch.hi))
        touch.hi = UINT64_MAX;
    return touch;
}

static void add_part(struct verdicts *v, struct operation *operation, struct memory *part, const struct touch *touch)
{
    struct memory *memory = live_memories_whole(v, part);
    if (live_memories_are_only(memory, TOUCHES_GLOBAL))
        operation->opaque |= TOUCHES_GLOBAL;
    add(v, operation, memory, touch);
}

/* A range by its first byte, rows and pitch; without a pitch how far it reaches is not known. It may lie in several
 * allocations: chunks that are mapped side by side. */
static void add_range(struct verdicts *v, struct operation *operation, uint64_t address, const struct copy_rows *size,
                      unsigned kind, enum access access)
{
    if (size->width == 0 || address == 0)
        return;
    struct touch touch = range_of(address, size, access);
    if (touch.extent == EXTENT_FROM) {
        struct memory *memory = live_memories_part(v, address);
        touch.hi = memory != NULL ? memory->end : UINT64_MAX;
        add_part(v, operation, memory != NULL ? memory : live_memories_elsewhere(v), &touch);
    }
    for (uint64_t end = touch.hi; touch.extent != EXTENT_FROM && touch.lo < end; touch.lo = touch.hi) {
        struct memory *memory = live_memories_part(v, touch.lo);
        uint64_t until = memory != NULL ? memory->end : live_memories_next(v, touch.lo);
        touch.hi = until < end && operation->count + 1 < TOUCHES_MOST ? until : end;
        add_part(v, operation, memory != NULL ? memory : live_memories_elsewhere(v), &touch);
    }
    /* The host itself reads and writes pageable memory inside the call: nothing of that is pending for another thread. */
    if (classify_is_host_memory(kind) && kind != PTDS_MEMORY_PAGEABLE) {
        operation->touches |= TOUCHES_HOST;
        operation->tells_host |= access != ACCESS_READ;
    }
}

/* An open-ended access to the memory that a word names by its uid. Returns the memory's classes. */
static unsigned add_reached(struct verdicts *v, uint32_t strand, uint32_t order, uint64_t word)
{
    struct toucher by = access_cache_toucher(v, strand);
    enum access access = word >> PTDS_LAUNCH_ADDRESS_BITS == PTDS_REACHES_READ ? ACCESS_READ : ACCESS_UNKNOWN;
    return access_cache_touch(v, &by, order, live_memories_named(v, (uint32_t)word), access)->classes;
}

/* An access to an array: by its handle, or by the word that names the memory of which it is a part. */
static void add_array(struct verdicts *v, struct operation *operation, uint64_t handle, uint64_t word, enum access access)
{
    struct touch touch = {ARRAYS | handle, (ARRAYS | handle) + 1, access, EXTENT_HOLES};
    struct memory *memory = live_memories_part(v, touch.lo);
    if (!word_reaches(word))
        add(v, operation, memory != NULL ? memory : live_memories_elsewhere(v), &touch);
    else if (counts(operation))
        operation->touches |= add_reached(v, operation->by.strand, access_cache_order(v, operation->count++), word);
}

/* Pageable memory is read while the call runs, before anything else can happen to it. */
static void add_copy(struct verdicts *v, struct operation *operation, const struct call *call)
{
    unsigned to = call->r.kinds & 15, from = call->r.kinds >> 4;
    struct copy_rows into = copy_rows_of(call, true), outof = copy_rows_of(call, false);
    if (from == PTDS_MEMORY_ARRAY)
        add_array(v, operation, call_word(call, 1), copy_rows_reached(call, to == PTDS_MEMORY_ARRAY), ACCESS_READ);
    else if (from != PTDS_MEMORY_PAGEABLE)
        add_range(v, operation, call_word(call, 1), &outof, from, ACCESS_READ);
    if (to == PTDS_MEMORY_ARRAY)
        add_array(v, operation, call_word(call, 0), copy_rows_reached(call, 0), ACCESS_WRITE);
    else
        add_range(v, operation, call_word(call, 0), &into, to, ACCESS_WRITE);
}

static void add_whole(struct verdicts *v, struct operation *operation, struct memory *memory)
{
    if (memory != NULL)
        add(v, operation, live_memories_whole(v, memory),
            &(struct touch){memory->base, memory->end, ACCESS_WRITE, EXTENT_EXACT});
}

/* Whether the launch says which parameter each word is. A single word at place 0 may be of a trace that does not say. */
static inline bool offsets_are_known(struct verdicts *v, const struct call *call, const struct signature *signature)
{
    for (uint32_t i = LAUNCH_WORDS_AT; !v->offsets_seen && i < call->words; i++)
        v->offsets_seen = launch_offset(call_word(call, i)) != 0;
    return v->offsets_seen || signature->wide_first || signature->by_code;
}

/* Touches what the words before `words` point to; `signature` NULL: not known. Returns the classes of memory. Verdicts
 * spend most of their time here. */
static INLINE unsigned add_pointers(struct verdicts *v, const struct toucher *by, const struct call *call,
                                    const struct signature *signature, uint32_t words)
{
    const unsigned char *word = call->word + LAUNCH_WORDS_AT * sizeof(uint64_t),
                        *end = call->word + words * sizeof(uint64_t);
    const struct parameter *next = signature != NULL ? signature->parameters : NULL;
    uint32_t order = access_cache_order(v, 0);
    unsigned classes = 0;
    for (; word < end; word += sizeof(uint64_t)) {
        uint64_t value;
        memcpy(&value, word, sizeof value);
        enum access access =
            signature != NULL ? signatures_access_at(signature, launch_offset(value) / 8, &next) : ACCESS_UNKNOWN;
        if (__builtin_expect(access == ACCESS_NONE, 0))
            continue;
        const struct memory *memory = access_cache_touch(v, by, order, launch_address(value), access);
        if (memory == NULL)
            continue;
        classes |= memory->classes;
        order++;
    }
    return classes;
}

/* Touches what the words name that stand behind the pointers: memories by uid. */
static ASIDE unsigned add_unnamed(struct verdicts *v, uint32_t strand, const struct call *call, uint32_t from,
                                  uint32_t words)
{
    unsigned classes = 0;
    for (uint32_t i = from; i < words; i++) {
        if (word_reaches(call_word(call, i)))
            classes |= add_reached(v, strand, access_cache_order(v, i - LAUNCH_WORDS_AT), call_word(call, i));
    }
    return classes;
}

/* Touches the variables of the kernel's module, which no word names. */
static INLINE unsigned add_variables(struct verdicts *v, const struct toucher *by, const struct signature *signature)
{
    unsigned classes = signature->complete ? 0 : TOUCHES_GLOBAL;
    if (signature->variables == 0)
        return classes;
    const struct memory *memory = access_cache_touch(v, by, access_cache_order(v, TOUCHES_MOST - 1), signature->variables,
                                                     signature->variables_access);
    return classes |
           (memory != NULL ? memory->classes
                           : TOUCHES_SHARED); /* NULL: the module was unloaded, so the address may be in other memory */
}

/* Words beyond those that are followed: the classes that these may touch. */
static RARE unsigned beyond(struct verdicts *v, const struct call *call)
{
    for (uint32_t i = LAUNCH_WORDS_AT + TOUCHES_MOST; i < call->words; i++)
        if (word_reaches(call_word(call, i)) || live_memories_at(v, launch_address(call_word(call, i))) != NULL ||
            live_memories_near(v, launch_address(call_word(call, i))) != NULL)
            return TOUCHES_ALL;
    return 0;
}

/* Notes the classes of memory that the operation touches, and (`opaque`) those of which it may touch any memory. */
static INLINE void note_classes(struct verdicts *v, uint32_t strand, unsigned touches, unsigned opaque)
{
    if (touches & TOUCHES_SHARED)
        opaque |= TOUCHES_ALL;
    if ((opaque & TOUCHES_DEVICE) && v->globals_seen)
        opaque |= TOUCHES_GLOBAL;
    touches = (touches & ~(TOUCHES_SHARED | TOUCHES_WATCHED)) | opaque | v->times;
    if (touches != 0 && (v->opaque_strands.count != 0 || opaque != 0))
        conflicts_opaque(v, strand, touches, opaque);
    milestones_note(v, strand, strands_at(v, strand)->access, touches);
}

/* The recorder says that the operation may touch more than its words name. */
static inline bool is_opaque(const struct call *call)
{
    return (call->r.flags & (PTDS_CALL_OPAQUE | PTDS_CALL_WHY_MASK)) != 0;
}

static inline unsigned add_host(const struct call *call)
{
    return call->r.flags & PTDS_CALL_HOST_MEMORY ? TOUCHES_HOST : 0;
}

void touches_of_launch(struct verdicts *v, const struct call *call, uint32_t strand)
{
    const struct signature *signature = signatures_of(v, call->r.object);
    bool known = signature->parameters != NULL && offsets_are_known(v, call, signature),
         all = call->words <= LAUNCH_WORDS_AT + TOUCHES_MOST;
    uint32_t words = all ? call->words : LAUNCH_WORDS_AT + TOUCHES_MOST, pointers = words;
    while (pointers > LAUNCH_WORDS_AT &&
           (word_reaches(call_word(call, pointers - 1)) || word_is_part(call_word(call, pointers - 1))))
        pointers--;
    unsigned opaque = signature->opaque || is_opaque(call) ? TOUCHES_ALL : 0, touches = add_host(call);
    struct toucher by = access_cache_toucher(v, strand);
    if (pointers != words && word_is_part(call_word(call, pointers)))
        touches |= touch_parts_of_launch(v, &by, call, known ? signature : NULL, pointers);
    else
        touches |= known ? add_pointers(v, &by, call, signature, pointers) : add_pointers(v, &by, call, NULL, pointers);
    if (pointers != words)
        touches |= add_unnamed(v, strand, call, pointers, words);
    if (!signature->plain)
        touches |= add_variables(v, &by, signature);
    v->watched_used = touches >> TOUCHES_BITS_OF_CLASSES;
    if (touches & TOUCHES_HOST)
        strands_at(v, strand)->told_host = v->now;
    note_classes(v, strand, touches, all ? opaque : opaque | beyond(v, call));
}

/* A graph: what its nodes touch, by uid. */
static void add_all_reached(struct verdicts *v, struct operation *operation, const struct call *call)
{
    for (uint32_t i = 0; i < call->words; i++)
        if (counts(operation))
            operation->touches |=
                add_reached(v, operation->by.strand, access_cache_order(v, operation->count++), call_word(call, i));
    operation->tells_host |= (operation->touches & TOUCHES_HOST) != 0;
}

/* The operation waits for a value. It comes after the write of the value, by an order that the trace does not show. */
static void await_value(struct verdicts *v, uint32_t strand)
{
    if (!vclock_raise(&v->value_waits, strand, v->now)) {
        v->limited = true;
        v->unseen_order = v->now;
    }
}

/* Whether nodes of the graph wait for events or values, or its nodes are not known. */
static bool may_await(const struct call *call)
{
    uint32_t why = (call->r.flags & PTDS_CALL_WHY_MASK) >> PTDS_CALL_WHY_SHIFT;
    return why == PTDS_OPAQUE_EVENT || why == PTDS_OPAQUE_WAITS_FOR_VALUE || why == PTDS_OPAQUE_SEMAPHORE ||
           why == PTDS_OPAQUE_GRAPH;
}

static void take(struct verdicts *v, struct operation *operation, const struct call *call)
{
    uint64_t address = call_word(call, 0), bytes = call_word(call, 1);
    operation->touches |= add_host(call);
    if (is_opaque(call))
        operation->opaque |= TOUCHES_ALL;
    switch (call->r.op) {
    case PTDS_OP_COPY: add_copy(v, operation, call); break;
    case PTDS_OP_MEMSET:
        add_range(v, operation, address, &(struct copy_rows){bytes, call_word(call, 2), call_word(call, 3)},
                  call->r.kinds & 15, ACCESS_WRITE);
        break;
    /* A value that is written lets other work run, the host too, which may rely on all that came before the write. */
    case PTDS_OP_WRITE_VALUE:
        add_range(v, operation, address, &(struct copy_rows){bytes, 1, 0}, 0, ACCESS_WRITE);
        operation->opaque |= TOUCHES_ALL;
        break;
    case PTDS_OP_WAIT_VALUE:
        await_value(v, operation->by.strand);
        add_range(v, operation, address, &(struct copy_rows){bytes, 1, 0}, 0, ACCESS_READ);
        operation->opaque |= TOUCHES_ALL;
        break;
    case PTDS_OP_ATTACH: /* to a stream, or to the host: other uses of the memory fail from then on */
        if (bytes != 0)
            add_range(v, operation, address, &(struct copy_rows){bytes, 1, 0}, 0, ACCESS_WRITE);
        else
            add_whole(v, operation, live_memories_part(v, address));
        break;
    case PTDS_OP_ALLOC_ASYNC: add_whole(v, operation, live_memories_add(v, call)); break;
    case PTDS_OP_FREE_ASYNC:
        operation->freed = live_memories_of(v, call->r.object, address);
        add_whole(v, operation, operation->freed);
        break;
    case PTDS_OP_GRAPH_LAUNCH:
        if (may_await(call))
            await_value(v, operation->by.strand);
        add_all_reached(v, operation, call);
        break;
    case PTDS_OP_OPAQUE: await_value(v, operation->by.strand); /* fall through */
    case PTDS_OP_HOST_FUNCTION: operation->opaque |= TOUCHES_ALL; break;
    default: break;
    }
}

void touches_of_call(struct verdicts *v, const struct call *call, uint32_t strand)
{
    struct operation operation = {.by = {.strand = strand}};
    take(v, &operation, call);
    if (operation.tells_host)
        strands_at(v, strand)->told_host = v->now;
    note_classes(v, strand, operation.touches, operation.opaque);
    if (operation.freed != NULL)
        live_memories_remove(v, operation.freed);
}

/* The host touches all of the memory, after what the call has waited for. */
void touches_of_free(struct verdicts *v, const struct call_view *view, const struct cover *cover)
{
    const struct call *call = view->call;
    uint64_t handle = call->r.op == PTDS_OP_ARRAY_DESTROY ? ARRAYS : 0;
    struct memory *memory = live_memories_of(v, call->r.object, call_word(call, 0) | handle);
    struct edge_query by = {.strand = HOST_STRAND, .cover = cover};
    if (memory == NULL)
        return;
    if (memory->opened != 0) {
        memory->opened--;
        return;
    }
    if (cover != NULL ||
        view->scope == WAIT_NONE) /* the free waits for nothing: the host has to know that the memory is not in use */
        access_check_range(v, &by, live_memories_whole(v, memory),
                           &(struct touch){memory->base, memory->end, ACCESS_WRITE, EXTENT_EXACT});
    live_memories_remove(v, memory);
}

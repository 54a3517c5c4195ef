/* SPDX-License-Identifier: Apache-2.0
 *
 * Puts frames of C and of Python together. Called by stacks.c, when a stack is defined. The interpreter notes each entry
 * from C in a frame of its own, which lies on the C stack, so it is known which C frame stands for which functions of
 * Python. Must load nothing: the unwinder is the one that backtrace() has loaded.
 */
#include "interpose/record/stacks/merge_python_stack.h"

#include <string.h>
#include <unwind.h>

#include "interpose/base/elf.h"
#include "interpose/base/loaded.h"

static struct unwinder {
    _Unwind_Reason_Code (*walk)(_Unwind_Trace_Fn, void *);
    _Unwind_Word (*frame_at)(struct _Unwind_Context *);
    _Unwind_Ptr (*pc)(struct _Unwind_Context *);
} unwinder;
static uint32_t looked; /* 1 looking, 2 looked */

static int is_unwinder(const struct elf_object *object, void *data)
{
    struct unwinder *out = data;
    if (!object->soname || strcmp(object->soname, "libgcc_s.so.1") != 0)
        return 0;
    *(void **)&out->walk = elf_symbol(object, "_Unwind_Backtrace");
    *(void **)&out->frame_at = elf_symbol(object, "_Unwind_GetCFA");
    *(void **)&out->pc = elf_symbol(object, "_Unwind_GetIP");
    return 1;
}

static int has_unwinder(void)
{
    uint32_t none = 0;
    if (__atomic_compare_exchange_n(&looked, &none, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
        loaded_each(is_unwinder, &unwinder);
        __atomic_store_n(&looked, 2, __ATOMIC_RELEASE);
    }
    return __atomic_load_n(&looked, __ATOMIC_ACQUIRE) == 2 && unwinder.walk && unwinder.frame_at && unwinder.pc;
}

/* A frame's stack pointer is told with it, which is where the frame ends downwards. */
static _Unwind_Reason_Code note(struct _Unwind_Context *context, void *data)
{
    struct c_stack *stack = data;
    uint32_t known = 0;
    while (known < stack->count && stack->at[known])
        known++;
    if (known && known <= stack->count)
        stack->at[known] = unwinder.frame_at(context);
    if (known == stack->count)
        return _URC_END_OF_STACK;
    if (stack->pc[known] == (void *)unwinder.pc(context)) {
        stack->at[known] = unwinder.frame_at(context);
        return _URC_NO_REASON;
    }
    return known ? _URC_END_OF_STACK : _URC_NO_REASON;
}

void merge_python_stack_keep(struct c_stack *stack, void *const *frames, int count, uint64_t hash)
{
    *stack = (struct c_stack){.hash = hash, .count = (uint32_t)count};
    memcpy(stack->pc, frames, (size_t)count * sizeof *frames);
    if (has_unwinder())
        unwinder.walk(note, stack);
}

struct merged {
    void **frames;
    int count, most;
};

static void put(struct merged *out, uint64_t pc)
{
    if (out->count < out->most)
        out->frames[out->count++] = (void *)(uintptr_t)pc;
}

/* The functions from `from` on up to the next entry from C; past that. */
static int put_run(struct merged *out, const struct python_frame *python, int from, int count)
{
    while (from < count && python[from].pc)
        put(out, python[from++].pc);
    return from + 1;
}

/* The entry from C that ends the functions from `from` on; 0: it is not known. */
static uint64_t entry_of(const struct python_frame *python, int from, int count)
{
    while (from < count && python[from].pc)
        from++;
    return from < count ? python[from].entry : 0;
}

int merge_python_stack(const struct c_stack *stack, const struct python_frame *python, int count, void **frames, int most)
{
    struct merged out = {frames, 0, most};
    int next = 0;
    for (uint32_t i = 0; i < stack->count; i++) {
        uint64_t entry = entry_of(python, next, count);
        if (entry && stack->at[i] && entry >= stack->at[i] && entry < stack->at[i + 1])
            next = put_run(&out, python, next, count);
        else
            put(&out, (uint64_t)(uintptr_t)stack->pc[i]);
    }
    while (next < count)
        next = put_run(&out, python, next, count);
    return out.count;
}

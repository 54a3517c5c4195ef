/* SPDX-License-Identifier: Apache-2.0
 *
 * Which frames of a stack are whose: the shim's, CUDA's, the caller's. Called when a trace has been read, and by all who
 * ask where a call came from.
 */
#include "analysis/trace/frames.h"

#include <string.h>

#include "analysis/base/text.h"
#include "analysis/trace/definitions.h"

const struct object_def *frames_object_at(const struct definitions *defs, uint64_t pc)
{
    for (size_t i = defs->objects.count; i-- > 0;)
        if (pc >= defs->objects.items[i].base && pc < defs->objects.items[i].end)
            return &defs->objects.items[i];
    return NULL;
}

bool frames_is_cuda(const struct object_def *object)
{
    const char *path = object != NULL && object->text != NULL ? text_base(object->text) : "";
    return strncmp(path, "libcudart", 9) == 0 || strncmp(path, "libcuda.", 8) == 0;
}

/* The shim and its libraries. Their frames say how a call was seen, not where it came from. */
static bool is_shim(const struct object_def *object)
{
    const char *path = object != NULL && object->text != NULL ? text_base(object->text) : "";
    return strncmp(path, "libptds.so", 10) == 0 || strncmp(path, "libptds_cupti.so", 16) == 0;
}

uint32_t frames_caller(const struct definitions *defs, const struct stack_def *stack)
{
    uint32_t at = 0;
    while (at + 1 < stack->count && frames_is_cuda(frames_object_at(defs, stack->pc[at])))
        at++;
    return at;
}

/* The stack's count: there is none. */
static uint32_t innermost_source(const struct stack_def *stack)
{
    uint32_t at = 0;
    while (at < stack->count && (stack->pc[at] & PTDS_PC_SOURCE) == 0)
        at++;
    return at;
}

uint32_t frames_shown(const struct stack_def *stack, uint32_t caller)
{
    uint32_t source = innermost_source(stack);
    return source < stack->count ? source : caller;
}

uint32_t frames_nth_shown(const struct stack_def *stack, uint32_t n, uint32_t most)
{
    uint32_t source = innermost_source(stack), first = most / 2;
    if (n >= most)
        return stack->count;
    return n < first || source == stack->count || source < first ? n : source + (n - first);
}

const struct object_def *frames_calling_object(const struct definitions *defs, uint32_t stack)
{
    const struct stack_def *frames = stack != 0 ? definitions_stack(defs, stack) : NULL;
    if (frames == NULL || frames->count == 0)
        return NULL;
    return frames_object_at(defs, frames->pc[frames_caller(defs, frames)]);
}

/* Here and nowhere else, so that no identity, call site, folded stack or flame graph has a frame of ours in it. */
static void leave_shim_out(const struct definitions *defs, struct stack_def *stack)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < stack->count; i++)
        if (!is_shim(frames_object_at(defs, stack->pc[i])))
            stack->pc[kept++] = stack->pc[i];
    stack->count = kept;
}

static bool has_shim(const struct definitions *defs)
{
    for (size_t i = 0; i < defs->objects.count; i++)
        if (is_shim(&defs->objects.items[i]))
            return true;
    return false;
}

void frames_leave_shim_out(struct definitions *defs)
{
    bool look = has_shim(defs);
    for (size_t i = 0; look && i < defs->stacks.count; i++)
        leave_shim_out(defs, &defs->stacks.items[i]);
}

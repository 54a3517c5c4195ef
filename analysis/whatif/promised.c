/* SPDX-License-Identifier: Apache-2.0
 *
 * What comes after what because a policy promises legacy order where both use the same memory and one writes it, as far as
 * the shim keeps it (interpose/guard). Called by replay.c for each step that puts something on a stream.
 */
#include "analysis/whatif/promised.h"

#include "analysis/whatif/replay_state.h"

static struct memory *memory_of(struct run *run, const struct step_touch *touch)
{
    return ITEM(run, &run->memories, place_of(run, &run->memory_by_uid, touch->memory, run->memories.count));
}

static bool is_of_another(const struct memory *memory, const struct step *step)
{
    return memory->user != 0 && memory->user != step->thread + 1;
}

/* No sooner than these accesses. The shim waits for the newest that is on their lane by then, which comes later than what
 * they ask for, until a host has waited for them. */
static struct moment after_accesses(const struct run *run, unsigned roles, const struct moment *by_role,
                                    const uint32_t *lane_by_role, struct moment moment)
{
    moment = moment_of_roles(moment, roles, by_role);
    for (unsigned role = 0; role < ORDER_ROLES && run->assumptions->wide; role++) {
        const struct lane *lane = lane_by_role[role] != 0 ? &run->lanes.items[lane_by_role[role] - 1] : NULL;
        if ((roles & ORDER_OF(role)) != 0 && lane != NULL && by_role[role].at > lane->done.at)
            moment = moment_max(moment, &lane->end);
    }
    return moment;
}

/* The legacy stream got something since: what blocking streams did to the memory until then comes before what they do now.
 */
static void join_memory(const struct context *context, struct memory *memory)
{
    if (context->joins <= memory->joins)
        return;
    memory->joins = context->joins;
    memory->written_before = memory->written[ORDER_ROLE_BLOCKING];
    memory->read_before = memory->read[ORDER_ROLE_BLOCKING];
}

static void join_all(struct run *run, struct context *context)
{
    context->joins = ++run->joins;
    context->named_before = context->named[ORDER_ROLE_BLOCKING];
    context->opaque_before = context->opaque[ORDER_ROLE_BLOCKING];
}

/* Of two blocking streams, where the legacy stream got something in between. */
static struct moment after_joined(struct run *run, const struct step *step, struct moment moment)
{
    struct context *context = context_of(run, step);
    moment = moment_max(moment, step->opaque ? &context->named_before : &context->opaque_before);
    for (uint32_t i = 0; i < step->touches; i++) {
        const struct step_touch *touch = &run->recorded->touches.items[step->first + i];
        struct memory *memory = memory_of(run, touch);
        join_memory(context, memory);
        moment = moment_max(moment, &memory->written_before);
        if (touch->writes)
            moment = moment_max(moment, &memory->read_before);
    }
    return moment;
}

/* Where both use the same memory, and one writes it. */
static struct moment after_conflicts(struct run *run, const struct step *step, unsigned roles, struct moment moment)
{
    struct context *context = context_of(run, step);
    moment = moment_of_roles(moment, roles, step->opaque ? context->named : context->opaque);
    for (uint32_t i = 0; i < step->touches && roles != 0; i++) {
        const struct step_touch *touch = &run->recorded->touches.items[step->first + i];
        const struct memory *memory = memory_of(run, touch);
        run->queued |= (memory->hands >= BACK || is_of_another(memory, step)) && touch->writes;
        run->gathered |= memory->hands >= MANY_HANDS && touch->writes;
        moment = after_accesses(run, roles, memory->written, memory->writer, moment);
        if (touch->writes)
            moment = after_accesses(run, roles, memory->read, memory->reader, moment);
    }
    return moment;
}

void promised_note(struct run *run, const struct step *step, uint32_t lane, struct moment end)
{
    enum order_role role = step->order.named;
    struct context *context = context_of(run, step);
    if (role == ORDER_ROLE_LEGACY)
        join_all(run, context);
    raise(&context->named[role], end);
    if (step->opaque)
        raise(&context->opaque[role], end);
    if (step->shown)
        raise(&context->shown[role], end);
    for (uint32_t i = 0; i < step->touches; i++) {
        const struct step_touch *touch = &run->recorded->touches.items[step->first + i];
        struct memory *memory = memory_of(run, touch);
        join_memory(context, memory);
        raise(touch->writes ? &memory->written[role] : &memory->read[role], end);
        *(touch->writes ? &memory->writer[role] : &memory->reader[role]) = lane + 1;
        memory->hands += is_of_another(memory, step);
        memory->user = step->thread + 1;
    }
}

struct moment promised_after(struct run *run, const struct step *step, unsigned roles, struct moment moment)
{
    moment = after_conflicts(run, step, roles, moment);
    if (step->order.named == ORDER_ROLE_BLOCKING && (roles & ORDER_OF(ORDER_ROLE_LEGACY)) != 0)
        moment = after_joined(run, step, moment);
    if (step->op == PTDS_OP_EVENT_RECORD && run->assumptions->host_promises) /* for a host that waits for the event */
        moment = moment_of_roles(moment, roles, context_of(run, step)->shown);
    return moment;
}

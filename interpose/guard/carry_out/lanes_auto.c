/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread chooses by itself how many lanes it has. Called by guard.c for work, and by around_call.c when the host has
 * waited. The number changes only while the thread has no work under way: so no order hangs on lanes that it gives up. Must
 * keep errno.
 */
#include "interpose/guard/carry_out/lanes_auto.h"

#include "interpose/base/clock.h"
#include "interpose/base/lock.h"
#include "interpose/base/pages.h"
#include "interpose/env/env.h"
#include "interpose/guard/carry_out/issue.h"
#include "interpose/guard/carry_out/kinds.h"
#include "interpose/guard/carry_out/pool.h"
#include "interpose/guard/carry_out/pool_streams.h"
#include "interpose/guard/decide/lanes_choice.h"
#include "interpose/guard/decide/order_choose.h"
#include "interpose/guard/decide/repeat_rights.h"

/* What is the same for the same operation; where its memory lies is not. */
static uint64_t what(const struct call *C)
{
    uint64_t shape = C->op == PTDS_OP_LAUNCH ? C->word[0] ^ C->word[2] << 1 : C->op == PTDS_OP_COPY ? C->word[2] : 0;
    return (uint64_t)C->api << 48 ^ (uint64_t)C->object << 16 ^ shape ^ (uint64_t)C->touched.count << 8;
}

static int is_apart(const struct call *C, const struct thread_context *here)
{
    const struct order_op op = {.lane = here->lanes[0], .work = 1, .touched = &C->touched};
    lock_take(&guard_state.lock);
    int apart = order_choose_is_apart(&guard_state.order, &op);
    lock_drop(&guard_state.lock);
    return apart;
}

/* Its blocks wait for each other, so all must have room at once: beside another such kernel they may wait for ever. */
static int fills_the_device(const struct call *C)
{
    return C->op == PTDS_OP_LAUNCH && (C->word[2] >> 48 & PTDS_LAUNCH_COOPERATIVE) != 0;
}

/* No other thread has default-stream work in the context. What other threads do has lanes of its own already. */
static int is_alone(const struct thread_context *here)
{
    const struct pool *pool = here->context->pool;
    unsigned mine = here->lane_count, users = 0;
    for (unsigned i = 0; pool && i < pool->count; i++)
        users += pool->at[i].lane ? issue_users(pool->at[i].lane - 1u) : 0;
    return users <= mine;
}

/* At the first operation of a round, and ever more rarely: threads that begin at once all find themselves alone. */
static int is_time_to_look(uint32_t operations)
{
    return (operations & (operations - 1)) == 0;
}

/* A thread chooses in one context: in its first one, and when that is gone in the next. NULL: not in this one. */
static struct lanes_choice *choice_in(struct thread *thread, struct thread_context *here)
{
    const struct thread_context *chosen = thread->choosing;
    if (chosen == here)
        return thread->choice;
    if (chosen && chosen->context->uid == chosen->context_uid && !chosen->context->gone)
        return NULL;
    if (!thread->choice && !(thread->choice = pages_keep(sizeof *thread->choice)))
        return NULL;
    *thread->choice = (struct lanes_choice){0};
    thread->choosing = here;
    return thread->choice;
}

void lanes_auto_thread_ends(struct thread *thread)
{
    thread->choosing = NULL;
}

unsigned lanes_auto_spread(struct call *C, struct thread_context *here)
{
    struct lanes_choice *choice = choice_in(C->thread, here);
    if (!choice) {
        here->measured = 0;
        return 1;
    }
    if (choice->mode == LANES_ONE && is_time_to_look(choice->operations) && !env_get()->shake && !is_alone(here))
        lanes_choice_rest(choice);
    if (choice->mode != LANES_REST && C->guarded.kind == GUARD_WORK)
        lanes_choice_operation(choice, what(C), choice->mode == LANES_ONE && here->lane_count && is_apart(C, here),
                               clock_ticks());
    if (choice->mode == LANES_MANY && fills_the_device(C))
        C->touched.opaque = OPAQUE_OTHER; /* after all, and before all that follows, as on one stream */
    here->measured = choice->mode != LANES_REST;
    return choice->mode == LANES_MANY ? LANES_AUTO_MOST : 1;
}

static int waits(const struct call *C)
{
    return C->op == PTDS_OP_STREAM_SYNC || C->op == PTDS_OP_EVENT_SYNC || C->op == PTDS_OP_CTX_SYNC ||
           C->flags & PTDS_CALL_IMPLICIT;
}

static int is_done(const struct thread_context *here)
{
    const struct order *o = &guard_state.order;
    int done = 1;
    lock_take(&guard_state.lock);
    repeat_rights_catch_up(&guard_state.order, NULL);
    for (unsigned i = 0; i < here->lane_count; i++)
        done &= o->lanes[here->lanes[i]]->last <= o->lanes[here->lanes[i]]->completed;
    lock_drop(&guard_state.lock);
    return done;
}

static void keep_one_lane(struct thread_context *here)
{
    lock_take(&guard_state.lock);
    for (unsigned i = 1; i < here->lane_count; i++)
        issue_use(here->lanes[i], -1);
    here->lane_count = here->lane_count != 0;
    lock_drop(&guard_state.lock);
}

void lanes_auto_waited(struct call *C)
{
    struct thread_context *here = C->thread->last_context;
    struct lanes_choice *choice = here && here == C->thread->choosing ? C->thread->choice : NULL;
    if (!choice || !waits(C) || !here->context->pool || here->context->uid != here->context_uid ||
        (choice->mode != LANES_REST && !is_done(here)))
        return;
    unsigned seed = env_get()->shake;
    enum lanes_mode mode = seed ? lanes_choice_shaken(choice, seed) : lanes_choice_waited(choice, clock_ticks());
    if (mode == LANES_MANY && !seed && !is_alone(here)) {
        lanes_choice_rest(choice);
        mode = LANES_REST;
    }
    here->measured = mode != LANES_REST;
    if (mode == LANES_MANY) {
        unsigned wanted = pool_streams_wanted(C->thread, here->context, LANES_AUTO_MOST);
        pool_streams_make(here->context, wanted < LANES_AUTO_MOST ? wanted : LANES_AUTO_MOST, CU_STREAM_DEFAULT, 0, 0);
    } else if (here->lane_count > 1)
        keep_one_lane(here);
}

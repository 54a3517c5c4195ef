/* SPDX-License-Identifier: Apache-2.0
 *
 * The lanes that use a memory: when each of them did last, how much it has examined of the others, and whether the others
 * can still tell it anything. Called by accesses.c and places.c, so that single accesses are looked at, and noted ones
 * written back, only where one of them may matter. Must never say of a lane that it tells nothing where a look at each of
 * its accesses would change a verdict or a count.
 */
#include "analysis/order/blame.h"

#include <stdlib.h>

#include "analysis/base/heap.h"
#include "analysis/base/hints.h"

static bool give_room(struct memory *memory)
{
    uint32_t room = memory->users_room != 0 ? memory->users_room * 2 : USERS_LEAST;
    struct user *grown = room <= USERS_MOST ? heap_zeroed(room, sizeof *grown) : NULL;
    if (grown == NULL)
        return false;
    memory->used = 0;
    for (uint32_t i = 0; i < memory->users_room; i++) {
        uint32_t at = memory->users[i].lane % room;
        if (memory->users[i].born == 0)
            continue;
        grown[at] = memory->users[i];
        memory->used |= UINT64_C(1) << at;
    }
    free(memory->users);
    memory->users = grown;
    memory->users_room = room;
    return true;
}

/* Lanes whose places meet get more room, as long as there is any: who is forgotten has to look at everything again, and
 * what it did nobody can tell from then on. */
RARE struct user *users_more(struct verdicts *v, struct memory *memory, uint32_t lane)
{
    struct user *found = memory->users != NULL ? &memory->users[lane % memory->users_room] : NULL;
    while ((found == NULL || found->born != 0) && give_room(memory))
        found = &memory->users[lane % memory->users_room];
    memory->crowded |= found == NULL || (found->born != 0 && found->lane != lane);
    if (found != NULL)
        memory->used |= UINT64_C(1) << (found - memory->users);
    else
        found = &v->no_user;
    *found = (struct user){.born = lanes_at(v, lane)->born, .lane = lane};
    return found;
}

void users_leave(struct verdicts *v, struct memory *memory)
{
    if (memory->last == 0)
        return;
    struct user *user = users_of(v, memory, memory->lane, lanes_at(v, memory->lane)->born);
    user->newest[0] = memory->last;
    user->newest[1] = larger(user->newest[1], memory->changed);
    user->turn = memory->turn;
}

void users_go_on(const struct verdicts *v, struct memory *memory, const struct user *user)
{
    if (user->turn == 0 || user->turn == memory->turn || user->open != 0 || user->upto[1] != v->now)
        return;
    memory->turn = user->turn;
    memory->clear = 0;
    memory->tried = 0;
}

void users_begin_anew(struct verdicts *v, struct memory *memory)
{
    memory->turn = ++v->turns;
    for (uint64_t left = memory->used; left != 0; left &= left - 1)
        memory->users[__builtin_ctzll(left)].turn = 0;
}

void users_newest(struct verdicts *v, struct memory *memory, uint32_t lane, enum access access)
{
    if (memory->lane != lane) {
        memory->other = memory->last;
        memory->turn = ++v->turns;
        memory->tried = 0;
        memory->changed = 0;
    }
    memory->lane = lane;
    memory->last = v->now;
    memory->changed = access != ACCESS_READ ? v->now : memory->changed;
}

static inline uint64_t past_way(const struct way *way, uint64_t after)
{
    return way->own && way->after <= after ? larger(way->upto, after) : after;
}

/* blame_came_doubted of each operation after < op <= upto. */
static bool came_doubted(const struct verdicts *v, const struct lane *lane, uint32_t about, uint64_t after, uint64_t upto)
{
    struct known_list *list = blame_list(v, lane, about);
    if (list == NULL)
        return fans_came_doubted(v, lane, about, after, upto);
    const struct known *oldest = known_items(list), *known = oldest + list->count - 1;
    if (upto > known->op)
        return false;
    for (unsigned steps = 0; steps < LATELY; steps++, known--) {
        bool first = known == oldest, brings = first || known[-1].op < upto;
        if (brings && !blame_is_direct(v, known, about))
            return false;
        if (first || known[-1].op <= after)
            return true;
    }
    return false;
}

/* The lane learnt of operations after < op <= upto by implicit order: up to which of them it was blamed for such a pair
 * before. */
static uint64_t doubted_upto(const struct verdicts *v, const struct blame *by, uint32_t about, uint64_t after,
                             uint64_t upto)
{
    const struct lane *lane = lanes_at(v, by->lane);
    if (lanes_own(v, lane, about) < upto)
        return after;
    if (about < lane->blamed_room) {
        const struct blamed *blamed = &lane->blamed[about];
        after = past_way(&blamed->doubted, past_way(&blamed->proven, after));
    }
    return after >= upto || came_doubted(v, lane, about, after, upto) ? upto : after;
}

struct question users_in_question(const struct verdicts *v, const struct blame *by, const struct memory *memory,
                                  enum access access, uint64_t since)
{
    const struct lane *lane = lanes_at(v, by->lane), *host = lanes_at(v, HOST_LANE);
    struct question question = {.held = true};
    if (memory->crowded)
        return (struct question){.lanes = UINT64_MAX};
    for (uint64_t left = memory->used; left != 0; left &= left - 1) {
        const struct user *other = &memory->users[__builtin_ctzll(left)];
        uint64_t newest = other->newest[access == ACCESS_READ], done;
        if (newest <= since || other->lane == by->lane)
            continue;
        done = larger(since, lanes_explicit(lane, host, other->lane));
        question.doubted |= done < newest;
        if (done < newest && v->conflicts == NULL) /* who is told each conflict is told of those, too */
            done = doubted_upto(v, by, other->lane, done, newest);
        if (done >= newest)
            continue;
        question.since = question.lanes == 0 || done < question.since ? done : question.since;
        question.lanes |= UINT64_C(1) << other->lane % 64;
        question.held &= lanes_own(v, lane, other->lane) >= newest;
    }
    return question;
}

struct user *users_take_up(struct verdicts *v, uint32_t lane, struct memory *memory)
{
    struct blame by = {.lane = lane};
    struct question question = {.lanes = 0};
    users_leave(v, memory); /* first, for it may move them */
    struct user *user = users_of(v, memory, lane, lanes_at(v, lane)->born);
    if (user->turn == 0 || user->open != 0)
        return NULL;
    if (memory->last > user->upto[1])
        question = users_in_question(v, &by, memory, ACCESS_UNKNOWN, user->upto[1]);
    if (question.lanes != 0)
        return NULL;
    user->upto[0] = user->upto[1] = v->now;
    memory->other = memory->last;
    memory->lane = lane;
    memory->changed = 0;
    memory->turn = user->turn;
    memory->clear = 0;
    memory->tried = question.doubted ? v->now : 0;
    return user;
}

bool users_are_behind(const struct verdicts *v, uint32_t at, const struct memory *memory, uint64_t since)
{
    const struct lane *lane = lanes_at(v, at), *host = lanes_at(v, HOST_LANE);
    bool behind = !memory->crowded;
    for (uint64_t left = memory->used; left != 0 && behind; left &= left - 1) {
        const struct user *other = &memory->users[__builtin_ctzll(left)];
        behind =
            other->lane == at || other->newest[0] <= since || other->newest[0] <= lanes_explicit(lane, host, other->lane);
    }
    return behind;
}

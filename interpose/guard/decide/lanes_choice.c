/* SPDX-License-Identifier: Apache-2.0
 *
 * One lane or several, by measured rounds. Called by carry_out/lanes_auto.c, and by tests alone. Must not know the driver,
 * or read a clock.
 */
#include "interpose/guard/decide/lanes_choice.h"

#include <string.h>

void lanes_choice_rest(struct lanes_choice *choice)
{
    unsigned grows = choice->in_vain ? 4 : 2;
    choice->rest = choice->rests ? choice->rests : LANES_REST_FIRST * (choice->in_vain ? 4u : 1u);
    choice->rests = choice->rest * grows < LANES_REST_MOST ? choice->rest * grows : LANES_REST_MOST;
    choice->mode = LANES_REST;
}

/* What was measured before a rest may not hold any more. */
static enum lanes_mode wake(struct lanes_choice *choice)
{
    uint32_t rests = choice->rests;
    memset(choice, 0, sizeof *choice);
    choice->rests = rests;
    return LANES_ONE;
}

void lanes_choice_operation(struct lanes_choice *choice, uint64_t what, int apart, uint64_t now)
{
    if (!choice->operations++)
        choice->began = now;
    choice->newest = now;
    choice->apart += apart != 0;
    choice->sign = (choice->sign ^ what) * 0x9e3779b97f4a7c15u;
    choice->sign ^= choice->sign >> 29;
    if (choice->operations > LANES_ROUND_MOST && choice->mode == LANES_ONE)
        lanes_choice_rest(choice); /* between two lanes it must not change before the host has waited */
}

static struct lanes_kind *kind_of(struct lanes_choice *choice)
{
    for (unsigned i = 0; i < choice->count; i++) {
        if (choice->kinds[i].sign == choice->sign)
            return &choice->kinds[i];
    }
    if (choice->count == LANES_KINDS) {
        choice->count = 0;
        choice->before = 0;
    }
    struct lanes_kind *kind = &choice->kinds[choice->count++];
    *kind = (struct lanes_kind){.sign = choice->sign};
    return kind;
}

static void measured(struct lanes_kind *kind, unsigned mode, uint64_t ticks)
{
    uint64_t least = kind->times[mode] ? kind->ticks[mode] : ticks;
    if (kind->verdict == LANES_MANY_PAY)
        least = mode == LANES_MANY ? kind->last : ticks;
    kind->ticks[mode] = ticks < least ? ticks : least;
    kind->times[mode] += kind->times[mode] < UINT16_MAX;
    if (mode == LANES_MANY)
        kind->last = ticks;
}

static int pays(const struct lanes_kind *kind, unsigned gain)
{
    return kind->ticks[LANES_MANY] < kind->ticks[LANES_ONE] / 100 * (100 - gain);
}

static void decide(struct lanes_kind *kind)
{
    if (!kind->apart)
        kind->verdict = LANES_ONE_IS_ENOUGH;
    else if (kind->times[LANES_ONE] >= LANES_TRIES && kind->times[LANES_MANY] >= LANES_TRIES)
        kind->verdict = pays(kind, LANES_GAIN_CHOSEN) ? LANES_MANY_PAY : LANES_ONE_IS_ENOUGH;
    kind->until = kind->again = LANES_AGAIN_FIRST;
}

/* Of a kind for which several lanes were chosen. Where they no longer pay, all is measured again. */
static void compare(struct lanes_kind *kind, unsigned mode)
{
    if (mode == LANES_MANY) {
        kind->until -= kind->until != 0;
        return;
    }
    if (pays(kind, LANES_GAIN_STAYS))
        kind->until = kind->again = kind->again < LANES_AGAIN_MOST ? kind->again * 2 : LANES_AGAIN_MOST;
    else
        *kind = (struct lanes_kind){.sign = kind->sign, .apart = kind->apart, .next = kind->next};
}

/* Some kind may want several lanes. */
static int may_spread(const struct lanes_choice *choice)
{
    int may = 0;
    for (unsigned i = 0; i < choice->count; i++)
        may |= choice->kinds[i].verdict != LANES_ONE_IS_ENOUGH;
    return may;
}

static int spreads(const struct lanes_choice *choice)
{
    int any = 0;
    for (unsigned i = 0; i < choice->count; i++)
        any |= choice->kinds[i].verdict == LANES_MANY_PAY;
    return any;
}

/* For a round of this kind. */
static enum lanes_mode mode_for(const struct lanes_kind *kind)
{
    switch (kind->verdict) {
    case LANES_ONE_IS_ENOUGH: return LANES_ONE;
    case LANES_MANY_PAY: return kind->until ? LANES_MANY : LANES_ONE;
    default: return kind->times[LANES_ONE] < LANES_TRIES ? LANES_ONE : LANES_MANY;
    }
}

/* The GPU is what takes long. */
static int waits_long(const struct lanes_choice *choice, uint64_t ticks)
{
    return ticks - (choice->newest - choice->began) >= ticks / 100 * LANES_WAIT_LEAST;
}

static void round_over(struct lanes_choice *choice, struct lanes_kind *kind, uint64_t ticks)
{
    unsigned mode = choice->mode;
    if (mode == LANES_ONE)
        kind->apart = (uint16_t)(waits_long(choice, ticks) ? choice->apart : 0);
    if (choice->operations <= LANES_ROUND_MOST)
        measured(kind, mode, ticks);
    if (kind->verdict == LANES_MANY_PAY)
        compare(kind, mode);
    else if (kind->verdict == LANES_UNDECIDED)
        decide(kind);
    choice->in_vain |= kind->verdict == LANES_ONE_IS_ENOUGH && kind->times[LANES_MANY] != 0;
    choice->calm = may_spread(choice) ? 0 : (uint16_t)(choice->calm + 1);
    choice->watched = spreads(choice) ? 0 : (uint16_t)(choice->watched + 1);
    if (!choice->watched)
        choice->rests = 0;
}

enum lanes_mode lanes_choice_waited(struct lanes_choice *choice, uint64_t now)
{
    if (choice->mode == LANES_REST && --choice->rest)
        return LANES_REST;
    if (choice->mode == LANES_REST)
        return wake(choice);
    if (!choice->operations)
        return (enum lanes_mode)choice->mode;
    struct lanes_kind *kind = kind_of(choice);
    unsigned at = (unsigned)(kind - choice->kinds) + 1;
    if (choice->before)
        choice->kinds[choice->before - 1].next = (uint8_t)at;
    choice->before = (uint8_t)at;
    round_over(choice, kind, now - choice->began);
    choice->mode = kind->next ? mode_for(&choice->kinds[kind->next - 1]) : LANES_ONE;
    choice->operations = choice->apart = 0;
    choice->sign = 0;
    if (choice->calm >= LANES_CALM || choice->watched >= LANES_WATCHED_MOST)
        lanes_choice_rest(choice);
    return (enum lanes_mode)choice->mode;
}

enum lanes_mode lanes_choice_shaken(struct lanes_choice *choice, unsigned seed)
{
    uint32_t mixed = (seed * 0x9e3779b9u) ^ (++choice->shaken * 0x85ebca6bu);
    mixed = (mixed ^ mixed >> 15) * 0x2c1b3c6du;
    choice->mode = mixed >> 16 & 1 ? LANES_MANY : LANES_ONE;
    choice->operations = 0;
    return (enum lanes_mode)choice->mode;
}

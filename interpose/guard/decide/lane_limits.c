/* SPDX-License-Identifier: Apache-2.0
 *
 * Sets of (lane, moment) pairs: small arrays, whose memory is used again by size. Called by order*.c. Must not call malloc.
 */
#include "interpose/guard/decide/lane_limits.h"

#include "interpose/guard/decide/order.h"
#include "interpose/guard/decide/small_arrays.h"

static struct arrays arrays = {.element = sizeof(struct lane_limit)};

void lane_limits_drop(struct lane_limits *limits)
{
    if (limits->capacity)
        small_arrays_give_back(&arrays, limits->at, limits->capacity);
    *limits = (struct lane_limits){0};
}

static int grow(struct lane_limits *limits)
{
    struct lane_limit *larger = small_arrays_grow(&arrays, limits->at, limits->count, &limits->capacity);
    if (!larger)
        return 0;
    limits->at = larger;
    return 1;
}

moment lane_limits_until(const struct lane_limits *limits, unsigned lane)
{
    for (unsigned i = 0; i < limits->count; i++) {
        if (limits->at[i].lane == lane)
            return limits->at[i].until > limits->all ? limits->at[i].until : limits->all;
    }
    return limits->all;
}

void lane_limits_raise(struct lane_limits *limits, unsigned lane, moment until)
{
    if (!until)
        return;
    for (unsigned i = 0; i < limits->count; i++) {
        if (limits->at[i].lane == lane) {
            if (limits->at[i].until < until)
                limits->at[i].until = until;
            return;
        }
    }
    if (limits->count < limits->capacity || grow(limits))
        limits->at[limits->count++] = (struct lane_limit){(uint16_t)lane, until};
    else if (limits->all < until)
        limits->all = until;
}

void lane_limits_join(struct lane_limits *limits, const struct lane_limits *from)
{
    for (unsigned i = 0; i < from->count; i++)
        lane_limits_raise(limits, from->at[i].lane, from->at[i].until);
    if (limits->all < from->all)
        limits->all = from->all;
}

void lane_limits_copy(struct lane_limits *limits, const struct lane_limits *from)
{
    limits->count = 0;
    limits->all = 0;
    lane_limits_join(limits, from);
}

void lane_limits_prune(struct lane_limits *limits, const struct order *o)
{
    uint16_t kept = 0;
    for (unsigned i = 0; i < limits->count; i++) {
        const struct lane *lane = o->lanes[limits->at[i].lane];
        if (lane && limits->at[i].until > lane->completed)
            limits->at[kept++] = limits->at[i];
    }
    limits->count = kept;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * What legacy order promises, in the guard's terms (guard/decide/order.h), as far as a call or an event carries it.
 */
#ifndef PTDS_PROMISE_H
#define PTDS_PROMISE_H

#include <stdint.h>

enum { PROMISE_LANES = 256 };

typedef uint64_t moment; /* operations of the process, counted; 0: never */

static inline moment moment_later(moment a, moment b)
{
    return a > b ? a : b;
}

static inline moment moment_earlier(moment a, moment b)
{
    return a < b ? a : b;
}

/* Up to which moment the operations of some lanes are covered. A lane's number may be another stream's by now: that one's
 * operations are all later, and its predecessor's are known to be done. */
struct lane_limit {
    uint16_t lane;
    moment until;
};
struct lane_limits {
    uint16_t count, capacity;
    moment all; /* every lane is covered up to here: there was no memory for a pair. 0: there was */
    struct lane_limit *at;
};

/* What an event carries, or what a lane was promised through events. */
struct promise {
    uint16_t domain;
    moment defaults, blocking; /* all operations of the domain's default and blocking lanes before these moments */
    struct lane_limits limits; /* and of single lanes up to these, included */
};

/* What a stream was promised whose lane serves another one until it works again, besides single lanes' work. */
struct promise_kept {
    moment last, default_then, defaults, blocking; /* as in struct lane (guard/decide/order.h) and its promise */
};

#endif

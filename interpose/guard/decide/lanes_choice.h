/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a thread's default-stream work gets one lane or several (PTDS_LANES=auto). Decided from what was measured: what a
 * thread does between two waits of the host is a round; rounds of one kind are run with one lane and with several, and the
 * faster way stays. Each function has one caller at a time: the thread.
 */
#ifndef PTDS_LANES_CHOICE_H
#define PTDS_LANES_CHOICE_H

#include <stdint.h>

enum lanes_mode {
    LANES_ONE,  /* one lane; the round is measured */
    LANES_MANY, /* several; likewise */
    LANES_REST  /* one lane, and nothing is measured: the round may go the guard's short way */
};

/* Kinds that are told apart; operations of the longest round that is measured; how often a kind is measured each way before
 * something is decided. */
enum { LANES_KINDS = 8, LANES_ROUND_MOST = 1024, LANES_TRIES = 2 };

/* The share of a round, in per cent, that the host must spend after the last operation, waiting: else the host is what
 * takes long, and no number of lanes helps. */
enum { LANES_WAIT_LEAST = 20 };

/* By how much several lanes must be faster, in per cent of the time with one: to be chosen; to stay. */
enum { LANES_GAIN_CHOSEN = 3, LANES_GAIN_STAYS = 1 };

/* Rounds: until the comparison is made again, doubled each time; watched without a use for more lanes before a rest, and
 * without a gain from them. The first rest, doubled each time; where several lanes were tried in vain, four times as long
 * each. */
enum {
    LANES_AGAIN_FIRST = 32,
    LANES_AGAIN_MOST = 1024,
    LANES_CALM = 4,
    LANES_WATCHED_MOST = 64,
    LANES_REST_FIRST = 8,
    LANES_REST_MOST = 4096
};

enum lanes_verdict { LANES_UNDECIDED, LANES_ONE_IS_ENOUGH, LANES_MANY_PAY };

/* Rounds with the same operations in the same order. */
struct lanes_kind {
    uint64_t sign;
    uint64_t ticks[2]; /* by mode: the least so far; where several lanes were chosen, of the last two */
    uint64_t last;     /* of the last round with several */
    uint16_t times[2];
    uint16_t apart; /* operations of a round that need not come after the one before */
    uint8_t verdict;
    uint8_t next; /* the kind that came after it last, + 1; 0: not known */
    uint16_t until, again;
};

struct lanes_choice {
    uint8_t mode;   /* of the round at hand */
    uint8_t before; /* the kind of the last round, + 1 */
    uint8_t count;
    uint8_t in_vain;        /* several lanes were tried since the last rest, and did not pay */
    uint16_t calm, watched; /* rounds: for which one lane is enough; since the last rest */
    uint32_t shaken;        /* rounds so far, of a run that is shaken */
    uint32_t rest, rests;   /* rounds of rest that are left; how long the next rest is, 0: as the first one */
    uint32_t operations, apart;
    uint64_t sign, began, newest; /* of the round at hand: what it is, when it began, when its newest operation came */
    struct lanes_kind kinds[LANES_KINDS];
};

/* One more operation of the round: `what` is the same for the same operation; `apart`: with one lane it waits for work that
 * it does not need; `now`: a clock's ticks. Not to be called at rest. May begin a rest. */
void lanes_choice_operation(struct lanes_choice *choice, uint64_t what, int apart, uint64_t now);

/* Several lanes are no use as things are: other threads have work beside this one's. Not in a round with several. */
void lanes_choice_rest(struct lanes_choice *choice);

/* The host has waited for all work of the thread: the round is over. Returns the mode of the next one. */
enum lanes_mode lanes_choice_waited(struct lanes_choice *choice, uint64_t now);

/* The same where work starts late at random (PTDS_SHAKE): so does the choice, by the seed; nothing is measured. */
enum lanes_mode lanes_choice_shaken(struct lanes_choice *choice, unsigned seed);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * The word: is a policy right for this program, and what does it gain? Pure: decided from what was measured and nothing
 * else.
 */
#ifndef PTDS_ANALYSIS_PROBE_ANSWER_POLICY_ANSWER_H
#define PTDS_ANALYSIS_PROBE_ANSWER_POLICY_ANSWER_H

#include "analysis/base/line.h"
#include "analysis/probe/runs/child.h"
#include "analysis/probe/runs/run_record.h"
#include "analysis/probe/outputs/same.h"
#include "analysis/probe/answer/times.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What was measured of one variant, held against the bare runs. */
struct facts {
    const char *name;     /* "bare", or the policy */
    unsigned runs;        /* runs that came to an end, or to the limit */
    unsigned unlike;      /* of these runs: those that ended otherwise than bare, or with other output */
    struct ending ending; /* the first ending that is not bare's; where every ending is, the first one */
    bool ended_unlike;
    unsigned ended_round;
    unsigned leaves;              /* runs that left processes in the background */
    const char *thing;            /* what differs first: "standard output", the name of a file; NULL: nothing differs */
    struct difference difference; /* the first difference in `thing` */
    bool by_command;              /* the command of --compare found the difference: there is no line */
    struct difference outside;    /* of the first run whose left-out numbers lie far from those of bare */
    const char *outside_thing;
    struct difference far; /* of the rounds that count, the one whose left-out numbers lie farthest from those of all
                              variants that move nothing */
    const char *far_thing; /* what `far` is in; NULL: no number lies far */
    unsigned round;        /* the round of `difference`; of a shaken variant its seed */
    struct times times;    /* of the rounds that count */
    struct times cuda;     /* of them, of the CUDA work; counts none where that is not known */
    uint64_t limit_ns;     /* END_TIMED_OUT */
};

/* What could be compared at all, learnt from the bare runs. */
struct comparable {
    bool nothing_printed; /* only the exit status could be compared */
    bool no_number;       /* what is printed has numbers, and all of them vary */
    const char *thing;    /* what should have been compared and could not; NULL: all could */
    enum varies varies;
    size_t line;
    bool missing;    /* a file that no bare run wrote */
    bool by_command; /* --compare finds two bare runs different */
    bool broken;     /* or cannot say: how it ended */
    struct ending ending;
};

/* What a replay of the record under a policy says beforehand. */
struct forecast {
    bool known;
    double least, most; /* times faster */
};

/* The forecast for a policy; known where the record has times on the GPU. bare_ns: how long the whole program takes
 * bare, of which the predicted gain is a part; 0: forecast for the CUDA work alone. */
struct forecast policy_answer_forecast(const struct record *observed, const char *policy, uint64_t bare_ns);

struct evidence {
    const struct facts *bare, *none, *observe, *policy;
    const struct facts *shaken, *shaken_none; /* the same with work delayed; NULL, or no run: not asked for */
    const struct record *observed;            /* of the observe run */
    const struct record *own;                 /* of the policy's warm-up */
    const char *said;                         /* what the shim said under the policy; NULL: nothing */
    unsigned bare_runs;                       /* that the output was compared with */
    struct comparable comparable;
    struct forecast forecast; /* of the CUDA work where its times are known, else of the whole program */
    bool interrupted;
    unsigned rounds, done; /* rounds that were asked for, and those that all variants came through, without the first */
};

enum word { WORD_RIGHT, WORD_NOTHING, WORD_DO_NOT, WORD_CANNOT_TELL, WORDS };

enum why {
    WHY_FASTER,
    WHY_SAME_TIME,
    WHY_PACE_UNKNOWN, /* too few rounds to speak of times */
    WHY_NO_GAIN,      /* the record says why: record.cost */
    WHY_SLOWER,
    WHY_OUTPUT,
    WHY_ENDING,
    WHY_HANGS,
    WHY_SHAKEN, /* only with work delayed: output or the ending differs, and under none it does not */
    WHY_RECORD, /* same output, but the record proves an order missing that a result needs */
    WHY_NOT_STARTED,
    WHY_BARE_FAILS,
    WHY_BARE_HANGS,
    WHY_TERMINAL,
    WHY_LEAVES, /* processes in the background, whose work nobody has seen */
    WHY_NOT_COMPARABLE,
    WHY_OBSERVE_TOO, /* under observe or none, which move nothing, output or the ending differs as well */
    WHY_TIME,        /* what differs has a unit of time */
    WHY_FAR,         /* what varies by itself lies far from where it did, and is no time */
    WHY_NO_CUDA,
    WHY_NOT_IN_FORCE,
    WHY_INTERRUPTED,
    WHYS
};

/* A policy's times against those it is compared with. */
struct speedup {
    enum pace pace;
    double ratio; /* of the medians: how many times faster, or slower; 0 unknown */
};

struct answer {
    enum word word;
    enum why why;
    struct speedup whole; /* of the process, against bare */
    struct speedup cuda;  /* of its CUDA work, against none, where that stays on the default stream, too */
};

struct answer policy_answer_of(const struct evidence *evidence);

/* The first seed with which a shaken variant's output or ending was not bare's; 0: there is none. */
unsigned policy_answer_seed(const struct facts *shaken);

/* Of the variants that move nothing, one that differs from bare in the same thing as the policy does; NULL: none does. */
const struct facts *policy_answer_too(const struct evidence *evidence);

/* The exit status: 0 right or nothing to gain, 1 do not, 2 the program could not be run, 3 cannot tell. */
int policy_answer_status(const struct answer *answer);

extern const char *const word_names[WORDS], *const why_names[WHYS]; /* of JSON */

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Decides the word. Called by probe.c; reads no file and no clock. Must call nothing right that was not compared, and
 * nothing faster that a repetition may undo.
 */
#include "analysis/probe/answer/policy_answer.h"
#include "analysis/views/cost_words.h"

#include <string.h>

const char *const word_names[WORDS] = {"right", "nothing-to-gain", "do-not", "cannot-tell"};

const char *const why_names[WHYS] = {
    [WHY_FASTER] = "faster",
    [WHY_SAME_TIME] = "no-measurable-difference",
    [WHY_PACE_UNKNOWN] = "too-few-rounds-for-times",
    [WHY_NO_GAIN] = "nothing-waits",
    [WHY_SLOWER] = "slower",
    [WHY_OUTPUT] = "output-differs",
    [WHY_ENDING] = "ends-otherwise",
    [WHY_HANGS] = "hangs",
    [WHY_SHAKEN] = "differs-with-work-delayed",
    [WHY_RECORD] = "needed-order-missing",
    [WHY_NOT_STARTED] = "not-started",
    [WHY_BARE_FAILS] = "bare-fails",
    [WHY_BARE_HANGS] = "bare-hangs",
    [WHY_TERMINAL] = "wants-the-terminal",
    [WHY_LEAVES] = "leaves-processes",
    [WHY_NOT_COMPARABLE] = "output-not-comparable",
    [WHY_OBSERVE_TOO] = "differs-under-observe",
    [WHY_TIME] = "looks-like-a-time",
    [WHY_FAR] = "number-far-from-bare",
    [WHY_NO_CUDA] = "no-cuda-call",
    [WHY_NOT_IN_FORCE] = "policy-not-in-force",
    [WHY_INTERRUPTED] = "interrupted",
};

static struct answer say(enum word word, enum why why)
{
    return (struct answer){.word = word, .why = why};
}

/* What the bare runs say by themselves; WHYS: they are fine. */
static enum why of_bare(const struct facts *bare)
{
    if (bare->runs == 0 && bare->ending.end != END_NOT_STARTED)
        return WHY_INTERRUPTED;
    switch (bare->ending.end) {
    case END_EXITED: return bare->ending.code != 0 ? WHY_BARE_FAILS : bare->leaves != 0 ? WHY_LEAVES : WHYS;
    case END_SIGNALLED: return WHY_BARE_FAILS;
    case END_TIMED_OUT: return WHY_BARE_HANGS;
    case END_TERMINAL: return WHY_TERMINAL;
    case END_NOT_STARTED: return WHY_NOT_STARTED;
    default: return WHY_INTERRUPTED;
    }
}

/* Other times are no reason for another result. */
static bool differs_so(const struct facts *facts, const struct facts *policy)
{
    return facts->thing != NULL && (!facts->difference.like_time || policy->difference.like_time);
}

/* What observe or none did to the program, which change no order, another policy need not have done. */
const struct facts *policy_answer_too(const struct evidence *evidence)
{
    const struct facts *unmoved[] = {evidence->observe, evidence->none};
    for (unsigned i = 0; i < sizeof unmoved / sizeof unmoved[0]; i++)
        if (evidence->policy->ended_unlike ? unmoved[i]->ended_unlike : differs_so(unmoved[i], evidence->policy))
            return unmoved[i];
    return NULL;
}

static struct answer ended_otherwise(const struct evidence *evidence)
{
    if (evidence->policy->ending.end == END_NOT_STARTED)
        return say(WORD_CANNOT_TELL, WHY_NOT_STARTED);
    if (policy_answer_too(evidence) != NULL)
        return say(WORD_CANNOT_TELL, WHY_OBSERVE_TOO);
    return say(WORD_DO_NOT, evidence->policy->ending.end == END_TIMED_OUT ? WHY_HANGS : WHY_ENDING);
}

/* A number that is another one than bare's by more than the whole process's time may be, where that is the same. */
static bool is_no_time(const struct evidence *evidence, double ns)
{
    const struct times *bare = &evidence->bare->times, *policy = &evidence->policy->times;
    enum pace cuda = times_pace(&evidence->none->cuda, &evidence->policy->cuda);
    return times_pace(bare, policy) == PACE_SAME && (cuda == PACE_SAME || cuda == PACE_UNKNOWN) &&
           ns > (double)times_noise(bare, policy);
}

/* One bare run teaches nothing of what varies by itself. */
static struct answer differs(const struct evidence *evidence)
{
    const struct difference *difference = &evidence->policy->difference;
    if (evidence->bare_runs < 2)
        return say(WORD_CANNOT_TELL, WHY_INTERRUPTED);
    if (policy_answer_too(evidence) != NULL)
        return say(WORD_CANNOT_TELL, WHY_OBSERVE_TOO);
    if (difference->like_time && !is_no_time(evidence, difference->time_ns))
        return say(WORD_CANNOT_TELL, WHY_TIME);
    return say(WORD_DO_NOT, WHY_OUTPUT);
}

/* A time may differ: work was delayed. */
unsigned policy_answer_seed(const struct facts *shaken)
{
    if (shaken == NULL || shaken->runs == 0)
        return 0;
    if (shaken->ended_unlike)
        return shaken->ended_round;
    return shaken->thing != NULL && !shaken->difference.like_time ? shaken->round : 0;
}

/* What differs under none as well is the program's own doing. */
static bool is_shown_wrong(const struct evidence *evidence)
{
    const struct facts *none = evidence->shaken_none;
    return policy_answer_seed(evidence->shaken) != 0 && none != NULL && none->runs != 0 && policy_answer_seed(none) == 0;
}

/* The record of this policy's own run proves what the output of few runs does not show. */
static bool is_proven_wrong(const struct evidence *evidence)
{
    return evidence->own->doubt == DOUBT_WRONG && evidence->observed->doubt != DOUBT_WRONG;
}

static bool record_says_no_gain(const struct record *observed)
{
    return cost_words_no_gain[observed->cost] != NULL;
}

/* The results are right: what about the time? */
static struct answer of_times(const struct evidence *evidence)
{
    const struct times *bare = &evidence->bare->times, *policy = &evidence->policy->times;
    switch (times_pace(bare, policy)) {
    case PACE_FASTER: return say(WORD_RIGHT, WHY_FASTER);
    case PACE_SLOWER: return say(WORD_DO_NOT, WHY_SLOWER);
    case PACE_SAME:
        if (times_pace(&evidence->none->cuda, &evidence->policy->cuda) == PACE_FASTER)
            return say(WORD_RIGHT, WHY_FASTER);
        return record_says_no_gain(evidence->observed) ? say(WORD_NOTHING, WHY_NO_GAIN) : say(WORD_RIGHT, WHY_SAME_TIME);
    default: return say(WORD_RIGHT, WHY_PACE_UNKNOWN);
    }
}

static struct answer decide(const struct evidence *evidence)
{
    enum why bare = of_bare(evidence->bare);
    if (bare != WHYS)
        return say(WORD_CANNOT_TELL, bare);
    if (evidence->policy->ended_unlike)
        return ended_otherwise(evidence);
    if (evidence->policy->runs == 0)
        return say(WORD_CANNOT_TELL, WHY_INTERRUPTED);
    if (!evidence->interrupted && evidence->observed->processes == 0)
        return say(WORD_CANNOT_TELL, evidence->said != NULL ? WHY_NOT_IN_FORCE : WHY_NO_CUDA);
    if (evidence->policy->leaves != 0)
        return say(WORD_CANNOT_TELL, WHY_LEAVES);
    if (evidence->policy->thing != NULL)
        return differs(evidence);
    if (is_shown_wrong(evidence))
        return say(WORD_DO_NOT, WHY_SHAKEN);
    if (is_proven_wrong(evidence))
        return say(WORD_DO_NOT, WHY_RECORD);
    if (evidence->interrupted)
        return say(WORD_CANNOT_TELL, WHY_INTERRUPTED);
    if (evidence->comparable.thing != NULL)
        return say(WORD_CANNOT_TELL, WHY_NOT_COMPARABLE);
    if (evidence->own->processes == 0)
        return say(WORD_CANNOT_TELL, WHY_NOT_IN_FORCE);
    if (evidence->policy->far_thing != NULL && is_no_time(evidence, evidence->policy->far.far_ns))
        return say(WORD_CANNOT_TELL, WHY_FAR);
    return of_times(evidence);
}

static double times_faster(uint64_t bare_ns, uint64_t recorded_ns, uint64_t replayed_ns)
{
    double after = (double)bare_ns - ((double)recorded_ns - (double)replayed_ns);
    return after > 0 ? (double)bare_ns / after : 0;
}

struct forecast policy_answer_forecast(const struct record *observed, const char *policy, uint64_t bare_ns)
{
    struct forecast forecast = {0};
    for (unsigned i = 0; observed->replayed && i < WHATIF_POLICIES; i++) {
        const struct whatif *whatif = &observed->whatif;
        if (strcmp(whatif_names[i], policy) != 0)
            continue;
        uint64_t of_ns = bare_ns != 0 ? bare_ns : whatif->recorded;
        forecast.least = times_faster(of_ns, whatif->recorded, whatif->policies[i].most);
        forecast.most = times_faster(of_ns, whatif->recorded, whatif->policies[i].least);
        forecast.known = forecast.least > 0 && forecast.most > 0;
    }
    return forecast;
}

static struct speedup gain_of(const struct times *bare, const struct times *policy)
{
    struct speedup gain = {.pace = times_pace(bare, policy)};
    double before = (double)bare->median, after = (double)policy->median;
    if (before > 0 && after > 0)
        gain.ratio = before > after ? before / after : after / before;
    return gain;
}

struct answer policy_answer_of(const struct evidence *evidence)
{
    struct answer answer = decide(evidence);
    answer.whole = gain_of(&evidence->bare->times, &evidence->policy->times);
    answer.cuda = gain_of(&evidence->none->cuda, &evidence->policy->cuda);
    return answer;
}

int policy_answer_status(const struct answer *answer)
{
    switch (answer->word) {
    case WORD_DO_NOT: return 1;
    case WORD_CANNOT_TELL: return answer->why == WHY_NOT_STARTED ? 2 : 3;
    default: return 0;
    }
}

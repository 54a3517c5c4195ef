/* SPDX-License-Identifier: Apache-2.0
 *
 * The first line of the screen. Called by screen.c and probe_json.c. Decides nothing but the words.
 */
#include "analysis/probe/answer/policy_answer_words.h"

#include "analysis/base/line.h"
#include "analysis/probe/answer/policy_answer.h"
#include "analysis/views/cost_words.h"

#include <stdio.h>
#include <string.h>

enum { LINE_TEXT = 40 };

struct line policy_answer_words_ending(struct ending ending, uint64_t limit_ns)
{
    struct line line = {0};
    switch (ending.end) {
    case END_EXITED: line_add(&line, "ends with status %d", ending.code); break;
    case END_SIGNALLED: line_add(&line, "ends by signal %d (%s)", ending.code, strsignal(ending.code)); break;
    case END_TIMED_OUT: line_add(&line, "does not end in %s", text_ns(limit_ns).text); break;
    case END_TERMINAL: line_add(&line, "wants the terminal"); break;
    case END_NOT_STARTED: line_add(&line, "cannot be started: %s", strerror(ending.code)); break;
    default: line_add(&line, "was interrupted"); break;
    }
    return line;
}

/* "2.6x faster " */
static void add_pace(struct line *line, const struct speedup *gain, const char *before)
{
    if (gain->pace == PACE_FASTER || gain->pace == PACE_SLOWER)
        line_add(line, "%.*fx %s ", gain->ratio < 1.095 ? 2 : 1, gain->ratio,
                 gain->pace == PACE_FASTER ? "faster" : "slower");
    else
        line_add(line, "%s%s ", before,
                 gain->pace == PACE_SAME ? "no measurable difference" : "too few rounds to speak of times");
}

/* "12.4 ms, bare 32.3 ms"; where they do not differ, what they would have to differ by. */
static void add_medians(struct line *line, const struct speedup *gain, const struct times *bare, const struct times *policy)
{
    line_add(line, "%s, bare %s", text_ns(policy->median).text, text_ns(bare->median).text);
    if (gain->pace != PACE_SAME)
        return;
    if (times_under_floor(bare, policy))
        line_add(line, ", less than %s apart", text_ns(TIMES_FLOOR_NS).text);
    else
        line_add(line, ", spread %s", text_ns(bare->spread > policy->spread ? bare->spread : policy->spread).text);
}

static void add_forecast(struct line *line, const struct forecast *forecast)
{
    if (forecast->known)
        line_add(line, "; predicted %.1fx to %.1fx", forecast->least, forecast->most);
}

static bool is_known(const struct times *bare, const struct times *policy)
{
    return bare->count != 0 && policy->count != 0;
}

/* "the CUDA part 2.6x faster (12.4 ms, bare 32.3 ms; predicted 2.4x to 2.8x), the whole process 1.2x faster (575.9 ms, bare
 * 676.7 ms)"; where neither differs, that is said once. */
static void add_both(struct line *line, const struct answer *answer, const struct evidence *evidence)
{
    const struct speedup *cuda = &answer->cuda, *whole = &answer->whole;
    bool alike = cuda->pace == whole->pace && cuda->pace != PACE_FASTER && cuda->pace != PACE_SLOWER;
    if (!alike)
        line_add(line, "the CUDA part ");
    add_pace(line, cuda, alike ? "" : "with ");
    line_add(line, alike ? "(the CUDA part " : "(");
    add_medians(line, cuda, &evidence->none->cuda, &evidence->policy->cuda);
    add_forecast(line, &evidence->forecast);
    line_add(line, alike ? "; the whole process " : "), the whole process ");
    if (!alike) {
        add_pace(line, whole, "with ");
        line_add(line, "(");
    }
    add_medians(line, whole, &evidence->bare->times, &evidence->policy->times);
    line_add(line, ")");
}

/* Where the CUDA part is not known: "2.6x faster (12.4 ms, bare 32.3 ms)". */
static void add_times(struct line *line, const struct answer *answer, const struct evidence *evidence)
{
    const struct facts *bare = evidence->bare, *policy = evidence->policy;
    if (!is_known(&bare->times, &policy->times))
        return;
    if (is_known(&evidence->none->cuda, &policy->cuda)) {
        add_both(line, answer, evidence);
        return;
    }
    add_pace(line, &answer->whole, "");
    line_add(line, "(");
    add_medians(line, &answer->whole, &bare->times, &policy->times);
    add_forecast(line, &evidence->forecast);
    line_add(line, ")");
}

static void add_right(struct line *line, const struct evidence *evidence)
{
    line_add(line, "right under %s%s; ", evidence->policy->name,
             evidence->comparable.nothing_printed || evidence->comparable.no_number ? ", by its exit status alone" : "");
}

static void add_no_gain(struct line *line, const struct evidence *evidence)
{
    const struct record *record = evidence->observed;
    line_add(line, "nothing to gain: %s", cost_words_no_gain[record->cost]);
    if (record->gpu_span_ns != 0)
        line_add(line, ", the GPU is busy %s%s", record->gpu_busy_at_least ? "at least " : "",
                 text_share(record->gpu_busy_ns, record->gpu_span_ns).text);
    line_add(line, "; ");
    add_right(line, evidence);
}

/* "line 1 is "sum 1", bare "sum 5"" */
static void add_what_differs(struct line *line, const struct facts *facts)
{
    const struct difference *difference = &facts->difference;
    struct line of = {0};
    if (strcmp(facts->thing, "standard output") != 0)
        line_add(&of, " of %.60s", facts->thing);
    if (difference->absent)
        line_add(line, "%.60s was %s", facts->thing, difference->other_ends ? "not written" : "written, by bare not");
    else if (facts->by_command)
        line_add(line, "--compare says so%s", of.text);
    else if (difference->line == 0)
        line_add(line, "byte %llu%s is not the same", (unsigned long long)difference->offset, of.text);
    else if (difference->other_ends)
        line_add(line, "line %zu%s is missing: \"%.*s\"", difference->line, of.text, LINE_TEXT, difference->bare);
    else if (difference->bare_ends)
        line_add(line, "line %zu%s is new: \"%.*s\"", difference->line, of.text, LINE_TEXT, difference->other);
    else
        line_add(line, "line %zu%s is \"%.*s\", bare \"%.*s\"", difference->line, of.text, LINE_TEXT, difference->other,
                 LINE_TEXT, difference->bare);
}

static void add_difference(struct line *line, const struct facts *facts)
{
    line_add(line, "output differs in %u of %u rounds, because ", facts->unlike, facts->runs);
    add_what_differs(line, facts);
}

static void add_shaken(struct line *line, const struct facts *shaken)
{
    line_add(line, "PTDS_SHAKE=%u: ", policy_answer_seed(shaken));
    if (shaken->ended_unlike)
        line_add(line, "the program %s", policy_answer_words_ending(shaken->ending, shaken->limit_ns).text);
    else
        add_what_differs(line, shaken);
}

struct line policy_answer_words_shaken(const struct facts *shaken)
{
    struct line line = {0};
    if (policy_answer_seed(shaken) == 0)
        line_add(&line, "as bare in %s", text_plural(shaken->runs, "run").text);
    else {
        line_add(&line, "%u of %s differ; ", shaken->unlike, text_plural(shaken->runs, "run").text);
        add_shaken(&line, shaken);
    }
    return line;
}

static void add_do_not(struct line *line, const struct answer *answer, const struct evidence *evidence)
{
    const struct facts *policy = evidence->policy;
    line_add(line, "do not use %s: ", policy->name);
    switch (answer->why) {
    case WHY_OUTPUT: add_difference(line, policy); break;
    case WHY_HANGS: line_add(line, "it hangs: no end in %s, bare ended", text_ns(policy->limit_ns).text); break;
    case WHY_ENDING:
        line_add(line, "it %s in %u of %u rounds; bare ends with status 0",
                 policy_answer_words_ending(policy->ending, policy->limit_ns).text, policy->unlike, policy->runs);
        break;
    case WHY_SHAKEN:
        line_add(line, "when work starts late, %u of %s differ from bare, and under none 0 of %u; ",
                 evidence->shaken->unlike, text_plural(evidence->shaken->runs, "run").text, evidence->shaken_none->runs);
        add_shaken(line, evidence->shaken);
        break;
    case WHY_RECORD:
        line_add(line, "an order is gone that a result needs, though the output was the same in %u rounds", policy->runs);
        break;
    default: break;
    }
}

static void add_not_comparable(struct line *line, const struct comparable *comparable)
{
    static const char *const words[VARIES_STATES] = {
        [VARIES_BYTES] = "is no text and varies",
        [VARIES_LINES] = "varies in its number of lines",
        [VARIES_TOKENS] = "varies in its number of words",
        [VARIES_WORDS] = "varies in more than numbers",
        [VARIES_HASHES] = "varies in a hexadecimal number, which is no time,",
    };
    if (comparable->broken) {
        line_add(line, "--compare %s", policy_answer_words_ending(comparable->ending, 0).text);
        return;
    }
    line_add(line, "%.80s ", comparable->thing);
    if (comparable->missing)
        line_add(line, "was not written by the bare runs");
    else if (comparable->by_command)
        line_add(line, "differs bare against bare, says --compare");
    else {
        line_add(line, "%s bare against bare", words[comparable->varies]);
        if (comparable->line != 0)
            line_add(line, " (line %zu)", comparable->line);
        line_add(line, ": give --compare CMD");
    }
}

static void add_bare_ending(struct line *line, const struct facts *bare)
{
    line_add(line, "the bare program itself %s", policy_answer_words_ending(bare->ending, bare->limit_ns).text);
    if (bare->unlike < bare->runs)
        line_add(line, " in %u of %u runs", bare->unlike, bare->runs);
}

static void add_too(struct line *line, const struct evidence *evidence)
{
    const struct facts *policy = evidence->policy, *too = policy_answer_too(evidence);
    if (!policy->ended_unlike)
        line_add(line, "%s differs under %s, but under %s, too, which moves nothing", policy->thing, policy->name,
                 too->name);
    else
        line_add(line, "it %s under %s, but it %s under %s, too, which moves nothing",
                 policy_answer_words_ending(policy->ending, policy->limit_ns).text, policy->name,
                 policy_answer_words_ending(too->ending, too->limit_ns).text, too->name);
}

static void add_leaves(struct line *line, const struct evidence *evidence)
{
    if (evidence->bare->leaves != 0)
        line_add(line, "the bare program itself");
    else
        line_add(line, "under %s the program", evidence->policy->name);
    line_add(line, " leaves processes behind, which were there %s after its end: give a command that waits for them",
             text_ns(CHILD_REST_NS).text);
}

static void add_time(struct line *line, const struct facts *policy)
{
    const struct difference *difference = &policy->difference;
    line_add(line, "line %zu of %.60s looks like a time (\"%.*s\", bare \"%.*s\"): give --compare CMD", difference->line,
             policy->thing, LINE_TEXT, difference->other, LINE_TEXT, difference->bare);
}

static void add_cannot_tell(struct line *line, const struct answer *answer, const struct evidence *evidence)
{
    const struct facts *bare = evidence->bare, *policy = evidence->policy;
    line_add(line, "can't tell: ");
    switch (answer->why) {
    case WHY_NOT_STARTED:
        if (bare->ending.end != END_NOT_STARTED) {
            line_add(line, "under %s the program %s", policy->name,
                     policy_answer_words_ending(policy->ending, policy->limit_ns).text);
            break;
        }
        /* FALLTHROUGH */
    case WHY_BARE_FAILS:
    case WHY_BARE_HANGS:
    case WHY_TERMINAL: add_bare_ending(line, bare); break;
    case WHY_LEAVES: add_leaves(line, evidence); break;
    case WHY_TIME: add_time(line, policy); break;
    case WHY_FAR:
        line_add(line,
                 "line %zu of %.60s has a number far from bare's (\"%s\"), though the runs took the same time: give "
                 "--compare CMD",
                 policy->far.far_line, policy->far_thing, policy->far.far_text);
        break;
    case WHY_NOT_COMPARABLE: add_not_comparable(line, &evidence->comparable); break;
    case WHY_OBSERVE_TOO: add_too(line, evidence); break;
    case WHY_NO_CUDA:
        line_add(line, "no CUDA call was seen: the program makes none, or a preloaded library does not reach it");
        break;
    case WHY_NOT_IN_FORCE:
        line_add(line, "%s was not in force: %.150s", policy->name,
                 evidence->said != NULL ? evidence->said : "its run has no record");
        break;
    default:
        line_add(line, "interrupted after %u of %u rounds", evidence->done, evidence->rounds);
        if (policy->runs != 0 && policy->thing == NULL)
            line_add(line, "; so far the same under %s in %s", policy->name, text_plural(policy->runs, "run").text);
        break;
    }
}

bool policy_answer_words_tell_times(const struct answer *answer)
{
    return answer->word == WORD_RIGHT || answer->word == WORD_NOTHING || answer->why == WHY_SLOWER;
}

struct sentence policy_answer_words_line(const struct answer *answer, const struct evidence *evidence)
{
    struct line line = {0}, times = {0};
    struct sentence sentence;
    switch (answer->word) {
    case WORD_RIGHT: add_right(&line, evidence); break;
    case WORD_NOTHING: add_no_gain(&line, evidence); break;
    case WORD_DO_NOT: add_do_not(&line, answer, evidence); break;
    default: add_cannot_tell(&line, answer, evidence); break;
    }
    if (policy_answer_words_tell_times(answer))
        add_times(&times, answer, evidence);
    snprintf(sentence.text, sizeof sentence.text, "%s%s", line.text, times.text);
    return sentence;
}

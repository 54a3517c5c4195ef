/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs every variant once a round. Called by the verb. Decides nothing about the results, but stops where nothing more can
 * be learnt: bare fails, or a policy hangs.
 */
#include "analysis/probe/runs/rounds.h"

#include "analysis/probe/outputs/compare_runs.h"
#include "analysis/probe/probe.h"
#include "analysis/probe/runs/cuda_span.h"
#include "analysis/probe/runs/try_settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const uint64_t SLACK_NS = 10000000000;
enum { TIMES_SLOWER = 10 };

void rounds_begin(struct probe *probe)
{
    probe->variants[VARIANT_BARE] = (struct variant){.name = "bare", .policy = "none"};
    probe->variants[VARIANT_NONE] = (struct variant){.name = "none", .policy = "none"};
    probe->variants[VARIANT_OBSERVE] = (struct variant){.name = "observe", .policy = "observe"};
    probe->count = VARIANT_FIRST_POLICY;
}

bool rounds_add_policy(struct probe *probe, const char *policy, bool asked)
{
    for (size_t i = VARIANT_FIRST_POLICY; i < probe->count; i++)
        if (strcmp(probe->variants[i].name, policy) == 0) {
            probe->variants[i].asked |= asked;
            return false;
        }
    if (probe->count == VARIANTS_MOST)
        return false;
    probe->variants[probe->count++] = (struct variant){.name = policy, .policy = policy, .asked = asked};
    return true;
}

struct ticker {
    const struct probe *probe;
    const struct variant *variant;
    unsigned round, done;
};

static void tick(void *data, uint64_t ns)
{
    const struct ticker *ticker = data;
    struct probe_watch *watch = ticker->probe->watch;
    if (watch != NULL)
        watch->look(watch, ticker->variant->name, ticker->round, ticker->done,
                    (ticker->probe->rounds + 1) * (unsigned)ticker->probe->count, ns);
}

static uint64_t limit_of(const struct probe *probe, const struct variant *variant)
{
    const struct variant *bare = &probe->variants[VARIANT_BARE];
    uint64_t slowest = 0;
    if (probe->timeout_ns != 0 || variant == bare)
        return probe->timeout_ns;
    for (size_t i = 0; i < bare->runs.count; i++)
        slowest = bare->runs.items[i].ns > slowest ? bare->runs.items[i].ns : slowest;
    return SLACK_NS + TIMES_SLOWER * slowest;
}

/* observe is always recorded, since that is what it is for; the others where no time is taken. The first round's is kept.
 */
static bool is_recorded(const struct probe *probe, const struct variant *variant, unsigned round)
{
    return variant == &probe->variants[VARIANT_OBSERVE] ||
           (variant >= &probe->variants[VARIANT_FIRST_POLICY] && round == 0);
}

/* A recorded run is none of those whose times are compared. */
static bool is_watched(const struct probe *probe, const struct variant *variant, unsigned round)
{
    return variant != &probe->variants[VARIANT_BARE] && !variant->shaken && !is_recorded(probe, variant, round);
}

static bool say(char *error, const char *what)
{
    snprintf(error, PROBE_ERROR_SIZE, "%s: %s", what, strerror(errno));
    return false;
}

static bool make_traces(const struct probe *probe, const char *name, unsigned round, struct folder *out, char *error)
{
    struct path path = folder_traces(&probe->folder, name);
    snprintf(out->path, sizeof out->path, "%.*s%s", (int)sizeof out->path - 8, path.text, round != 0 ? ".again" : "");
    return mkdir(out->path, 0700) == 0 || say(error, out->path);
}

static bool make_moments(const struct probe *probe, const char *name, struct folder *out, char *error)
{
    struct path path = folder_moments(&probe->folder, name);
    snprintf(out->path, sizeof out->path, "%.*s", (int)sizeof out->path - 1, path.text);
    return mkdir(out->path, 0700) == 0 || say(error, out->path);
}

static bool make_folders(const struct probe *probe, const struct variant *variant, unsigned round, struct folder *traces,
                         struct folder *moments, char *error)
{
    return (!is_recorded(probe, variant, round) || make_traces(probe, variant->name, round, traces, error)) &&
           (!is_watched(probe, variant, round) || make_moments(probe, variant->name, moments, error));
}

static bool keep_run(struct variant *variant, unsigned round, struct ran ran, uint64_t cuda_ns)
{
    if (!TABLE_ADD(&variant->runs))
        return false;
    *TABLE_LAST(&variant->runs) = (struct run){round, ran.ending, ran.leaves, ran.ns, cuda_ns};
    return true;
}

static bool run_one(struct probe *probe, struct variant *variant, unsigned round, unsigned done, char *error)
{
    struct path out = folder_thing(&probe->folder, variant->name, round, THING_OUT);
    struct path err = folder_thing(&probe->folder, variant->name, round, THING_ERR);
    struct ticker ticker = {probe, variant, round, done};
    struct folder traces = {0}, moments = {0};
    struct path trace = {0};
    if (!outputs_restore(&probe->outputs, error) || !make_folders(probe, variant, round, &traces, &moments, error))
        return false;
    snprintf(trace.text, sizeof trace.text, "%s/%%p.ptds", traces.path);
    variant->facts.limit_ns = limit_of(probe, variant);
    struct child child = {.argv = probe->program,
                          .library = variant != &probe->variants[VARIANT_BARE] ? probe->library : NULL,
                          .auditor = probe->auditor,
                          .policy = variant->policy,
                          .lanes = variant->lanes,
                          .moves_explicit = variant->moves_explicit,
                          .seed = variant->shaken ? round : 0,
                          .trace = traces.path[0] != 0 ? trace.text : NULL,
                          .moments = moments.path[0] != 0 ? moments.path : NULL,
                          .in = probe->input.text,
                          .out = out.text,
                          .err = err.text,
                          .limit_ns = variant->facts.limit_ns,
                          .tick = tick,
                          .data = &ticker};
    tick(&ticker, 0);
    struct ran ran = child_run(&child);
    uint64_t cuda_ns = moments.path[0] != 0 ? cuda_span_read(moments.path) : 0;
    folder_remove(&moments);
    if (round != 0)
        folder_remove(&traces);
    if (ran.ending.end == END_INTERRUPTED) {
        probe->interrupted = true;
        return true;
    }
    variant->given_up |= ran.ending.end == END_TIMED_OUT || ran.ending.end == END_TERMINAL;
    if (!keep_run(variant, round, ran, cuda_ns)) {
        errno = ENOMEM;
        return say(error, "the rounds");
    }
    return outputs_take(&probe->outputs, &probe->folder, variant->name, round, error);
}

/* Whether the program, by itself, is one that can be probed. */
static bool bare_is_fine(const struct probe *probe)
{
    const struct variant *bare = &probe->variants[VARIANT_BARE];
    if (bare->runs.count == 0)
        return false;
    const struct run *last = TABLE_LAST(&bare->runs);
    return last->ending.end == END_EXITED && last->ending.code == 0 && !last->leaves;
}

/* The warm-up begins with bare, each round after it with the next one: what comes later in a round finds a warmer or a more
 * throttled machine, and must not always be the same. */
static bool run_round(struct probe *probe, unsigned round, unsigned *done, char *error)
{
    for (size_t i = 0; i < probe->count && !probe->interrupted; i++, (*done)++) {
        size_t at = (i + round) % probe->count;
        if (probe->variants[at].given_up)
            continue;
        if (!run_one(probe, &probe->variants[at], round, *done, error))
            return false;
        if (at == VARIANT_BARE && !probe->interrupted && !bare_is_fine(probe))
            return true;
    }
    return true;
}

/* What came to be tried after the warm-up warms up now. */
static bool run_added(struct probe *probe, unsigned *done, char *error)
{
    size_t added = try_settings(probe);
    for (size_t i = probe->count - added; i < probe->count && !probe->interrupted; i++, (*done)++)
        if (!run_one(probe, &probe->variants[i], 0, *done, error))
            return false;
    return true;
}

static bool run_rounds(struct probe *probe, unsigned from, unsigned *done, char *error)
{
    for (unsigned round = from; round <= probe->rounds; round++) {
        probe->interrupted |= child_interrupted();
        if (probe->interrupted)
            return true;
        if (!run_round(probe, round, done, error))
            return false;
        if (probe->interrupted || !bare_is_fine(probe))
            return true;
        if (round == 0 && !run_added(probe, done, error))
            return false;
        probe->done = round;
    }
    return true;
}

/* As many bare runs more as there were rounds. What is slow to vary, as a date, or varies or fails now and then, shows in
 * them. */
static bool run_controls(struct probe *probe, unsigned done, char *error)
{
    for (unsigned i = 0; i < probe->rounds && !probe->interrupted && bare_is_fine(probe); i++) {
        if (!run_one(probe, &probe->variants[VARIANT_BARE], probe->rounds + 1 + i, done, error))
            return false;
        probe->controls += !probe->interrupted;
    }
    return true;
}

static bool is_doubtful(const struct probe *probe)
{
    for (size_t i = VARIANT_FIRST_POLICY; i < probe->count; i++)
        if (probe->variants[i].facts.unlike == 0 &&
            (times_doubtful(&probe->variants[VARIANT_BARE].facts.times, &probe->variants[i].facts.times) ||
             times_doubtful(&probe->variants[VARIANT_NONE].facts.cuda, &probe->variants[i].facts.cuda)))
            return true;
    return false;
}

/* As many rounds again, which count like the first. */
static bool run_more(struct probe *probe, unsigned *done, char *error)
{
    unsigned from = probe->rounds + 1;
    probe->extended = true;
    probe->rounds *= 2;
    return run_rounds(probe, from, done, error);
}

static void compare(struct probe *probe)
{
    child_signals_forget(); /* what they asked for is done */
    compare_runs(probe);
}

/* Whether anything is to be gained from going on. */
static bool goes_on(const struct probe *probe)
{
    const struct facts *bare = &probe->variants[VARIANT_BARE].facts;
    return !probe->interrupted && !bare->ended_unlike && !bare->leaves;
}

/* Named after the policy, since the name is a file's, too. */
static const char *shaken_name(const struct variant *of)
{
    const char *policy = of->policy;
    if (of->moves_explicit)
        return "guarded-explicit-shaken";
#define POLICY(identifier, word, then) \
    if (strcmp(policy, word) == 0) \
        return word "-shaken";
#include "interpose/env/policies.def"
    return "shaken";
}

/* none, and each policy with as many lanes as a thread has without --lanes: the policy's order is the same with more. */
static void begin_shaken(struct probe *probe)
{
    for (size_t i = VARIANT_NONE; i < probe->count; i++) {
        const struct variant *of = &probe->variants[i];
        if (i != VARIANT_OBSERVE && of->lanes == 0 && !of->given_up)
            probe->shaken[i] = (struct variant){
                .name = shaken_name(of), .policy = of->policy, .moves_explicit = of->moves_explicit, .shaken = true};
    }
}

/* Each seed under none and under every policy: what differs under none is the program's own. */
static bool run_shaken(struct probe *probe, unsigned done, char *error)
{
    begin_shaken(probe);
    for (unsigned seed = 1; seed <= probe->seeds; seed++)
        for (size_t i = 0; i < probe->count; i++) {
            struct variant *variant = &probe->shaken[i];
            if (!variant->shaken || variant->given_up || probe->interrupted)
                continue;
            if (!run_one(probe, variant, seed, done, error))
                return false;
        }
    return true;
}

bool rounds_run(struct probe *probe, char *error)
{
    unsigned done = 0;
    if (!outputs_begin(&probe->outputs, error) || !run_rounds(probe, 0, &done, error))
        return false;
    compare(probe);
    if (goes_on(probe) && is_doubtful(probe)) {
        if (!run_more(probe, &done, error))
            return false;
        compare(probe);
    }
    if (goes_on(probe) && compare_runs_differ(probe)) {
        if (!run_controls(probe, done, error))
            return false;
        compare(probe);
    }
    if (goes_on(probe) && probe->seeds != 0) {
        if (!run_shaken(probe, done, error))
            return false;
        compare(probe);
    }
    return true;
}

void rounds_end(struct probe *probe)
{
    for (size_t i = 0; i < probe->count; i++) {
        free(probe->variants[i].runs.items);
        free(probe->shaken[i].runs.items);
    }
    compare_runs_forget(probe);
}

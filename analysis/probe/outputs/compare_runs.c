/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares what the runs left: learns from the bare ones, then looks at every other. Called by conclude.c, after the last
 * round. Must leave out nothing but what same.h leaves out and the shim's own lines.
 */
#include "analysis/probe/outputs/compare_runs.h"

#include "analysis/probe/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/probe/outputs/view.h"

static struct variant *bare_of(struct probe *probe)
{
    return &probe->variants[VARIANT_BARE];
}

static struct view view_of(struct probe *probe, struct variant *variant, unsigned round, size_t thing)
{
    struct path path = folder_thing(&probe->folder, variant->name, round, thing);
    struct view view = view_open(path.text);
    if (thing == THING_ERR && variant != bare_of(probe))
        view_drop_own_lines(&view, &variant->said);
    return view;
}

bool compare_runs_by_command(const struct probe *probe, size_t thing)
{
    return probe->command != NULL && (probe->outputs.count != 0 ? thing >= THING_FILES : thing == THING_OUT);
}

/* The bare run that others are held against. */
static unsigned reference(const struct probe *probe, size_t thing)
{
    const struct variant *bare = &probe->variants[VARIANT_BARE];
    return probe->learnt[thing].first_apart ? bare->runs.items[1].round : 0;
}

static void cannot_compare(struct probe *probe, size_t thing, struct comparable why)
{
    if (probe->comparable.thing != NULL)
        return;
    why.nothing_printed = probe->comparable.nothing_printed;
    why.no_number = probe->comparable.no_number;
    why.thing = compare_runs_thing_name(probe, thing);
    probe->comparable = why;
}

static struct ending ask_command(const struct probe *probe, const char *bare, const char *other)
{
    char line[PATH_MAX];
    char *argv[] = {"sh", "-c", line, "ptds-compare", (char *)bare, (char *)other, NULL};
    struct path out = folder_file(&probe->folder, "compare.out");
    snprintf(line, sizeof line, "%s \"$@\"", probe->command);
    struct child child = {.argv = argv, .in = "/dev/null", .out = out.text, .err = out.text, .limit_ns = probe->timeout_ns};
    return child_run(&child).ending;
}

/* Whether the user's command calls a run's file the same as bare's. A command that cannot say so settles nothing. */
static bool same_by_command(struct probe *probe, unsigned bare_round, const struct variant *variant, unsigned round,
                            size_t thing)
{
    enum { NOT_EXECUTABLE = 126, NOT_FOUND = 127 };
    struct path bare = folder_thing(&probe->folder, probe->variants[VARIANT_BARE].name, bare_round, thing);
    struct path other = folder_thing(&probe->folder, variant->name, round, thing);
    struct ending ending = ask_command(probe, bare.text, other.text);
    if (ending.end == END_EXITED && ending.code < NOT_EXECUTABLE)
        return ending.code == 0;
    if (ending.end == END_INTERRUPTED)
        probe->interrupted = true;
    else {
        probe->learnt[thing].varies = VARIES_BYTES;
        cannot_compare(probe, thing, (struct comparable){.broken = true, .ending = ending});
    }
    return true;
}

/* The things that answer for the program's results: where any of them cannot be compared, nobody can tell. stderr does not
 * where there is something else to compare. */
static bool answers(const struct probe *probe, size_t thing)
{
    if (probe->command != NULL)
        return false; /* it is asked about those */
    if (probe->outputs.count != 0)
        return thing >= THING_FILES;
    return thing == THING_OUT || probe->learnt[THING_OUT].empty;
}

/* missing: of a file, how many bare runs did not write it. What some write and some do not varies by itself. */
static void learn_thing(struct probe *probe, size_t thing, size_t *missing)
{
    const struct variant *bare = &probe->variants[VARIANT_BARE];
    struct view *views = calloc(bare->runs.count + 1, sizeof *views);
    struct bytes *texts = calloc(bare->runs.count + 1, sizeof *texts);
    if (views != NULL && texts != NULL) {
        for (size_t i = 0; i < bare->runs.count; i++) {
            views[i] = view_of(probe, bare_of(probe), bare->runs.items[i].round, thing);
            texts[i] = views[i].bytes;
            *missing += !views[i].there;
        }
        same_learn_but_first(&probe->learnt[thing], texts, bare->runs.count);
        if (thing >= THING_FILES && *missing != 0 && *missing != bare->runs.count)
            probe->learnt[thing].varies = VARIES_BYTES;
        for (size_t i = 0; i < bare->runs.count; i++)
            view_close(&views[i]);
    }
    probe->out_of_memory |= views == NULL || texts == NULL || probe->learnt[thing].out_of_memory;
    free(views);
    free(texts);
}

/* Whether the command of --compare finds no difference between the bare run number `from` and each later bare run. */
static bool agree_by_command(struct probe *probe, size_t thing, size_t from)
{
    const struct variant *bare = &probe->variants[VARIANT_BARE];
    const struct learnt *learnt = &probe->learnt[thing];
    bool same = true;
    for (size_t i = from + 1; i < bare->runs.count && same && learnt->varies == VARIES_NOT; i++)
        same = same_by_command(probe, bare->runs.items[from].round, bare, bare->runs.items[i].round, thing);
    return same;
}

static void learn_by_command(struct probe *probe, size_t thing)
{
    struct learnt *learnt = &probe->learnt[thing];
    learnt->varies = VARIES_NOT; /* only the command says what varies */
    learnt->first_apart = false;
    learnt->list.count = 0;
    if (agree_by_command(probe, thing, 0))
        return;
    learnt->first_apart = probe->variants[VARIANT_BARE].runs.count > 2 && agree_by_command(probe, thing, 1);
    learnt->first_varies = VARIES_BYTES;
    if (learnt->first_apart)
        return;
    learnt->varies = VARIES_BYTES;
    cannot_compare(probe, thing, (struct comparable){.by_command = true});
}

/* What moves nothing teaches, too, how far a number goes that varies by itself. */
static void learn_unmoved(struct probe *probe, size_t thing)
{
    struct learnt *learnt = &probe->learnt[thing];
    if (learnt->varies != VARIES_NOT || learnt->list.count == 0)
        return;
    struct view bare = view_of(probe, bare_of(probe), reference(probe, thing), thing);
    for (size_t at = VARIANT_NONE; at <= VARIANT_OBSERVE; at++) {
        struct variant *variant = &probe->variants[at];
        for (size_t i = 0; i < variant->runs.count; i++) {
            struct view other = view_of(probe, variant, variant->runs.items[i].round, thing);
            same_learn_range(learnt, bare.bytes, other.bytes);
            view_close(&other);
        }
    }
    view_close(&bare);
}

static void learn_all(struct probe *probe)
{
    bool nothing = true;
    size_t left_out = 0, kept = 0;
    for (size_t thing = 0; thing < compare_runs_things(probe); thing++) {
        struct learnt *learnt = &probe->learnt[thing];
        size_t missing = 0;
        learn_thing(probe, thing, &missing);
        nothing &= learnt->empty;
        if (thing >= THING_FILES && missing != 0)
            cannot_compare(probe, thing, (struct comparable){.missing = true});
        else if (compare_runs_by_command(probe, thing))
            learn_by_command(probe, thing);
        else if (learnt->varies != VARIES_NOT && answers(probe, thing))
            cannot_compare(probe, thing, (struct comparable){.varies = learnt->varies, .line = learnt->line});
        if (answers(probe, thing)) {
            left_out += learnt->list.count;
            kept += learnt->list.count != 0 ? learnt->kept : !learnt->empty; /* byte for byte */
        }
        learn_unmoved(probe, thing);
    }
    probe->comparable.nothing_printed = nothing;
    probe->comparable.no_number = left_out != 0 && kept == 0;
}

/* A run that differs from the later bare ones as the first bare one did has shown nothing but what bare did, too. */
static bool like_first(struct probe *probe, size_t thing, struct bytes other, const struct variant *variant, unsigned round)
{
    if (!probe->learnt[thing].first_apart)
        return false;
    if (compare_runs_by_command(probe, thing))
        return same_by_command(probe, 0, variant, round, thing);
    struct view first = view_of(probe, bare_of(probe), 0, thing);
    bool same = same_but_for_numbers(first.bytes, other);
    view_close(&first);
    return same;
}

/* By itself, as is known now: what the first run printed comes again. */
static void it_varies(struct probe *probe, size_t thing)
{
    struct learnt *learnt = &probe->learnt[thing];
    bool by_command = compare_runs_by_command(probe, thing);
    learnt->varies = learnt->first_varies;
    learnt->line = learnt->first_line;
    if (by_command || answers(probe, thing))
        cannot_compare(probe, thing,
                       (struct comparable){.varies = learnt->varies, .line = learnt->line, .by_command = by_command});
}

static struct difference compare_views(struct probe *probe, const struct variant *variant, unsigned round, size_t thing,
                                       const struct view *bare, const struct view *other)
{
    const unsigned held_against = reference(probe, thing);
    if (thing >= THING_FILES && bare->there != other->there) /* an empty file is one, too */
        return (struct difference){.differs = true, .absent = true, .bare_ends = !bare->there, .other_ends = !other->there};
    if (compare_runs_by_command(probe, thing))
        return (struct difference){.differs = !same_by_command(probe, held_against, variant, round, thing)};
    return same_differ(&probe->learnt[thing], bare->bytes, other->bytes);
}

static struct difference differ_at(struct probe *probe, struct variant *variant, unsigned round, size_t thing)
{
    const struct learnt *learnt = &probe->learnt[thing];
    struct difference out = {0};
    if (learnt->varies != VARIES_NOT)
        return out;
    struct view bare = view_of(probe, bare_of(probe), reference(probe, thing), thing);
    struct view other = view_of(probe, variant, round, thing);
    out = compare_views(probe, variant, round, thing, &bare, &other);
    if (out.differs && !out.absent && like_first(probe, thing, other.bytes, variant, round)) {
        out = (struct difference){0};
        it_varies(probe, thing);
    }
    view_close(&bare);
    view_close(&other);
    return out;
}

/* For times: neither the warm-up, nor what was run alone later. */
static bool counts(const struct probe *probe, const struct run *run)
{
    return run->round != 0 && run->round <= probe->rounds;
}

static void note_outside(const struct probe *probe, struct facts *facts, const struct difference *found, size_t thing,
                         const struct run *run)
{
    if (found->outside != 0 && facts->outside.outside == 0) {
        facts->outside = *found;
        facts->outside_thing = compare_runs_thing_name(probe, thing);
    }
    if (counts(probe, run) && found->far_ns > facts->far.far_ns) {
        facts->far = *found;
        facts->far_thing = compare_runs_thing_name(probe, thing);
    }
}

/* The first one; but of times that differ the farthest, and anything else rather than these. */
static bool tells_more(const struct facts *than, const struct difference *found)
{
    const struct difference *known = &than->difference;
    return than->thing == NULL || (known->like_time && (!found->like_time || found->time_ns > known->time_ns));
}

/* True: this run is like the bare ones. */
static bool compare_run(struct probe *probe, struct variant *variant, const struct run *run)
{
    struct facts *facts = &variant->facts;
    bool same = true;
    for (size_t thing = 0; thing < compare_runs_things(probe); thing++) {
        struct difference difference = differ_at(probe, variant, run->round, thing);
        note_outside(probe, facts, &difference, thing, run);
        if (!difference.differs)
            continue;
        if (!counts(probe, run))
            difference.time_ns = 0; /* a run that is recorded takes its time */
        if (tells_more(facts, &difference)) {
            facts->thing = compare_runs_thing_name(probe, thing);
            facts->difference = difference;
            facts->by_command = compare_runs_by_command(probe, thing) && !difference.absent;
            facts->round = run->round;
        }
        same &= variant->shaken && difference.like_time; /* work that is delayed takes its time */
        if (!difference.like_time)
            break;
    }
    return same;
}

static bool ended_well(const struct run *run)
{
    return run->ending.end == END_EXITED && run->ending.code == 0;
}

bool compare_runs_differ(const struct probe *probe)
{
    for (size_t i = VARIANT_FIRST_POLICY; i < probe->count; i++)
        if (probe->variants[i].facts.thing != NULL || probe->variants[i].facts.ended_unlike)
            return true;
    return false;
}

static void compare_variant(struct probe *probe, struct variant *variant)
{
    struct facts *facts = &variant->facts;
    *facts = (struct facts){.name = variant->name, .runs = (unsigned)variant->runs.count, .limit_ns = facts->limit_ns};
    for (size_t i = 0; i < variant->runs.count; i++) {
        const struct run *run = &variant->runs.items[i];
        bool well = ended_well(run);
        if (i == 0 || (!well && !facts->ended_unlike)) {
            facts->ending = run->ending;
            facts->ended_round = run->round;
        }
        facts->ended_unlike |= !well;
        facts->leaves += run->leaves;
        bool looked_at = variant != bare_of(probe) && (run->ending.end == END_EXITED || run->ending.end == END_SIGNALLED);
        bool alike = !looked_at || compare_run(probe, variant, run);
        facts->unlike += !well || !alike;
    }
}

static void take_times(struct probe *probe, struct variant *variant)
{
    uint64_t *whole = calloc(variant->runs.count + 1, sizeof *whole), *cuda = calloc(variant->runs.count + 1, sizeof *cuda);
    size_t count = 0, of_cuda = 0;
    for (size_t i = 0; whole != NULL && cuda != NULL && i < variant->runs.count; i++) {
        const struct run *run = &variant->runs.items[i];
        if (!counts(probe, run) || !ended_well(run))
            continue;
        whole[count++] = run->ns;
        if (run->cuda_ns != 0)
            cuda[of_cuda++] = run->cuda_ns;
    }
    probe->out_of_memory |= whole == NULL || cuda == NULL;
    variant->facts.times = times_of(whole, count);
    variant->facts.cuda = times_of(cuda, of_cuda);
    free(whole);
    free(cuda);
}

size_t compare_runs_things(const struct probe *probe)
{
    return THING_FILES + probe->outputs.count;
}

const char *compare_runs_thing_name(const struct probe *probe, size_t thing)
{
    enum { LONG = 40 };
    if (thing < THING_FILES)
        return thing == THING_OUT ? "standard output" : "standard error";
    const char *name = probe->outputs.items[thing - THING_FILES].name;
    return strlen(name) > LONG ? text_base(name) : name;
}

/* Why a bare run failed is, as a rule, what it said last. */
static void take_last_words(struct probe *probe)
{
    struct view view = view_of(probe, bare_of(probe), probe->variants[VARIANT_BARE].facts.ended_round, THING_ERR);
    view_last_lines(&view, probe->last_words, PROBE_LAST_WORDS);
    view_close(&view);
}

void compare_runs_forget(struct probe *probe)
{
    for (size_t i = 0; probe->learnt != NULL && i < compare_runs_things(probe); i++)
        same_free(&probe->learnt[i]);
    free(probe->learnt);
    probe->learnt = NULL;
    probe->comparable = (struct comparable){0};
}

void compare_runs(struct probe *probe)
{
    compare_runs_forget(probe);
    probe->learnt = calloc(compare_runs_things(probe), sizeof *probe->learnt);
    if (probe->learnt == NULL) {
        probe->out_of_memory = true;
        return;
    }
    learn_all(probe);
    for (size_t i = 0; i < probe->count; i++) {
        compare_variant(probe, &probe->variants[i]);
        take_times(probe, &probe->variants[i]);
        compare_variant(probe, &probe->shaken[i]);
    }
    if (probe->variants[VARIANT_BARE].facts.ended_unlike)
        take_last_words(probe);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * What `ptds probe` prints: the word, what was compared, the rounds, what the records say, the line to copy. Called by the
 * verb. Computes nothing.
 */
#include "analysis/probe/answer/probe_screen.h"

#include "analysis/base/line.h"
#include "analysis/base/sink.h"
#include "analysis/probe/answer/command_to_copy.h"
#include "analysis/probe/answer/conclude.h"
#include "analysis/probe/answer/policy_answer_words.h"
#include "analysis/probe/outputs/compare_runs.h"
#include "analysis/probe/probe.h"

#include <string.h>

enum { ROUNDS_SHOWN = 6, NAME_COLUMNS = 11, TIME_COLUMNS = 9 };

static void put_line(struct text_sink *sink, const char *before, const struct line *line)
{
    if (line->used != 0)
        sink_printf(sink, "%s%s\n", before, line->text);
}

static int name_columns(const struct probe *probe)
{
    int columns = NAME_COLUMNS;
    for (size_t i = 0; i < probe->count; i++) {
        int own = (int)strlen(probe->variants[i].name) + 1;
        columns = own > columns ? own : columns;
    }
    return columns;
}

static void put_answer(const struct variant *variant, struct text_sink *sink)
{
    struct sentence line = policy_answer_words_line(&variant->answer, &variant->evidence);
    sink_printf(sink, "%s\n", line.text);
}

/* What guarded leaves on 0x1 may be all that there is to gain: where moving that is faster, the answer begins so. */
static const struct variant *first_told(const struct probe *probe)
{
    const struct variant *first = conclude_first(probe), *best = conclude_best(probe);
    bool fine = first->answer.word == WORD_RIGHT || first->answer.word == WORD_NOTHING;
    return fine && best != NULL && best->moves_explicit ? best : first;
}

static void put_explicit(const struct probe *probe, struct text_sink *sink)
{
    for (size_t i = VARIANT_FIRST_POLICY; i < probe->count; i++)
        if (probe->variants[i].moves_explicit)
            sink_printf(sink,
                        "the program names 0x1 (CU_STREAM_LEGACY) in %s: guarded keeps such work there, unless "
                        "PTDS_EXPLICIT_LEGACY=remap\n",
                        text_plural(probe->variants[VARIANT_OBSERVE].record.explicit_legacy, "operation").text);
}

static void put_answers(const struct probe *probe, struct text_sink *sink)
{
    const struct variant *first = first_told(probe);
    put_answer(first, sink);
    for (size_t i = VARIANT_FIRST_POLICY; i < probe->count; i++)
        if (&probe->variants[i] != first)
            put_answer(&probe->variants[i], sink);
    put_explicit(probe, sink);
    if (policy_answer_seed(&probe->shaken[VARIANT_NONE].facts) != 0)
        sink_printf(sink, "the program itself is right by luck: when its work starts late it shows another result, without "
                          "any policy\n");
}

/* The first run that shows another result, to be repeated. */
static void put_seed_to_repeat(const struct probe *probe, struct text_sink *sink)
{
    for (size_t i = VARIANT_NONE; i < probe->count; i++) {
        const struct variant *variant = &probe->shaken[i];
        unsigned seed = policy_answer_seed(&variant->facts);
        if (seed == 0)
            continue;
        sink_printf(sink, "  ");
        command_to_copy(probe, variant, seed, sink);
        sink_printf(sink, "\n");
        return;
    }
}

static void put_shaken(const struct probe *probe, struct text_sink *sink)
{
    if (probe->shaken[VARIANT_NONE].runs.count == 0)
        return;
    sink_printf(sink, "\nShaken: work starts late at random, seeds 1 to %u. Times may differ, results not:\n",
                probe->seeds);
    for (size_t i = VARIANT_NONE; i < probe->count; i++) {
        const struct variant *variant = &probe->shaken[i];
        if (variant->runs.count != 0)
            sink_printf(sink, "  %-*s%s\n", name_columns(probe), probe->variants[i].name,
                        policy_answer_words_shaken(&variant->facts).text);
    }
    put_seed_to_repeat(probe, sink);
}

/* "standard output: compared but for 2 numbers that vary bare against bare (the first in line 2)" */
static void put_thing(const struct probe *probe, size_t thing, struct text_sink *sink)
{
    const struct learnt *learnt = &probe->learnt[thing];
    struct line line = {0};
    const char *name = compare_runs_thing_name(probe, thing);
    line_add(&line, "%.80s: ", name);
    if (probe->comparable.missing && strcmp(probe->comparable.thing, name) == 0)
        line_add(&line, "not compared, bare did not write it");
    else if (compare_runs_by_command(probe, thing))
        line_add(&line, "compared by %.100s", probe->command);
    else if (learnt->varies != VARIES_NOT)
        line_add(&line, "not compared, it varies bare against bare%s", learnt->line != 0 ? " in more than numbers" : "");
    else if (learnt->list.count != 0)
        line_add(&line, "compared but for %s that var%s bare against bare (%sline %zu: \"%s\")",
                 text_plural(learnt->list.count, "number").text, learnt->list.count == 1 ? "ies" : "y",
                 learnt->list.count == 1 ? "" : "the first in ", learnt->first_masked, learnt->first_text);
    else
        line_add(&line, "compared byte for byte%s",
                 learnt->texts < 2 ? "; one bare run teaches nothing of what varies" : "");
    if (learnt->first_apart && learnt->varies == VARIES_NOT)
        line_add(&line, "; the first run %s something else", thing >= THING_FILES ? "wrote" : "printed");
    put_line(sink, "  ", &line);
}

static bool has_lines(const struct facts *facts)
{
    return facts->thing != NULL && !facts->by_command && facts->difference.line != 0;
}

static void put_difference(const struct facts *facts, struct text_sink *sink)
{
    const struct difference *difference = &facts->difference;
    if (!has_lines(facts))
        return;
    sink_printf(sink, "  %s, line %zu, in round %u:\n", facts->thing, difference->line, facts->round);
    sink_printf(sink, "    bare:  %s\n", difference->bare_ends ? "(no such line)" : difference->bare);
    sink_printf(sink, "    it is: %s\n", difference->other_ends ? "(no such line)" : difference->other);
}

/* Of a policy that is not to be used, or may not: where output differs first, and the two operations whose order is gone,
 * if the record of its own run knows of any. */
static void put_reason(const struct variant *variant, struct text_sink *sink)
{
    const struct record *record = &variant->record;
    bool by_order = record->doubt != DOUBT_NONE && variant->evidence.observed->doubt < record->doubt;
    if (variant->answer.word != WORD_DO_NOT && variant->answer.why != WHY_OBSERVE_TOO && variant->answer.why != WHY_TIME)
        return;
    if (!has_lines(&variant->facts) && !by_order && variant->said.used == 0)
        return;
    sink_printf(sink, "\nUnder %s:\n", variant->name);
    put_difference(&variant->facts, sink);
    put_line(sink, "  it said: ", &variant->said);
    if (!by_order)
        return;
    put_line(sink, "  its record: ", &record->outcome);
    put_line(sink, "    ", &record->first);
    put_line(sink, "    ", &record->second);
}

static void put_last_words(const struct probe *probe, struct text_sink *sink)
{
    for (size_t i = 0; i < PROBE_LAST_WORDS; i++)
        put_line(sink, "  it said: ", &probe->last_words[i]);
}

static const char *cell_of(const struct run *run, struct line *line)
{
    *line = (struct line){0};
    if (run->ending.end == END_EXITED && run->ending.code == 0)
        line_add(line, "%s", text_ns(run->ns).text);
    else if (run->ending.end == END_EXITED)
        line_add(line, "status %d", run->ending.code);
    else if (run->ending.end == END_SIGNALLED)
        line_add(line, "signal %d", run->ending.code);
    else
        line_add(line, "%s", run->ending.end == END_TIMED_OUT ? "hangs" : "stops");
    return line->text;
}

/* The same of its CUDA work. */
static const char *cuda_cell_of(const struct run *run, struct line *line)
{
    *line = (struct line){0};
    line_add(line, "%s", run->cuda_ns != 0 ? text_ns(run->cuda_ns).text : "-");
    return line->text;
}

static void put_row(const struct probe *probe, const struct variant *variant, const struct times *times,
                    const char *(*cell)(const struct run *run, struct line *line), struct text_sink *sink)
{
    struct line line = {0}, shown;
    unsigned rounds = probe->rounds;
    line_add(&line, "%-*s", name_columns(probe), variant->name);
    if (times->count != 0)
        line_add(&line, "%*s %*s", TIME_COLUMNS, text_ns(times->median).text, TIME_COLUMNS, text_ns(times->spread).text);
    else
        line_add(&line, "%*s %*s", TIME_COLUMNS, "-", TIME_COLUMNS, "-");
    for (size_t i = 0; i < variant->runs.count && i <= ROUNDS_SHOWN && variant->runs.items[i].round <= rounds; i++)
        line_add(&line, " %s%*s", i == 0 ? " " : "", TIME_COLUMNS - 1, cell(&variant->runs.items[i], &shown));
    if (rounds > ROUNDS_SHOWN && variant->runs.count > ROUNDS_SHOWN + 1)
        line_add(&line, " ...");
    put_line(sink, "  ", &line);
}

/* Bare has no row: without the shim nobody notes when CUDA work begins. */
static void put_cuda_rounds(const struct probe *probe, struct text_sink *sink)
{
    const struct times *none = &probe->variants[VARIANT_NONE].facts.cuda;
    if (none->count == 0) {
        sink_printf(sink, "  The CUDA part is not known: no launch or copy was seen under none.\n");
        return;
    }
    sink_printf(sink, "  Of that, the CUDA part:\n");
    put_row(probe, &probe->variants[VARIANT_NONE], none, cuda_cell_of, sink);
    for (size_t i = VARIANT_FIRST_POLICY; i < probe->count; i++)
        put_row(probe, &probe->variants[i], &probe->variants[i].facts.cuda, cuda_cell_of, sink);
    sink_printf(sink, "  From the first launch, copy or memset to the last call's return, start-up and teardown left out. "
                      "Bare's is that of none:\n  the shim is there, and does nothing but note the two times, as in the "
                      "other rows.\n");
}

static void put_rounds(const struct probe *probe, struct text_sink *sink)
{
    struct line line = {0}, name;
    line_add(&line, "%-*s%*s %*s %*s", name_columns(probe), "", TIME_COLUMNS, "median", TIME_COLUMNS, "spread",
             TIME_COLUMNS, "warm-up");
    for (unsigned i = 1; i <= probe->rounds && i <= ROUNDS_SHOWN; i++) {
        name = (struct line){0};
        line_add(&name, "round %u", i);
        line_add(&line, "%*s", TIME_COLUMNS, name.text);
    }
    sink_printf(sink, "\n");
    put_line(sink, "  ", &line);
    for (size_t i = 0; i < probe->count; i++)
        put_row(probe, &probe->variants[i], &probe->variants[i].facts.times, cell_of, sink);
    if (probe->extended)
        sink_printf(sink, "  Slower, or faster by little: so there were twice as many rounds as asked for.\n");
    sink_printf(
        sink,
        "  Wall time of the whole process. The warm-up is recorded, and does not count; observe is recorded always.\n");
    put_cuda_rounds(probe, sink);
}

static void put_observed(const struct record *record, struct text_sink *sink)
{
    sink_printf(sink, "\n");
    put_line(sink, "A trace was not read: ", &record->trouble);
    if (record->processes == 0) {
        sink_printf(sink, "Recorded under observe: no CUDA call\n");
        return;
    }
    sink_printf(sink, "Recorded under observe%s%s: ran %s; ", record->processes != 1 ? ", of " : "",
                record->processes != 1 ? record->program : "", text_ns(record->run_ns).text);
    sink_printf(sink, "%s, %s, ", text_plural(record->threads, "thread").text, text_plural(record->streams, "stream").text);
    sink_printf(sink, "%s, %s on the default stream\n", text_plural(record->calls, "driver call").text,
                text_count(record->default_stream).text);
    put_line(sink, "  ", &record->default_words);
    put_line(sink, "  ", &record->blocked);
}

/* What the record of a policy's own run says. */
static void put_own(const struct variant *variant, struct text_sink *sink)
{
    const struct record *record = &variant->record;
    if (record->processes == 0)
        return;
    sink_printf(sink, "Recorded under %s: ran %s; ", variant->name, text_ns(record->run_ns).text);
    sink_printf(sink, "%s of %s on the default stream moved\n", text_count(record->remapped).text,
                text_plural(record->default_stream, "operation").text);
    put_line(sink, "  ", &record->outcome);
}

static void put_end(const struct probe *probe, bool stands, struct text_sink *sink)
{
    const struct variant *best = conclude_best(probe);
    if (stands)
        sink_printf(sink, "What each run printed and recorded: %s\n", probe->folder.path);
    if (best == NULL)
        return;
    sink_printf(sink, "\n");
    command_to_copy(probe, best, 0, sink);
    sink_printf(sink, "\n");
}

/* What was left out may be a time, which is to change, or a result. Only the reader knows. */
static void put_outside(const struct facts *facts, struct text_sink *sink)
{
    const struct difference *found = &facts->outside;
    if (found->outside == 0)
        return;
    sink_printf(
        sink,
        "  Not compared under %s: %s far from bare's (%sline %zu of %s: \"%s\"). If that is no time, the result differs.\n",
        facts->name, text_plural(found->outside, "number").text, found->outside == 1 ? "" : "the first in ",
        found->outside_line, facts->outside_thing, found->outside_text);
}

static void put_leaves(const struct facts *facts, struct text_sink *sink)
{
    if (facts->leaves != 0)
        sink_printf(sink, "  Under %s %u of %s left processes behind, which were there %s later.\n", facts->name,
                    facts->leaves, text_plural(facts->runs, "run").text, text_ns(CHILD_REST_NS).text);
}

static bool ends_otherwise(const struct probe *probe)
{
    for (size_t i = VARIANT_FIRST_POLICY; i < probe->count; i++)
        if (probe->variants[i].facts.ended_unlike)
            return true;
    return false;
}

static void put_compared(const struct probe *probe, struct text_sink *sink)
{
    sink_printf(sink, "\nCompared, of the warm-up and %s: exit status and\n", text_plural(probe->done, "round").text);
    for (size_t thing = 0; probe->learnt != NULL && thing < compare_runs_things(probe); thing++)
        put_thing(probe, thing, sink);
    if (probe->comparable.no_number)
        sink_printf(sink, "  No number is left to compare: those that vary may be all that there is of the result.\n");
    for (size_t i = VARIANT_FIRST_POLICY; i < probe->count; i++)
        put_outside(&probe->variants[i].facts, sink);
    for (size_t i = VARIANT_NONE; i < probe->count; i++)
        put_leaves(&probe->variants[i].facts, sink);
    if (probe->controls != 0)
        sink_printf(sink, "  %s, so bare ran %s more, to learn what varies by itself.\n",
                    ends_otherwise(probe) ? "An ending differed" : "Output differed",
                    text_plural(probe->controls, "time").text);
}

void probe_screen(const struct probe *probe, bool stands, struct text_sink *sink)
{
    const struct facts *bare = &probe->variants[VARIANT_BARE].facts;
    put_answers(probe, sink);
    if (bare->ended_unlike || bare->leaves != 0 || bare->runs == 0) {
        put_last_words(probe, sink);
        put_end(probe, stands, sink);
        return;
    }
    for (size_t i = VARIANT_FIRST_POLICY; i < probe->count; i++)
        put_reason(&probe->variants[i], sink);
    put_compared(probe, sink);
    put_shaken(probe, sink);
    put_rounds(probe, sink);
    put_observed(&probe->variants[VARIANT_OBSERVE].record, sink);
    for (size_t i = VARIANT_FIRST_POLICY; i < probe->count; i++)
        put_own(&probe->variants[i], sink);
    put_end(probe, stands, sink);
}

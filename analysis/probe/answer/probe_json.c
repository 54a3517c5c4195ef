/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptds probe --json`: the same as the screen, for machines. Called by the verb. Computes nothing; what is not known is
 * null.
 */
#include "analysis/probe/answer/probe_json.h"

#include "analysis/base/line.h"
#include "analysis/base/sink.h"
#include "analysis/probe/answer/command_to_copy.h"
#include "analysis/probe/answer/conclude.h"
#include "analysis/probe/answer/policy_answer_words.h"
#include "analysis/probe/outputs/compare_runs.h"
#include "analysis/probe/probe.h"
#include "analysis/report/default_cost.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/views/json/value.h"
#include "analysis/views/verdict_words.h"

enum { VERSION = 1 };

static void set(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value);
}

static json_t *line_or_null(const struct line *line)
{
    return line->used != 0 ? value_text(line->text) : json_null();
}

static json_t *ending_json(const struct ending *ending)
{
    json_t *out = json_object();
    set(out, "status", ending->end == END_EXITED ? value_number((uint64_t)ending->code) : json_null());
    set(out, "signal", ending->end == END_SIGNALLED ? value_number((uint64_t)ending->code) : json_null());
    set(out, "timed_out", json_boolean(ending->end == END_TIMED_OUT));
    return out;
}

static json_t *runs(const struct variant *variant)
{
    json_t *out = json_array();
    for (size_t i = 0; i < variant->runs.count; i++) {
        const struct run *run = &variant->runs.items[i];
        json_t *one = ending_json(&run->ending);
        set(one, "round", value_number(run->round));
        set(one, "counted", json_boolean(run->round != 0));
        set(one, "wall_ns", value_number(run->ns));
        set(one, "cuda_ns", run->cuda_ns != 0 ? value_number(run->cuda_ns) : json_null());
        json_array_append_new(out, one);
    }
    return out;
}

static json_t *times_json(const struct times *times)
{
    if (times->count == 0)
        return json_null();
    json_t *out = json_object();
    set(out, "rounds", value_number(times->count));
    set(out, "median_ns", value_number(times->median));
    set(out, "spread_ns", value_number(times->spread));
    set(out, "least_ns", value_number(times->least));
    set(out, "most_ns", value_number(times->most));
    return out;
}

static json_t *difference(const struct facts *facts)
{
    const struct difference *found = &facts->difference;
    if (facts->thing == NULL)
        return json_null();
    json_t *out = json_object();
    bool has_line = !facts->by_command && found->line != 0;
    set(out, "what", value_text(facts->thing));
    set(out, "round", value_number(facts->round));
    set(out, "line", has_line ? value_number(found->line) : json_null());
    set(out, "looks_like_a_time", json_boolean(found->like_time));
    set(out, "bare", has_line && !found->bare_ends ? value_text(found->bare) : json_null());
    set(out, "other", has_line && !found->other_ends ? value_text(found->other) : json_null());
    return out;
}

static json_t *record_json(const struct record *record)
{
    if (record->processes == 0)
        return json_null();
    json_t *out = json_object();
    set(out, "processes", value_number(record->processes));
    set(out, "program", value_text(record->program));
    set(out, "threads", value_number(record->threads));
    set(out, "streams", value_number(record->streams));
    set(out, "calls", value_number(record->calls));
    set(out, "default_stream_operations", value_number(record->default_stream));
    set(out, "remapped", value_number(record->remapped));
    set(out, "kept_explicit_legacy", value_number(record->explicit_legacy));
    set(out, "default_stream", value_text(default_cost_names[record->cost]));
    set(out, "gpu_busy_ns", record->gpu_span_ns != 0 ? value_number(record->gpu_busy_ns) : json_null());
    set(out, "gpu_span_ns", record->gpu_span_ns != 0 ? value_number(record->gpu_span_ns) : json_null());
    set(out, "default_stream_most_ns", record->cost == DEFAULT_UP_TO ? value_number(record->most_ns) : json_null());
    set(out, "complete", json_boolean(!record->incomplete));
    set(out, "outcome", value_text(doubt_names[record->doubt]));
    set(out, "outcome_words", line_or_null(&record->outcome));
    set(out, "first", line_or_null(&record->first));
    set(out, "second", line_or_null(&record->second));
    return out;
}

static json_t *variant_json(const struct variant *variant)
{
    json_t *out = json_object();
    set(out, "name", value_text(variant->name));
    set(out, "times", times_json(&variant->facts.times));
    set(out, "cuda_times", times_json(&variant->facts.cuda));
    set(out, "unlike_bare", value_number(variant->facts.unlike));
    set(out, "left_processes", value_number(variant->facts.leaves));
    set(out, "difference", difference(&variant->facts));
    set(out, "numbers_outside_of_bare", value_number(variant->facts.outside.outside));
    set(out, "runs", runs(variant));
    set(out, "record", record_json(&variant->record));
    return out;
}

static json_t *ratio_if(const struct speedup *gain, enum pace pace)
{
    return gain->ratio > 0 && gain->pace == pace ? json_real(gain->ratio) : json_null();
}

static json_t *pace_if(const struct speedup *gain, bool timed)
{
    return timed && gain->ratio > 0 ? value_text(pace_names[gain->pace]) : json_null();
}

/* By how much medians would have to differ; null where there are too few rounds. */
static json_t *noise_if(const struct speedup *gain, const struct times *bare, const struct times *policy)
{
    return gain->pace != PACE_UNKNOWN ? value_number(times_noise(bare, policy)) : json_null();
}

static json_t *forecast_json(const struct forecast *forecast)
{
    if (!forecast->known)
        return json_null();
    json_t *out = json_object();
    set(out, "least", json_real(forecast->least));
    set(out, "most", json_real(forecast->most));
    return out;
}

static json_t *answer(const struct variant *variant)
{
    struct sentence words = policy_answer_words_line(&variant->answer, &variant->evidence);
    const struct answer *found = &variant->answer;
    const struct evidence *evidence = &variant->evidence;
    json_t *out = json_object();
    bool timed = policy_answer_words_tell_times(found);
    set(out, "policy", value_text(variant->policy));
    set(out, "lanes", variant->lanes != 0 ? value_number(variant->lanes) : json_null());
    set(out, "explicit_legacy", variant->moves_explicit ? value_text("remap") : json_null());
    set(out, "answer", value_text(word_names[found->word]));
    set(out, "why", value_text(why_names[found->why]));
    set(out, "words", value_text(words.text));
    set(out, "times_faster", timed ? ratio_if(&found->whole, PACE_FASTER) : json_null());
    set(out, "times_slower", timed ? ratio_if(&found->whole, PACE_SLOWER) : json_null());
    set(out, "cuda_times_faster", timed ? ratio_if(&found->cuda, PACE_FASTER) : json_null());
    set(out, "cuda_times_slower", timed ? ratio_if(&found->cuda, PACE_SLOWER) : json_null());
    set(out, "pace", pace_if(&found->whole, timed));
    set(out, "cuda_pace", pace_if(&found->cuda, timed));
    set(out, "noise_ns", noise_if(&found->whole, &evidence->bare->times, &evidence->policy->times));
    set(out, "cuda_noise_ns", noise_if(&found->cuda, &evidence->none->cuda, &evidence->policy->cuda));
    set(out, "predicted_times_faster", forecast_json(&evidence->forecast));
    return out;
}

static json_t *things(const struct probe *probe)
{
    static const char *const words[VARIES_STATES] = {
        NULL, "bytes", "lines", "words", "not only numbers", "hexadecimal numbers"};
    json_t *out = json_array();
    for (size_t i = 0; probe->learnt != NULL && i < compare_runs_things(probe); i++) {
        json_t *one = json_object();
        set(one, "what", value_text(compare_runs_thing_name(probe, i)));
        set(one, "varies",
            words[probe->learnt[i].varies] != NULL ? value_text(words[probe->learnt[i].varies]) : json_null());
        set(one, "first_run_differs", json_boolean(probe->learnt[i].first_apart));
        set(one, "numbers_left_out", value_number(probe->learnt[i].list.count));
        json_array_append_new(out, one);
    }
    return out;
}

struct text {
    char *at;
    size_t size;
    bool lost;
};

static void append(struct text_sink *sink, const char *piece, size_t size)
{
    struct text *text = sink->data;
    char *more = realloc(text->at, text->size + size + 1);
    if (more == NULL) {
        text->lost = true;
        return;
    }
    memcpy(more + text->size, piece, size);
    text->at = more;
    text->size += size;
    text->at[text->size] = 0;
}

static json_t *command(const struct probe *probe)
{
    const struct variant *best = conclude_best(probe);
    struct text text = {0};
    struct text_sink sink = {.write = append, .data = &text};
    if (best == NULL)
        return json_null();
    command_to_copy(probe, best, 0, &sink);
    json_t *out = text.at != NULL && !text.lost ? value_text(text.at) : json_null();
    free(text.at);
    return out;
}

/* Null without --shake. */
static json_t *shaken(const struct probe *probe)
{
    json_t *out = json_array();
    if (probe->shaken[VARIANT_NONE].runs.count == 0) {
        json_decref(out);
        return json_null();
    }
    for (size_t i = VARIANT_NONE; i < probe->count; i++) {
        const struct variant *variant = &probe->shaken[i];
        unsigned seed = policy_answer_seed(&variant->facts);
        if (variant->runs.count == 0)
            continue;
        json_t *one = json_object();
        set(one, "policy", value_text(variant->policy));
        set(one, "explicit_legacy", variant->moves_explicit ? value_text("remap") : json_null());
        set(one, "runs", value_number(variant->facts.runs));
        set(one, "unlike_bare", value_number(variant->facts.unlike));
        set(one, "first_seed", seed != 0 ? value_number(seed) : json_null());
        set(one, "difference", difference(&variant->facts));
        json_array_append_new(out, one);
    }
    return out;
}

int probe_json(const struct probe *probe, bool stands, struct text_sink *sink)
{
    const struct variant *first = conclude_first(probe);
    json_t *out = json_object(), *answers = json_array(), *variants = json_array();
    json_array_append_new(answers, answer(first));
    for (size_t i = VARIANT_FIRST_POLICY; i < probe->count; i++)
        if (&probe->variants[i] != first)
            json_array_append_new(answers, answer(&probe->variants[i]));
    for (size_t i = 0; i < probe->count; i++)
        json_array_append_new(variants, variant_json(&probe->variants[i]));
    set(out, "ptds_probe_version", value_number(VERSION));
    set(out, "answers", answers);
    set(out, "interrupted", json_boolean(probe->interrupted));
    set(out, "audit", json_boolean(probe->auditor != NULL));
    set(out, "rounds", value_number(probe->done));
    set(out, "compared", things(probe));
    set(out, "variants", variants);
    set(out, "shaken", shaken(probe));
    set(out, "command", command(probe));
    set(out, "folder", stands ? value_text(probe->folder.path) : json_null());
    return value_write(out, sink);
}

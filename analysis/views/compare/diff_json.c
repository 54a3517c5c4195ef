/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptds diff` for machines.
 */
#include <jansson.h>

#include "analysis/base/sink.h"
#include "analysis/views/compare/diff_views.h"
#include "analysis/views/compare/diff_words.h"
#include "analysis/views/json/value.h"

static json_t *level_json(const struct level *level, bool known)
{
    json_t *out = json_object();
    if (!known) {
        json_decref(out);
        return json_null();
    }
    json_object_set_new(out, "median", json_real(level->median));
    json_object_set_new(out, "least", json_real(level->least));
    json_object_set_new(out, "most", json_real(level->most));
    json_object_set_new(out, "runs", value_number(level->in));
    return out;
}

static json_t *side_json(const struct diff *diff, int side)
{
    const struct history *history = &diff->comparison->sides[side];
    const struct run_facts *last = history->runs.count != 0 ? TABLE_LAST(&history->runs) : NULL;
    json_t *out = json_object();
    json_object_set_new(out, "name", value_text(diff->name[side]));
    json_object_set_new(out, "runs", value_number(history->runs.count));
    json_object_set_new(out, "program", value_text(last != NULL ? last->program : NULL));
    json_object_set_new(out, "policy", value_text(last != NULL ? last->policy : NULL));
    json_object_set_new(out, "run_ns",
                        level_json(&diff->comparison->run_ns[side], diff->comparison->run_ns[side].known != 0));
    return out;
}

/* Sides are null where they have no times on the GPU. `unit`: what one of these numbers is. */
static json_t *gpu_json(const struct diff *diff, enum gpu_measure measure, double unit)
{
    const struct comparison *comparison = diff->comparison;
    json_t *out = json_object();
    for (int side = 0; side < SIDES; side++) {
        struct level level = comparison->gpu[measure][side];
        level.median *= unit;
        level.least *= unit;
        level.most *= unit;
        level.in = level.known;
        json_object_set_new(out, side == BEFORE ? "before" : "after", level_json(&level, level.known != 0));
    }
    json_object_set_new(out, "change", json_string(change_names[diff_words_gpu_change(diff, measure)]));
    json_object_set_new(out, "text",
                        diff_words_gpu(diff, measure).used != 0 ? value_text(diff_words_gpu(diff, measure).text)
                                                                : json_null());
    return out;
}

static json_t *text_or_null(const char *text)
{
    return text != NULL && text[0] != 0 ? value_text(text) : json_null();
}

static json_t *change_json(const struct changed *changed)
{
    static const char *const kinds[] = {[ROW_CALLS] = "calls", [ROW_FINDING] = "finding", [ROW_GPU] = "gpu"};
    static const char *const times[] = {[ROW_CALLS] = "blocked_ns", [ROW_FINDING] = "saves_ns", [ROW_GPU] = "gpu_ns"};
    const struct row *row = changed_row(changed);
    bool finding = row->key.kind == ROW_FINDING;
    json_t *out = json_object(), *calls = json_object(), *ns = json_object();
    json_object_set_new(out, "change", json_string(change_names[changed->change]));
    json_object_set_new(out, "sure", json_boolean(changed->sure));
    json_object_set_new(out, "of", json_string(kinds[row->key.kind]));
    json_object_set_new(out, "rule", text_or_null(row->key.rule));
    json_object_set_new(out, "severity", finding ? json_string(severity_names[row->key.severity]) : json_null());
    json_object_set_new(out, "id", text_or_null(row->id));
    json_object_set_new(out, "call", text_or_null(row->key.api));
    json_object_set_new(out, "kernel", text_or_null(row->key.kernel));
    json_object_set_new(out, "place", text_or_null(row->key.place));
    json_object_set_new(out, "text", text_or_null(row->key.text));
    json_object_set_new(out, "site", text_or_null(row->site));
    json_object_set_new(calls, "before", level_json(&changed->calls[BEFORE], true));
    json_object_set_new(calls, "after", level_json(&changed->calls[AFTER], true));
    json_object_set_new(ns, "before", level_json(&changed->ns[BEFORE], changed->ns[BEFORE].known != 0));
    json_object_set_new(ns, "after", level_json(&changed->ns[AFTER], changed->ns[AFTER].known != 0));
    json_object_set_new(out, "calls", calls);
    json_object_set_new(out, times[row->key.kind], ns);
    return out;
}

int diff_json(const struct diff *diff, struct text_sink *sink)
{
    json_t *out = json_object(), *changes = json_array();
    size_t sure = 0;
    for (size_t i = 0; i < diff->comparison->list.count; i++) {
        const struct changed *changed = &diff->comparison->list.items[i];
        if (changed->change == CHANGE_NONE)
            continue;
        sure += changed->sure;
        json_array_append_new(changes, change_json(changed));
    }
    json_object_set_new(out, "ptds_diff_version", json_integer(1));
    json_object_set_new(out, "answer", value_text(diff_words_answer(diff).text));
    json_object_set_new(out, "time", value_text(diff_words_time(diff).used != 0 ? diff_words_time(diff).text : NULL));
    for (unsigned i = 0; i < GPU_MEASURES; i++)
        sure += diff_words_gpu_change(diff, (enum gpu_measure)i) != CHANGE_NONE;
    json_object_set_new(out, "changed", json_boolean(sure != 0));
    json_object_set_new(out, "spread_known", json_boolean(comparison_has_spread(diff->comparison)));
    json_object_set_new(out, "per_process", json_boolean(diff->comparison->per_process));
    json_object_set_new(out, "before", side_json(diff, BEFORE));
    json_object_set_new(out, "after", side_json(diff, AFTER));
    json_object_set_new(out, "gpu_default_stream_ns", gpu_json(diff, GPU_DEFAULT_STREAM, 1));
    json_object_set_new(out, "gpu_idle_share", gpu_json(diff, GPU_IDLE, 1e-9));
    json_object_set_new(out, "changes", changes);
    return value_write(out, sink);
}

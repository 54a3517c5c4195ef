/* SPDX-License-Identifier: Apache-2.0
 *
 * Puts changes into words. Called by all that write them. Says each number once and its spread beside it.
 */
#include "analysis/compare/change_words.h"

#include <stdio.h>
#include <string.h>

#include "analysis/base/line.h"

void change_words_row(const struct row *row, char *out, size_t room)
{
    const struct row_key *key = &row->key;
    size_t used = (size_t)snprintf(out, room, "%.140s", key->api);
    if (key->kernel[0] != 0 && used < room)
        used += (size_t)snprintf(out + used, room - used, "%s%.120s", used != 0 ? " of " : "kernel ", key->kernel);
    if (key->place[0] != 0 && used < room)
        used += (size_t)snprintf(out + used, room - used, " in %.120s", key->place);
    if (key->text[0] != 0 && used < room)
        snprintf(out + used, room - used, "%s%.120s", used != 0 ? ", " : "", key->text);
}

static uint64_t whole(double value)
{
    return (uint64_t)(value + 0.5);
}

static const char *each(const struct comparison *comparison)
{
    return comparison->per_process ? "a process" : "a run";
}

static void add_spread(struct line *line, const struct level *level, bool times)
{
    if (whole(level->least) == whole(level->most))
        return;
    if (times)
        line_add(line, " (%s to %s)", text_ns(whole(level->least)).text, text_ns(whole(level->most)).text);
    else
        line_add(line, " (%s to %s)", text_count(whole(level->least)).text, text_count(whole(level->most)).text);
}

struct line change_words_calls(const struct comparison *comparison, const struct changed *changed)
{
    struct line line = {.used = 0};
    const struct level *after = &changed->calls[AFTER], *before = &changed->calls[BEFORE];
    bool gpu = changed_row(changed)->key.kind == ROW_GPU;
    line_add(&line, "%s %s", text_plural(whole(after->median), gpu ? "operation" : "call").text, each(comparison));
    add_spread(&line, after, false);
    if (before->in == 0)
        return line;
    line_add(&line, ", was %s", text_count(whole(before->median)).text);
    add_spread(&line, before, false);
    return line;
}

struct line change_words_all_calls(const struct comparison *comparison, const struct changed *changed)
{
    struct line line = {.used = 0};
    const struct level *after = &changed->all[AFTER], *before = &changed->all[BEFORE];
    line_add(&line, "all functions together make %s %s", text_count(whole(after->median)).text, each(comparison));
    add_spread(&line, after, false);
    line_add(&line, ", was %s", text_count(whole(before->median)).text);
    add_spread(&line, before, false);
    return line;
}

struct line change_words_time(const struct comparison *comparison, const struct changed *changed)
{
    struct line line = {.used = 0};
    const struct level *after = &changed->ns[AFTER], *before = &changed->ns[BEFORE];
    if ((after->known == 0 && before->known == 0) || (after->most <= 0 && before->most <= 0))
        return line;
    if (changed_row(changed)->key.kind == ROW_GPU)
        line_add(&line, "ran ");
    line_add(&line, "%s %s", after->known != 0 || after->in == 0 ? text_ns(whole(after->median)).text : "unknown time",
             each(comparison));
    add_spread(&line, after, true);
    if (before->in == 0)
        return line;
    line_add(&line, ", was %s", before->known != 0 ? text_ns(whole(before->median)).text : "unknown");
    add_spread(&line, before, true);
    return line;
}

struct line change_words_per_call(const struct changed *changed)
{
    struct line line = {.used = 0};
    const struct level *calls = changed->calls, *ns = changed->ns;
    if (ns[AFTER].known == 0 || ns[BEFORE].known == 0 || calls[AFTER].median < 1 || calls[BEFORE].median < 1)
        return line;
    struct small_text after = text_ns(whole(ns[AFTER].median / calls[AFTER].median)),
                      before = text_ns(whole(ns[BEFORE].median / calls[BEFORE].median));
    line_add(&line, "%s %s", after.text, changed_row(changed)->key.kind == ROW_GPU ? "each" : "a call");
    if (strcmp(after.text, before.text) == 0)
        line_add(&line, ", as before");
    else
        line_add(&line, ", was %s", before.text);
    return line;
}

struct small_text change_words_share(double before, double after)
{
    struct small_text out = {""};
    if (before > 0 && after > 0 && before != after)
        snprintf(out.text, sizeof out.text, "%+.0f %%", (after / before - 1) * 100);
    return out;
}

/* Of billionths. */
static struct small_text idle_share(double share)
{
    return text_share(whole(share), 1000000000);
}

static void add_gpu(struct line *line, const struct level *level, enum gpu_measure measure)
{
    if (measure == GPU_DEFAULT_STREAM)
        add_spread(line, level, true);
    else if (whole(level->least) != whole(level->most))
        line_add(line, " (%s to %s)", idle_share(level->least).text, idle_share(level->most).text);
}

struct line change_words_gpu(const struct comparison *comparison, enum gpu_measure measure)
{
    struct line line = {.used = 0};
    const struct level *after = &comparison->gpu[measure][AFTER], *before = &comparison->gpu[measure][BEFORE];
    if (measure == GPU_DEFAULT_STREAM)
        line_add(&line, "default-stream work ran %s %s on the GPU", text_ns(whole(after->median)).text, each(comparison));
    else
        line_add(&line, "the GPU was idle %s of its time", idle_share(after->median).text);
    add_gpu(&line, after, measure);
    line_add(&line, ", was %s",
             measure == GPU_DEFAULT_STREAM ? text_ns(whole(before->median)).text : idle_share(before->median).text);
    add_gpu(&line, before, measure);
    return line;
}

struct line change_words_runs(const struct history *history)
{
    struct line line = {.used = 0};
    uint64_t processes = history->runs.count != 0 ? history->runs.items[0].processes : 0;
    for (size_t i = 0; i < history->runs.count; i++)
        if (history->runs.items[i].processes > processes)
            processes = history->runs.items[i].processes;
    line_add(&line, "%s", text_plural(history->runs.count, "run").text);
    if (processes > 1)
        line_add(&line, " of %s processes", text_count(processes).text);
    return line;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads and writes baselines. Called by `ptds check`. The file is a user's, edited and merged by hand: what has not the
 * shape of a baseline is refused with a reason, never taken for an empty one.
 */
#include "analysis/compare/baseline.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "analysis/base/text.h"
#include "analysis/views/json/value.h"

static bool fail(char *error, const char *path, const char *reason)
{
    snprintf(error, COMPARE_ERROR_SIZE, "%.300s: %s", path, reason);
    return false;
}

/* What the times of a row are. */
static const char *const times_keys[] = {[ROW_CALLS] = "blocked_ns", [ROW_FINDING] = "saves_ns", [ROW_GPU] = "gpu_ns"};

static json_t *list_of(const struct row *row, size_t runs, bool times)
{
    json_t *out = json_array();
    for (size_t i = 0; i < runs; i++) {
        struct amount amount = history_amount_in(row, i);
        bool known = !times || amount.has_ns;
        json_array_append_new(out, known ? value_number(times ? amount.ns : amount.count) : json_null());
    }
    return out;
}

static void put_text(json_t *out, const char *key, const char *text)
{
    if (text != NULL && text[0] != 0)
        json_object_set_new(out, key, value_text(text));
}

static bool is_shown(const struct row *row)
{
    for (size_t i = 0; i < row->by_run.count; i++)
        if (row->by_run.items[i].shown)
            return true;
    return false;
}

static json_t *row_json(const struct row *row, size_t runs)
{
    bool finding = row->key.kind == ROW_FINDING;
    json_t *out = json_object();
    put_text(out, "rule", row->key.rule);
    if (finding)
        json_object_set_new(out, "severity", json_string(severity_names[row->key.severity]));
    put_text(out, "call", row->key.api);
    put_text(out, "kernel", row->key.kernel);
    put_text(out, "place", row->key.place);
    put_text(out, "text", row->key.text);
    put_text(out, "site", row->site);
    put_text(out, "id", row->id);
    if (finding)
        json_object_set_new(out, "shown", json_boolean(is_shown(row)));
    if (row->unnamed)
        json_object_set_new(out, "unnamed", json_true());
    if (row->asks)
        json_object_set_new(out, "asks", json_true());
    json_object_set_new(out, "calls", list_of(row, runs, false));
    json_object_set_new(out, times_keys[row->key.kind], list_of(row, runs, true));
    return out;
}

static json_t *run_json(const struct run_facts *run)
{
    json_t *out = json_object();
    put_text(out, "program", run->program);
    put_text(out, "policy", run->policy);
    put_text(out, "recorded", run->recorded);
    json_object_set_new(out, "processes", value_number(run->processes));
    json_object_set_new(out, "calls", value_number(run->calls));
    json_object_set_new(out, "run_ns", run->has_time ? value_number(run->run_ns) : json_null());
    json_object_set_new(out, "threads_ns", value_number(run->threads_ns));
    json_object_set_new(out, "blocked_ns", value_number(run->blocked_ns));
    if (!run->has_gpu)
        return out;
    json_object_set_new(out, "gpu_busy_ns", value_number(run->gpu_busy_ns));
    json_object_set_new(out, "gpu_span_ns", value_number(run->gpu_span_ns));
    json_object_set_new(out, "gpu_default_stream_ns", value_number(run->gpu_default_ns));
    return out;
}

static bool put_line(FILE *out, json_t *item, bool last)
{
    bool whole = item != NULL && json_dumpf(item, out, JSON_COMPACT) == 0;
    whole &= fputs(last ? "\n" : ",\n", out) >= 0;
    json_decref(item);
    return whole;
}

static bool put_rows(const struct history *history, enum row_kind kind, FILE *out)
{
    size_t left = 0;
    bool whole = true;
    for (size_t i = 0; i < history->rows.count; i++)
        left += history->rows.items[i].key.kind == kind;
    for (size_t i = 0; i < history->rows.count; i++)
        if (history->rows.items[i].key.kind == kind)
            whole &= put_line(out, row_json(&history->rows.items[i], history->runs.count), --left == 0);
    return whole;
}

bool baseline_write(const struct history *history, FILE *out)
{
    bool whole = fprintf(out, "{\"ptds_baseline_version\": %d,\n\"runs\": [\n", BASELINE_VERSION) > 0;
    for (size_t i = 0; i < history->runs.count; i++)
        whole &= put_line(out, run_json(&history->runs.items[i]), i + 1 == history->runs.count);
    whole &= fputs("],\n\"findings\": [\n", out) >= 0;
    whole &= put_rows(history, ROW_FINDING, out);
    whole &= fputs("],\n\"calls\": [\n", out) >= 0;
    whole &= put_rows(history, ROW_CALLS, out);
    whole &= fputs("],\n\"gpu\": [\n", out) >= 0;
    whole &= put_rows(history, ROW_GPU, out);
    whole &= fputs("]}\n", out) >= 0;
    return fflush(out) == 0 && whole;
}

/* As it would be written, so that what is written and read again is the same. */
static const char *text_at(const json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    const char *text = json_string_value(value);
    char *clean = text != NULL ? text_copy(text, strlen(text)) : NULL;
    if (clean == NULL || (strcmp(clean, text) != 0 && json_string_set(value, clean) != 0))
        value = NULL;
    free(clean);
    return value != NULL ? json_string_value(value) : "";
}

static uint64_t number_at(const json_t *object, const char *key)
{
    json_int_t value = json_integer_value(json_object_get(object, key));
    return value > 0 ? (uint64_t)value : 0;
}

static bool take_run(struct history *history, const json_t *in)
{
    struct run_facts run = {.processes = number_at(in, "processes"), .calls = number_at(in, "calls")};
    if (!json_is_object(in) || run.processes == 0)
        return false;
    run.program = (char *)text_at(in, "program");
    run.policy = (char *)text_at(in, "policy");
    run.has_time = json_is_integer(json_object_get(in, "run_ns"));
    run.run_ns = number_at(in, "run_ns");
    run.threads_ns = number_at(in, "threads_ns");
    run.blocked_ns = number_at(in, "blocked_ns");
    run.gpu_busy_ns = number_at(in, "gpu_busy_ns");
    run.gpu_span_ns = number_at(in, "gpu_span_ns");
    run.gpu_default_ns = number_at(in, "gpu_default_stream_ns");
    run.has_gpu = run.gpu_span_ns != 0 && run.gpu_busy_ns <= run.gpu_span_ns;
    snprintf(run.recorded, sizeof run.recorded, "%s", text_at(in, "recorded"));
    return history_begin_run(history, &run);
}

static bool take_severity(const json_t *in, enum severity *severity)
{
    for (unsigned i = 0; i < SEVERITIES; i++) {
        if (strcmp(text_at(in, "severity"), severity_names[i]) != 0)
            continue;
        *severity = (enum severity)i;
        return true;
    }
    return false;
}

static bool take_amounts(struct history *history, struct row *row, const json_t *in, bool shown)
{
    const json_t *calls = json_object_get(in, "calls");
    const json_t *times = json_object_get(in, times_keys[row->key.kind]);
    size_t runs = history->runs.count;
    if (json_array_size(calls) != runs || json_array_size(times) != runs)
        return false;
    for (size_t i = 0; i < runs; i++) {
        const json_t *count = json_array_get(calls, i), *time = json_array_get(times, i);
        struct amount *amount = history_amount(history, row, i);
        bool known = json_is_integer(time);
        if (amount == NULL || !json_is_integer(count) || json_integer_value(count) < 0 || (!known && !json_is_null(time)) ||
            (known && json_integer_value(time) < 0))
            return false;
        *amount = (struct amount){.count = (uint64_t)json_integer_value(count), .has_ns = known};
        amount->ns = known ? (uint64_t)json_integer_value(time) : 0;
        amount->shown = shown && amount->count != 0;
        history->runs.items[i].has_gpu_rows |= row->key.kind == ROW_GPU && known && history->runs.items[i].has_gpu;
    }
    return true;
}

static bool take_row(struct history *history, const json_t *in, enum row_kind kind)
{
    struct row_key key = {.kind = kind, .rule = text_at(in, "rule"), .api = text_at(in, "call")};
    key.kernel = text_at(in, "kernel");
    key.place = text_at(in, "place");
    key.text = text_at(in, "text");
    if (!json_is_object(in) || (kind == ROW_FINDING && (key.rule[0] == 0 || !take_severity(in, &key.severity))))
        return false;
    size_t before = history->rows.count;
    struct row *row = history_row(history, &key);
    if (row == NULL || history->rows.count == before)
        return false; /* twice: merged by hand */
    row->asks = json_is_true(json_object_get(in, "asks"));
    row->unnamed = json_is_true(json_object_get(in, "unnamed"));
    history_row_set_site(row, text_at(in, "site"), text_at(in, "id"));
    return take_amounts(history, row, in, json_is_true(json_object_get(in, "shown")));
}

static bool take_rows(struct history *history, const json_t *rows, enum row_kind kind, const char *path, char *error)
{
    static const char *const words[] = {[ROW_CALLS] = "call", [ROW_FINDING] = "finding", [ROW_GPU] = "work on the GPU"};
    char reason[80];
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        if (take_row(history, row, kind))
            continue;
        snprintf(reason, sizeof reason, "damaged: %s %zu is none of a baseline's", words[kind], i + 1);
        return fail(error, path, reason);
    }
    return true;
}

static bool take_root(struct history *history, const json_t *root, const char *path, char *error)
{
    const json_t *runs = json_object_get(root, "runs"), *findings = json_object_get(root, "findings"),
                 *calls = json_object_get(root, "calls");
    size_t i;
    json_t *run;
    if (json_is_integer(json_object_get(root, "ptds_report_version")))
        return fail(error, path,
                    "a report, as older versions took; make a baseline: ptds check --update --baseline FILE TRACE...");
    if (!json_is_integer(json_object_get(root, "ptds_baseline_version")))
        return fail(error, path, "no baseline of ptds check --update");
    if (json_integer_value(json_object_get(root, "ptds_baseline_version")) != BASELINE_VERSION)
        return fail(error, path, "a baseline of another version of ptds; remove it, and make it anew with --update");
    if (json_array_size(runs) == 0 || !json_is_array(findings) || !json_is_array(calls))
        return fail(error, path, "damaged: it has no runs, no findings or no calls");
    json_array_foreach(runs, i, run)
    {
        if (!take_run(history, run))
            return fail(error, path, "damaged: a run is none of a baseline's");
    }
    return take_rows(history, findings, ROW_FINDING, path, error) && take_rows(history, calls, ROW_CALLS, path, error) &&
           take_rows(history, json_object_get(root, "gpu"), ROW_GPU, path, error); /* none: older ones */
}

/* A shell's pipe, as in `--baseline <(...)`: it has its writer. */
static bool is_pipe(int file, mode_t mode)
{
    struct statfs system;
    return S_ISFIFO(mode) && fstatfs(file, &system) == 0 && system.f_type == PIPEFS_MAGIC;
}

/* Not a FIFO, whose writer may never come, nor a device, which may never end. */
static FILE *open_file(const char *path, char *error)
{
    struct stat status;
    const char *reason = NULL;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0 || fstat(file, &status) != 0)
        reason = strerror(errno);
    else if (S_ISDIR(status.st_mode))
        reason = "is a folder; a baseline is a file that ptds check --update makes";
    else if (!S_ISREG(status.st_mode) && !(is_pipe(file, status.st_mode) && fcntl(file, F_SETFL, O_RDONLY) == 0))
        reason = "is no regular file; a baseline is a file that ptds check --update makes";
    FILE *opened = reason == NULL ? fdopen(file, "r") : NULL;
    if (opened == NULL) {
        fail(error, path, reason != NULL ? reason : strerror(errno));
        if (file >= 0)
            close(file);
    }
    return opened;
}

bool baseline_read(struct history *history, const char *path, char *error)
{
    char reason[200];
    json_error_t trouble;
    FILE *file = open_file(path, error);
    *history = (struct history){0};
    if (file == NULL)
        return false;
    json_t *root = json_loadf(file, JSON_REJECT_DUPLICATES, &trouble);
    fclose(file);
    if (root == NULL) {
        snprintf(reason, sizeof reason, "no baseline: line %d: %.120s", trouble.line, trouble.text);
        return fail(error, path, reason);
    }
    bool sound = take_root(history, root, path, error);
    json_decref(root);
    if (!sound)
        history_free(history);
    else
        history_sort(history);
    return sound;
}

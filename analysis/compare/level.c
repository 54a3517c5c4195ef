/* SPDX-License-Identifier: Apache-2.0
 *
 * Medians and spreads. Called by compare.c. Medians, since one run of ten on a busy machine takes several times as long.
 */
#include "analysis/compare/level.h"

#include <stdlib.h>
#include <string.h>

static int by_value(const void *one, const void *two)
{
    double a = *(const double *)one, b = *(const double *)two;
    return (a > b) - (a < b);
}

static void settle(struct level *level, double *values, size_t count)
{
    if (count == 0)
        return;
    qsort(values, count, sizeof *values, by_value);
    level->least = values[0];
    level->most = values[count - 1];
    level->low = values[count >= 5 ? count / 4 : 0];
    level->high = values[count >= 5 ? count - 1 - count / 4 : count - 1];
    level->median = (values[count / 2] + values[(count - 1) / 2]) / 2;
}

static double share(const struct history *history, size_t run, bool per_process)
{
    uint64_t processes = history->runs.items[run].processes;
    return per_process && processes > 1 ? 1.0 / (double)processes : 1;
}

static struct level level_of(const struct history *history, const struct row *row, bool per_process, bool times)
{
    struct level level = {.in = 0};
    size_t runs = history->runs.count;
    double *values = calloc(runs + 1, sizeof *values);
    for (size_t i = 0; i < runs && values != NULL; i++) {
        struct amount amount = history_amount_in(row, i);
        level.in += amount.count != 0;
        level.known += amount.count != 0 && amount.has_ns;
        values[i] = (double)(times ? amount.ns : amount.count) * share(history, i, per_process);
    }
    if (values != NULL)
        settle(&level, values, runs);
    free(values);
    return level;
}

struct level level_of_calls(const struct history *history, const struct row *row, bool per_process)
{
    return level_of(history, row, per_process, false);
}

struct level level_of_ns(const struct history *history, const struct row *row, bool per_process)
{
    return level_of(history, row, per_process, true);
}

struct level level_of_gpu_row(const struct history *history, const struct row *row, bool per_process, bool times)
{
    struct level level = {.in = 0};
    double *values = calloc(history->runs.count + 1, sizeof *values);
    for (size_t i = 0; i < history->runs.count && values != NULL; i++) {
        struct amount amount = history_amount_in(row, i);
        if (!history->runs.items[i].has_gpu_rows)
            continue;
        level.in += amount.count != 0;
        values[level.known++] = (double)(times ? amount.ns : amount.count) * share(history, i, per_process);
    }
    if (values != NULL)
        settle(&level, values, level.known);
    free(values);
    return level;
}

struct level level_of_runs(const struct history *history)
{
    struct level level = {.in = history->runs.count};
    double *values = calloc(history->runs.count + 1, sizeof *values);
    size_t known = 0;
    for (size_t i = 0; i < history->runs.count && values != NULL; i++)
        if (history->runs.items[i].has_time)
            values[known++] = (double)history->runs.items[i].run_ns;
    if (values != NULL)
        settle(&level, values, known);
    level.known = known;
    free(values);
    return level;
}

struct level level_of_gpu(const struct history *history, enum gpu_measure measure, bool per_process)
{
    struct level level = {.in = history->runs.count};
    double *values = calloc(history->runs.count + 1, sizeof *values);
    size_t known = 0;
    for (size_t i = 0; i < history->runs.count && values != NULL; i++) {
        const struct run_facts *run = &history->runs.items[i];
        if (run->has_gpu)
            values[known++] = measure == GPU_IDLE
                                  ? (double)(run->gpu_span_ns - run->gpu_busy_ns) / (double)run->gpu_span_ns * 1e9
                                  : (double)run->gpu_default_ns * share(history, i, per_process);
    }
    if (values != NULL)
        settle(&level, values, known);
    level.known = known;
    free(values);
    return level;
}

struct level level_of_group(const struct history *history, const struct row_key *key, bool per_process)
{
    struct level level = {.in = 0};
    struct row_key first = {.kind = ROW_CALLS, .rule = "", .api = key->api, .kernel = key->kernel, .place = "", .text = ""};
    double *values = calloc(history->runs.count + 1, sizeof *values);
    for (size_t i = history_seek(history, &first); i < history->rows.count && values != NULL; i++) {
        const struct row *row = &history->rows.items[i];
        if (row->key.kind != ROW_CALLS || strcmp(row->key.api, key->api) != 0 || strcmp(row->key.kernel, key->kernel) != 0)
            break;
        for (size_t run = 0; run < history->runs.count; run++)
            values[run] += (double)history_amount_in(row, run).count * share(history, run, per_process);
    }
    for (size_t run = 0; run < history->runs.count && values != NULL; run++)
        level.in += values[run] > 0;
    if (values != NULL)
        settle(&level, values, history->runs.count);
    free(values);
    return level;
}

static double greater(double one, double two)
{
    return one > two ? one : two;
}

double level_counts_gained(const struct level *before, const struct level *after)
{
    double above = after->median - before->most;
    return after->least > before->most && above > after->most - after->least ? above : 0;
}

double level_counts_lost(const struct level *before, const struct level *after)
{
    double below = before->least - after->median;
    return after->most < before->least && below > after->most - after->least ? below : 0;
}

bool level_times_above(const struct level *one, const struct level *two, double growth, double least)
{
    double above = two->median - one->median, spread = greater(one->high - one->low, two->high - two->low);
    return above > 0 && above >= greater(least, one->median * growth) && two->low > one->high && above > spread;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Folds findings over processes. Called by the writers for several traces, by exports and by `ptds check`.
 */
#include "analysis/report/many/fold.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/add.h"
#include "analysis/base/heap.h"
#include "analysis/base/id_map.h"
#include "analysis/report/default_cost.h"
#include "analysis/report/rank.h"
#include "analysis/report/many/traced.h"
#include "analysis/report/outcome.h"

/* Processes come in order, so a process's share is the last one or a new one. */
static struct share *share_of(struct folded *folded, size_t process)
{
    if (folded->shares.count != 0 && TABLE_LAST(&folded->shares)->process == process)
        return TABLE_LAST(&folded->shares);
    if (!TABLE_ADD(&folded->shares))
        return NULL;
    *TABLE_LAST(&folded->shares) = (struct share){.process = process};
    return TABLE_LAST(&folded->shares);
}

static struct folded *folded_of(struct folds *folds, struct id_map *by_id, const struct folded *first)
{
    struct finding_id id = first->id;
    uint64_t key = strtoull(id.text, NULL, 16);
    uint32_t at;
    if (id_map_get(by_id, key, &at))
        return &folds->list.items[at];
    if (!TABLE_ADD(&folds->list) || !id_map_put(by_id, key, (uint32_t)folds->list.count - 1))
        return NULL;
    *TABLE_LAST(&folds->list) = *first;
    return TABLE_LAST(&folds->list);
}

static bool take(struct folds *folds, struct id_map *by_id, const struct report *report, size_t process,
                 const struct finding *finding)
{
    struct folded first = {.id = identity_of(&report->trace, finding), .finding = finding, .process = process};
    struct folded *folded = folded_of(folds, by_id, &first);
    struct share *share = folded != NULL ? share_of(folded, process) : NULL;
    if (share == NULL)
        return false;
    const struct finding *now = folded->finding;
    folded->shown |= finding->fold == FOLD_SHOWN;
    if (finding->severity > now->severity || (finding->severity == now->severity && finding->host_ns > now->host_ns)) {
        folded->finding = finding;
        folded->process = process;
    }
    share->count = add_capped(share->count, finding->count);
    share->host_ns = add_capped(share->host_ns, finding->host_ns);
    share->known = add_capped(share->known, finding->known);
    share->unknown = add_capped(share->unknown, finding->unknown);
    folded->count = add_capped(folded->count, finding->count);
    folded->host_ns = add_capped(folded->host_ns, finding->host_ns);
    folded->weight_ns = add_capped(folded->weight_ns, finding->weight_ns);
    folded->known = add_capped(folded->known, finding->known);
    folded->unknown = add_capped(folded->unknown, finding->unknown);
    folds->host_ns = add_capped(folds->host_ns, finding->host_ns);
    folds->known = add_capped(folds->known, finding->known);
    return true;
}

/* The id decides between equals, so that the order is the same in every run. */
static int by_weight(const void *a, const void *b)
{
    const struct folded *one = a, *two = b;
    if (one->shown != two->shown)
        return one->shown ? -1 : 1;
    if (one->shown && rank_place(one->finding) != rank_place(two->finding))
        return rank_place(one->finding) - rank_place(two->finding);
    int first = finding_weigh((struct finding_weight){one->finding->severity, one->weight_ns, one->unknown, one->count},
                              (struct finding_weight){two->finding->severity, two->weight_ns, two->unknown, two->count});
    return first != 0 ? first : strcmp(one->id.text, two->id.text);
}

static void add_cost(struct runs *runs, const struct report *report, size_t process)
{
    struct default_stream cost = default_cost_of(report);
    runs->or_more |= cost.or_more;
    runs->cost_unknown += cost.cost == DEFAULT_UNKNOWN;
    if (cost.most_ns < rank_floor_ns(report) || cost.most_ns == 0) {
        runs->small += cost.most_ns != 0;
        return;
    }
    runs->gains++;
    if (cost.most_ns > runs->most_ns) {
        runs->most_ns = cost.most_ns;
        runs->most = process;
    }
}

static void add_run(struct runs *runs, const struct traced *traced, size_t process)
{
    const struct report *report = &traced->report;
    const struct report_totals *totals = &report->totals;
    struct outcome outcome = outcome_of(report);
    runs->outcomes[outcome.doubt]++;
    runs->little += outcome.doubt == DOUBT_NONE && outcome.little;
    runs->possible += outcome.doubt == DOUBT_NONE && outcome.possible != 0;
    runs->incomplete += traced_incomplete(traced, NULL, NULL) != 0;
    if (process == 0 || totals->run_ns < runs->shortest_ns)
        runs->shortest_ns = totals->run_ns;
    if (totals->run_ns > runs->longest_ns)
        runs->longest_ns = totals->run_ns;
    runs->calls = add_capped(runs->calls, totals->calls);
    runs->default_stream = add_capped(runs->default_stream, totals->default_stream);
    runs->remapped = add_capped(runs->remapped, totals->remapped);
    runs->unrecorded += outcome_knows_nothing(report);
    if (outcome_knows_blocked(report)) {
        runs->blocked_known++;
        runs->threads_ns = add_capped(runs->threads_ns, totals->threads_ns);
        runs->blocked_ns = add_capped(runs->blocked_ns, totals->blocked_ns);
    }
    for (unsigned kind = 0; kind < STARTUP_KINDS; kind++)
        runs->startup_ns = add_capped(runs->startup_ns, report->startup.ns[kind]);
    add_cost(runs, report, process);
}

struct advices {
    const char *texts[RULES_MOST * 4];
    size_t count;
};

/* Whether this advice was given; now it is. */
static bool is_advised(struct advices *given, const struct finding *finding)
{
    const char *advice = finding_advice(finding);
    for (size_t i = 0; i < given->count; i++)
        if (given->texts[i] == advice)
            return true;
    if (given->count < sizeof given->texts / sizeof given->texts[0])
        given->texts[given->count++] = advice;
    return false;
}

static void add_up(struct folds *folds, const struct traces *traces)
{
    struct advices given = {.count = 0};
    for (size_t i = 0; i < folds->list.count; i++) {
        const struct folded *one = &folds->list.items[i];
        folds->list.items[i].advised = is_advised(&given, one->finding);
        sums_add(&folds->sums, &traces->list.items[one->process]->report.trace.defs, one->finding, one->shown,
                 (struct sum){1, one->count, one->host_ns, one->known});
    }
    sums_finish(&folds->sums, 0, 0);
    folds->out_of_memory |= folds->sums.out_of_memory;
}

void fold_make(struct folds *folds, const struct traces *traces)
{
    struct id_map by_id = {0};
    *folds = (struct folds){0};
    for (size_t i = 0; i < traces->list.count; i++) {
        const struct report *report = &traces->list.items[i]->report;
        for (size_t j = 0; j < report->findings.count; j++)
            if (!take(folds, &by_id, report, i, report->findings.items[j]))
                folds->out_of_memory = true;
    }
    id_map_free(&by_id);
    if (folds->list.count != 0)
        qsort(folds->list.items, folds->list.count, sizeof *folds->list.items, by_weight);
    for (size_t i = 0; i < traces->list.count; i++)
        add_run(&folds->runs, traces->list.items[i], i);
    add_up(folds, traces);
}

void fold_free(struct folds *folds)
{
    for (size_t i = 0; i < folds->list.count; i++)
        free(folds->list.items[i].shares.items);
    free(folds->list.items);
    sums_free(&folds->sums);
    *folds = (struct folds){0};
}

static int by_value(const void *a, const void *b)
{
    uint64_t one = *(const uint64_t *)a, two = *(const uint64_t *)b;
    return one < two ? -1 : one > two;
}

struct spread fold_spread(const struct folded *folded)
{
    struct spread spread = {0};
    uint64_t *values = heap_zeroed(folded->shares.count + 1, sizeof *values);
    if (values == NULL)
        return spread;
    for (size_t i = 0; i < folded->shares.count; i++) {
        const struct share *share = &folded->shares.items[i];
        if (share->known == 0)
            continue;
        if (spread.processes == 0 || share->host_ns > spread.most) {
            spread.most = share->host_ns;
            spread.most_process = share->process;
        }
        values[spread.processes++] = share->host_ns;
    }
    if (spread.processes != 0) {
        qsort(values, spread.processes, sizeof *values, by_value);
        spread.least = values[0];
        spread.median = values[spread.processes / 2];
    }
    free(values);
    return spread;
}

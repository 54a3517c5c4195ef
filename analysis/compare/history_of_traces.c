/* SPDX-License-Identifier: Apache-2.0
 *
 * Fills a history from traces. Called by `ptds check` and `ptds diff`. Counts calls by driver function, kernel and calling
 * function, never by stack: which calls have a whole stack is a matter of time and policy.
 */
#include "analysis/compare/history_of_traces.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/base/add.h"
#include "analysis/base/id_map.h"
#include "analysis/base/text.h"
#include "analysis/compare/runs.h"
#include "analysis/findings/caller.h"
#include "analysis/findings/identity.h"
#include "analysis/report/many/traced.h"
#include "analysis/report/walk_calls.h"
#include "analysis/symbols/symbolizer.h"
#include "analysis/trace/device_runs.h"
#include "analysis/views/report_words.h"

/* Calls from one stack, before it has a name. */
struct tally {
    uint32_t api, stack, kernel;
    bool twin, asks;
    uint64_t count, ns;
    uint64_t ran, gpu_ns; /* of them, those whose time on the GPU is known */
};

struct tallies {
    TABLE_OF(struct tally) list;
    struct device_run_list device;
    const struct trace *trace;
    struct id_map places, by_key; /* stack and kernel -> number; number, api and twin -> position in list */
    uint32_t numbers;
    bool out_of_memory;
};

static struct tally *tally_of(struct tallies *tallies, const struct tally *first)
{
    uint64_t place = first->stack | (uint64_t)first->kernel << 32;
    uint32_t number, at;
    if (!id_map_get(&tallies->places, place, &number)) {
        number = tallies->numbers++;
        if (!id_map_put(&tallies->places, place, number))
            return NULL;
    }
    uint64_t key = number | (uint64_t)(first->api & 0xffff) << 32 | (uint64_t)first->twin << 48;
    if (id_map_get(&tallies->by_key, key, &at))
        return &tallies->list.items[at];
    if (!TABLE_ADD(&tallies->list) || !id_map_put(&tallies->by_key, key, (uint32_t)tallies->list.count - 1))
        return NULL;
    *TABLE_LAST(&tallies->list) = *first;
    return TABLE_LAST(&tallies->list);
}

static void count_gpu(struct tallies *tallies, struct tally *tally, const struct call *call)
{
    const struct device_run *run = device_runs_has(call->r.op) ? device_runs_of(&tallies->device, call) : NULL;
    uint64_t after, ns;
    if (run == NULL)
        return;
    device_runs_times(tallies->trace, run, &after, &ns);
    tally->ran++;
    tally->gpu_ns = add_capped(tally->gpu_ns, ns);
}

static void count_call(struct walker *walker, struct model *model, const struct call_view *view)
{
    struct tallies *tallies = walker->data;
    const struct ptds_rec_CALL *call = &view->call->r;
    struct tally first = {.api = call->api, .stack = call->stack, .twin = (call->flags & PTDS_CALL_TWIN) != 0};
    (void)model;
    first.kernel = call->op == PTDS_OP_LAUNCH ? call->object : 0;
    first.asks = call->op == PTDS_OP_STREAM_QUERY || call->op == PTDS_OP_EVENT_QUERY;
    struct tally *tally = tally_of(tallies, &first);
    if (tally == NULL) {
        tallies->out_of_memory = true;
        return;
    }
    tally->count++;
    tally->ns += view_blocked_ns(view);
    count_gpu(tallies, tally, view->call);
}

/* The process at hand. */
struct process {
    struct history *history;
    const struct report *report;
    struct site_namer *namer;
    size_t run;
    bool has_gpu;
};

struct words {
    char api[160], kernel[400], site[400];
    struct caller caller;
};

static void name_call(const struct process *process, uint32_t api, bool twin, uint32_t stack, struct words *words)
{
    const struct definitions *defs = &process->report->trace.defs;
    snprintf(words->api, sizeof words->api, "%.140s%s", definitions_api_name(defs, api), twin ? " (per-thread)" : "");
    words->caller = caller_of(defs, process->namer, stack);
    if (!report_words_site(process->report, process->namer, stack, words->site, sizeof words->site))
        words->site[0] = 0;
}

static void name_kernel(const struct process *process, uint32_t uid, struct words *words)
{
    const struct definitions *defs = &process->report->trace.defs;
    const struct kernel_def *kernel = uid != 0 ? definitions_kernel(defs, uid) : NULL;
    const char *name = kernel != NULL && kernel->name != 0 ? definitions_string(defs, kernel->name) : NULL;
    words->kernel[0] = 0;
    if (name != NULL)
        text_demangle(words->kernel, sizeof words->kernel, name);
}

static void add_tally(const struct process *process, const struct tally *tally)
{
    struct words words = {.api = ""};
    name_call(process, tally->api, tally->twin, tally->stack, &words);
    name_kernel(process, tally->kernel, &words);
    struct row_key key = {.kind = ROW_CALLS, .rule = "", .api = words.api, .kernel = words.kernel, .text = ""};
    key.place = words.caller.name;
    struct row *row = history_row(process->history, &key);
    struct amount *amount = row != NULL ? history_amount(process->history, row, process->run) : NULL;
    if (amount == NULL)
        return;
    row->asks |= tally->asks;
    row->unnamed |= words.caller.known == CALLER_OBJECT;
    history_row_set_site(row, words.site, "");
    amount->count += tally->count;
    amount->ns += tally->ns;
    amount->has_ns = trace_has_time(&process->report->trace);
}

static void add_gpu(const struct process *process, const struct tally *tally)
{
    struct words words = {.api = ""};
    name_kernel(process, tally->kernel, &words);
    struct row_key key = {.kind = ROW_GPU, .rule = "", .kernel = words.kernel, .place = "", .text = ""};
    key.api = words.kernel[0] == 0 ? definitions_api_name(&process->report->trace.defs, tally->api) : "";
    struct row *row = history_row(process->history, &key);
    struct amount *amount = row != NULL ? history_amount(process->history, row, process->run) : NULL;
    if (amount == NULL)
        return;
    amount->count += tally->ran;
    amount->ns = add_capped(amount->ns, tally->gpu_ns);
    amount->has_ns = true;
}

static void add_finding(const struct process *process, const struct finding *finding)
{
    struct words words = {.api = "", .site = ""};
    if (finding->has_api)
        name_call(process, finding->api, finding->twin, finding->stack, &words);
    struct row_key key = {.kind = ROW_FINDING, .severity = finding->severity, .rule = finding->rule->id, .kernel = ""};
    key.api = words.api;
    key.place = words.caller.name;
    key.text = finding->text != NULL ? finding->text : "";
    struct row *row = history_row(process->history, &key);
    struct amount *amount = row != NULL ? history_amount(process->history, row, process->run) : NULL;
    if (amount == NULL)
        return;
    row->unnamed |= words.caller.known == CALLER_OBJECT;
    history_row_set_site(row, words.site, identity_of(&process->report->trace, finding).text);
    amount->count += finding->count != 0 ? finding->count : 1;
    amount->ns += finding->host_ns;
    amount->has_ns |= finding->known != 0;
    amount->shown |= finding->fold == FOLD_SHOWN;
}

static bool add_process(const struct process *process)
{
    struct tallies tallies = {.trace = &process->report->trace};
    struct walker walker = {.call = count_call, .data = &tallies};
    if (process->has_gpu)
        device_runs_begin(&tallies.device, tallies.trace);
    bool whole = walk_calls(process->report, &walker) == 0 && !tallies.device.out_of_memory;
    for (size_t i = 0; i < tallies.list.count; i++) {
        add_tally(process, &tallies.list.items[i]);
        if (tallies.list.items[i].ran != 0)
            add_gpu(process, &tallies.list.items[i]);
    }
    for (size_t i = 0; i < process->report->findings.count; i++)
        add_finding(process, process->report->findings.items[i]);
    whole &= !tallies.out_of_memory && !process->history->out_of_memory;
    device_runs_end(&tallies.device);
    free(tallies.list.items);
    id_map_free(&tallies.places);
    id_map_free(&tallies.by_key);
    return whole;
}

/* Adds a name to "one+two", once. */
static void add_name(char *names, size_t room, const char *name)
{
    size_t size = strlen(name), used = strlen(names);
    for (const char *at = names; (at = strstr(at, name)) != NULL; at++)
        if ((at == names || at[-1] == '+') && (at[size] == 0 || at[size] == '+'))
            return;
    snprintf(names + used, room - used, "%s%s", used != 0 ? "+" : "", name);
}

/* Of how many operations times must be known, so that what is added up can be compared. */
enum { GPU_TIMED_PERCENT = 95 };

struct facts {
    struct run_facts run;
    uint64_t gpu_operations, gpu_timed;
    char programs[400], policies[100];
};

static void add_facts(struct facts *facts, const struct traced *traced)
{
    const struct report *report = &traced->report;
    const char *policy = definitions_setting(&report->trace.defs, "policy");
    time_t began = (time_t)(traced->has_realtime ? traced_realtime(traced, traced->first_ticks) / 1000000000 : 0);
    struct tm utc;
    add_name(facts->programs, sizeof facts->programs, text_base(report->trace.header.program));
    add_name(facts->policies, sizeof facts->policies, policy != NULL ? policy : "unknown");
    if (facts->run.recorded[0] == 0 && began != 0 && gmtime_r(&began, &utc) != NULL)
        strftime(facts->run.recorded, sizeof facts->run.recorded, "%Y-%m-%d %H:%M:%S", &utc);
    facts->run.processes++;
    if (report->totals.run_ns > facts->run.run_ns)
        facts->run.run_ns = report->totals.run_ns;
    facts->run.threads_ns += report->totals.threads_ns;
    facts->run.blocked_ns += report->totals.blocked_ns;
    facts->run.calls += report->totals.calls;
    facts->run.has_time |= trace_has_time(&report->trace);
    facts->gpu_operations += report->totals.gpu_operations;
    facts->gpu_timed += report->totals.gpu_timed;
    facts->run.gpu_busy_ns += report->totals.gpu_busy_ns;
    facts->run.gpu_span_ns += report->totals.gpu_span_ns;
    facts->run.gpu_default_ns += report->totals.gpu_default_ns;
}

static bool add_run(struct history *history, const struct traces *traces, struct site_namer *namer, const size_t *runs,
                    size_t run)
{
    struct facts facts = {.programs = ""};
    struct process process = {.history = history, .namer = namer, .run = history->runs.count};
    for (size_t i = 0; i < traces->list.count; i++)
        if (runs[i] == run)
            add_facts(&facts, traces->list.items[i]);
    facts.run.program = facts.programs;
    facts.run.policy = facts.policies;
    facts.run.has_gpu = facts.run.gpu_span_ns != 0 && facts.gpu_timed * 100 >= facts.gpu_operations * GPU_TIMED_PERCENT;
    facts.run.has_gpu_rows = process.has_gpu = facts.run.has_gpu;
    bool whole = history_begin_run(history, &facts.run);
    for (size_t i = 0; i < traces->list.count && whole; i++) {
        process.report = &traces->list.items[i]->report;
        symbolizer_of(namer, &process.report->trace);
        whole = runs[i] != run || add_process(&process);
    }
    return whole;
}

bool history_of_traces(struct history *history, const struct traces *traces, struct site_namer *namer)
{
    size_t *run = calloc(traces->list.count + 1, sizeof *run), count;
    bool whole = run != NULL;
    count = whole ? runs_of(traces, run) : 0;
    for (size_t i = 0; i < count && whole; i++)
        whole = add_run(history, traces, namer, run, i);
    history->out_of_memory |= !whole;
    history_sort(history);
    free(run);
    return whole;
}

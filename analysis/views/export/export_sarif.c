/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptds export --to sarif`: findings that have a source line, for code scanning. What has none is counted on stderr, since
 * a result without a place would be shown nowhere.
 */
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "analysis/report/many/traced.h"
#include "analysis/report/outcome.h"
#include "analysis/views/export/export_job.h"
#include "analysis/views/removal_words.h"
#include "analysis/views/json/value.h"
#include "analysis/views/opening.h"
#include "analysis/symbols/symbolizer.h"
#include "analysis/views/export/export_formats.h"
#include "analysis/views/verdict_words.h"

enum { PLACES_MOST = 8 };
#define ROOT_ID "%SRCROOT%"

static json_t *message(const char *text)
{
    json_t *out = json_object();
    json_object_set_new(out, "text", value_text(text));
    return out;
}

/* What a path is below the root of the sources; NULL: not below it. A relative path is: compilers write one where they are
 * told to forget where the sources were, and Bazel's /proc/self/cwd is one. */
static const char *below_root(const struct export_job *job, const char *file)
{
    const char *root = job->source_root, *const bazels = "/proc/self/cwd/";
    size_t size = root != NULL ? strlen(root) : 0;
    if (strncmp(file, bazels, strlen(bazels)) == 0)
        file += strlen(bazels);
    while (strncmp(file, "./", 2) == 0)
        file += 2;
    if (file[0] != '/')
        return file;
    while (size != 0 && root[size - 1] == '/')
        size--;
    return root != NULL && strncmp(file, root, size) == 0 && file[size] == '/' ? file + size + 1 : NULL;
}

static json_t *uri_of(const char *begin, const char *file, const char *end)
{
    static const char hex[] = "0123456789ABCDEF";
    char text[2048];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", begin);
    for (; *file != 0 && used + 4 < sizeof text; file++) {
        unsigned char byte = (unsigned char)*file;
        bool plain =
            strchr("/-_.~+", byte) != NULL || (byte >= '0' && byte <= '9') || ((byte | 32) >= 'a' && (byte | 32) <= 'z');
        if (!plain)
            text[used++] = '%';
        if (!plain)
            text[used++] = hex[byte >> 4];
        text[used++] = plain ? (char)byte : hex[byte & 15];
    }
    snprintf(text + used, sizeof text - used, "%s", end);
    return json_string(text);
}

/* A place that the reader can open: below the root of the sources, or, where none was named, a source that is here. What is
 * below it by a relative name alone (libraries have such names, too) has to be there. */
static bool is_ours(const struct export_job *job, const struct site_place *place)
{
    char path[2048];
    const char *below = below_root(job, place->file);
    if (place->file[0] == 0 || place->line <= 0 || (below == NULL && job->source_root != NULL))
        return false;
    if (job->source_root == NULL)
        return access(place->file, R_OK) == 0;
    snprintf(path, sizeof path, "%.1000s/%s", job->source_root, below);
    return strncmp(place->file, job->source_root, strlen(job->source_root)) == 0 || access(path, R_OK) == 0;
}

/* Relative to the root of the sources, or an absolute file URI; of a relative name that is not there, NULL. */
static json_t *artifact_of(const struct export_job *job, const struct site_place *place)
{
    const char *below = below_root(job, place->file);
    json_t *out = json_object();
    if (below != NULL && !is_ours(job, place)) {
        json_decref(out);
        return NULL;
    }
    json_object_set_new(out, "uri", below != NULL ? uri_of("", below, "") : uri_of("file://", place->file, ""));
    if (below != NULL)
        json_object_set_new(out, "uriBaseId", json_string(ROOT_ID));
    return out;
}

static json_t *physical_of(json_t *artifact, int line)
{
    json_t *out = json_object(), *region = json_object();
    json_object_set_new(region, "startLine", json_integer(line));
    json_object_set_new(out, "artifactLocation", artifact);
    json_object_set_new(out, "region", region);
    return out;
}

static json_t *location(const struct export_job *job, const struct site_place *place)
{
    json_t *out = json_object(), *artifact = artifact_of(job, place), *logical = json_object(), *logicals = json_array();
    if (artifact != NULL)
        json_object_set_new(out, "physicalLocation", physical_of(artifact, place->line));
    if (place->function[0] != 0)
        json_object_set_new(logical, "fullyQualifiedName", value_text(place->function));
    if (place->function[0] != 0)
        json_array_append(logicals, logical);
    json_decref(logical);
    if (json_array_size(logicals) != 0)
        json_object_set(out, "logicalLocations", logicals);
    json_decref(logicals);
    return out;
}

/* All places of the call site with a source, innermost first; *own: the first of them that the reader can open, -1 none. */
static json_t *locations(const struct export_job *job, const struct report *report, const struct finding *finding, int *own)
{
    const struct stack_def *stack = finding->stack != 0 ? definitions_stack(&report->trace.defs, finding->stack) : NULL;
    json_t *out = json_array();
    *own = -1;
    for (uint32_t i = 0; stack != NULL && i < stack->count; i++) {
        struct site_place places[PLACES_MOST];
        size_t count = namer_places(job->namer, &report->trace.defs, stack->pc[i], places, PLACES_MOST);
        for (size_t j = 0; j < count; j++) {
            if (places[j].file[0] == 0 || places[j].line <= 0)
                continue;
            if (*own < 0 && is_ours(job, &places[j]))
                *own = (int)json_array_size(out);
            json_array_append_new(out, location(job, &places[j]));
        }
    }
    return out;
}

static json_t *stack_of(json_t *places)
{
    json_t *stack = json_object(), *frames = json_array();
    size_t i;
    json_t *place;
    json_array_foreach(places, i, place)
    {
        json_t *frame = json_object();
        json_object_set(frame, "location", place);
        json_array_append_new(frames, frame);
    }
    json_object_set_new(stack, "frames", frames);
    return stack;
}

/* Of the implicit orders at its place; null: not analysed. */
static json_t *verdicts_of(const struct report *report, const struct finding *finding)
{
    const uint64_t *counts = verdict_words_of_finding(report, finding);
    json_t *out = counts != NULL ? json_object() : json_null();
    for (unsigned i = 0; i < VERDICTS && counts != NULL; i++)
        json_object_set_new(out, verdict_keys[i], value_number(counts[i]));
    return out;
}

struct results {
    json_t *list;
    json_t *hashes; /* how many results each has */
};

/* What code scanning tells results apart by, upload after upload: the place, which survives a rebuild, and which of several
 * there it is. */
static json_t *fingerprints(struct results *results, const struct folded *folded, const char *place)
{
    const char *hash = place[0] != 0 ? place : folded->id.text;
    json_t *out = json_object();
    json_int_t number = json_integer_value(json_object_get(results->hashes, hash)) + 1;
    char text[64];
    json_object_set_new(results->hashes, hash, json_integer(number));
    snprintf(text, sizeof text, "%s:%lld", hash, (long long)number);
    json_object_set_new(out, "primaryLocationLineHash", json_string(text));
    json_object_set_new(out, "ptdsFindingId/v1", json_string(folded->id.text));
    if (place[0] != 0)
        json_object_set_new(out, "ptdsPlaceId/v1", json_string(place));
    return out;
}

static json_int_t rule_index(const struct rule *rule)
{
    const struct rule *all[RULES_MOST];
    size_t count = registry_all(all);
    for (size_t i = 0; i < count; i++)
        if (all[i] == rule)
            return (json_int_t)i;
    return -1;
}

static void add_result(const struct export_job *job, struct results *results, const struct folded *folded, json_t *places,
                       int at)
{
    const struct report *report = &job->traces->list.items[folded->process]->report;
    const struct finding *finding = folded->finding;
    struct finding_id place = identity_of_place(&report->trace, job->namer, finding);
    const char *needed = verdict_words_needed(report, finding);
    char text[1024];
    snprintf(text, sizeof text, "%s: %s, %s, saves at most: %s; %s%s%s. %s", finding->rule->title,
             report_words_api(report, finding), text_plural(folded->count, "time").text,
             folded->known != 0 ? text_ns(folded->host_ns).text : "unknown", removal_words_finding(report, finding).text,
             needed != NULL ? "; " : "", needed != NULL ? needed : "", finding_advice(finding));
    json_t *out = json_object(), *own = json_array(), *stacks = json_array(), *properties = json_object();
    json_array_append(own, json_array_get(places, (size_t)at));
    json_array_append_new(stacks, stack_of(places));
    json_object_set_new(properties, "count", value_number(folded->count));
    json_object_set_new(properties, "hostNsLost", folded->known != 0 ? value_number(folded->host_ns) : json_null());
    json_object_set_new(properties, "folded", json_boolean(!folded->shown));
    json_object_set_new(properties, "severity", json_string(severity_names[finding->severity]));
    json_object_set_new(properties, "doubt", json_string(doubt_names[finding->doubt]));
    json_object_set_new(properties, "goes", json_string(removal_words_finding(report, finding).text));
    json_object_set_new(properties, "verdicts", verdicts_of(report, finding));
    json_object_set_new(properties, "processes", json_integer((json_int_t)folded->shares.count));
    json_object_set_new(out, "ruleId", json_string(finding->rule->id));
    json_object_set_new(out, "ruleIndex", json_integer(rule_index(finding->rule)));
    json_object_set_new(out, "level", json_string(severity_names[finding->severity]));
    json_object_set_new(out, "message", message(text));
    json_object_set_new(out, "locations", own);
    json_object_set_new(out, "stacks", stacks);
    json_object_set_new(out, "partialFingerprints", fingerprints(results, folded, place.text));
    json_object_set_new(out, "properties", properties);
    json_array_append_new(results->list, out);
}

/* Code scanning shows both, Markdown where it can. */
static json_t *help_of(const struct rule *rule)
{
    char text[2048];
    json_t *out = message(rule->advice);
    snprintf(text, sizeof text, "**%s**\n\n%s\n\n%s\n\nMore: `ptds report --finding ID`.", rule->title, rule->sentence,
             rule->advice);
    json_object_set_new(out, "markdown", json_string(text)); /* value_text takes out line ends */
    return out;
}

static json_t *rule_json(const struct rule *rule)
{
    bool about_order = rule->class_[0] == 'R';
    json_t *out = json_object(), *usual = json_object(), *properties = json_object(), *tags = json_array();
    json_object_set_new(usual, "level", json_string(severity_names[rule->severity]));
    json_array_append_new(tags, json_string("cuda"));
    json_array_append_new(tags, json_string(about_order ? "correctness" : "performance"));
    json_object_set_new(properties, "tags", tags);
    json_object_set_new(properties, "precision", json_string("high"));
    json_object_set_new(properties, "problem.severity",
                        json_string(rule->severity == SEVERITY_NOTE ? "recommendation" : severity_names[rule->severity]));
    json_object_set_new(out, "id", json_string(rule->id));
    json_object_set_new(out, "name", json_string(rule->id));
    json_object_set_new(out, "shortDescription", message(rule->title));
    json_object_set_new(out, "fullDescription", message(rule->sentence));
    json_object_set_new(out, "help", help_of(rule));
    json_object_set_new(out, "defaultConfiguration", usual);
    json_object_set_new(out, "properties", properties);
    return out;
}

static json_t *tool(void)
{
    const struct rule *all[RULES_MOST];
    size_t count = registry_all(all);
    json_t *out = json_object(), *driver = json_object(), *rules = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(rules, rule_json(all[i]));
    json_object_set_new(driver, "name", json_string("ptds"));
    json_object_set_new(driver, "version", json_string(PTDS_VERSION));
    json_object_set_new(driver, "semanticVersion", json_string(PTDS_VERSION));
    json_object_set_new(driver, "rules", rules);
    json_object_set_new(out, "driver", driver);
    return out;
}

static void say_left_out(size_t without, size_t in_a_line, size_t all)
{
    if (without != 0)
        fprintf(stderr, "ptds export: %zu of %zu findings have no source line here and are not in the SARIF file\n",
                without, all);
    if (in_a_line != 0)
        fprintf(stderr,
                "ptds export: %zu of %zu findings are not worth a line each and are not in the SARIF file (--all)\n",
                in_a_line, all);
}

static json_t *results(const struct export_job *job)
{
    struct results results = {.list = json_array(), .hashes = json_object()};
    size_t without = 0, in_a_line = 0;
    for (size_t i = 0; i < job->folds->list.count; i++) {
        const struct folded *folded = &job->folds->list.items[i];
        const struct report *report = &job->traces->list.items[folded->process]->report;
        symbolizer_of(job->namer, &report->trace);
        int own;
        json_t *places = locations(job, report, folded->finding, &own);
        if (!folded->shown && !job->all)
            in_a_line++;
        else if (own < 0)
            without++;
        else
            add_result(job, &results, folded, places, own);
        json_decref(places);
    }
    say_left_out(without, in_a_line, job->folds->list.count);
    json_decref(results.hashes);
    return results.list;
}

static json_t *bases(const struct export_job *job)
{
    json_t *out = json_object(), *root = json_object();
    const char *path = job->source_root;
    if (path != NULL && path[0] == '/')
        json_object_set_new(root, "uri", uri_of("file://", path, path[strlen(path) - 1] == '/' ? "" : "/"));
    json_object_set_new(root, "description", message("the root of the sources"));
    json_object_set_new(out, ROOT_ID, root);
    return out;
}

/* The run of ptds, not of the program; what it could not see is said as a tool's notification. */
static void add_gap(void *data, const char *line)
{
    json_t *one = json_object();
    json_object_set_new(one, "level", json_string("warning"));
    json_object_set_new(one, "message", message(line));
    json_array_append_new(data, one);
}

static json_t *invocations(const struct export_job *job)
{
    json_t *out = json_array(), *one = json_object(), *gaps = json_array();
    for (size_t i = 0; i < job->traces->list.count; i++)
        traced_incomplete(job->traces->list.items[i], add_gap, gaps);
    json_object_set_new(one, "executionSuccessful", json_true());
    json_object_set_new(one, "toolExecutionNotifications", gaps);
    json_array_append_new(out, one);
    return out;
}

/* What each process's report says first. */
static json_t *outcomes(const struct export_job *job)
{
    json_t *out = json_array(), *properties = json_object();
    for (size_t i = 0; i < job->traces->list.count; i++) {
        const struct report *report = &job->traces->list.items[i]->report;
        json_t *one = json_object();
        json_object_set_new(one, "verdict", json_string(doubt_names[outcome_verdict(report)]));
        json_object_set_new(one, "text", value_text(opening_outcome(report).text));
        json_array_append_new(out, one);
    }
    json_object_set_new(properties, "outcomes", out);
    return properties;
}

int export_sarif(struct export_job *job)
{
    json_t *document = json_object(), *runs = json_array(), *run = json_object(), *details = json_object();
    json_object_set_new(details, "id", json_string("ptds/"));
    json_object_set_new(run, "tool", tool());
    json_object_set_new(run, "automationDetails", details);
    json_object_set_new(run, "originalUriBaseIds", bases(job));
    json_object_set_new(run, "invocations", invocations(job));
    json_object_set_new(run, "results", results(job));
    json_object_set_new(run, "properties", outcomes(job));
    json_array_append_new(runs, run);
    json_object_set_new(document, "$schema", json_string("https://json.schemastore.org/sarif-2.1.0.json"));
    json_object_set_new(document, "version", json_string("2.1.0"));
    json_object_set_new(document, "runs", runs);
    int status = document != NULL ? json_dumpf(document, job->out, JSON_INDENT(1)) : -1;
    json_decref(document);
    fputc('\n', job->out);
    return status == 0 ? 0 : export_job_failed(job, "the document could not be written");
}

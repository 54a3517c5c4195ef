/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptds export --to sarif`: findings that have a source line, for code scanning. What has none is counted on stderr, since
 * a result without a place would be shown nowhere.
 */
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "analysis/views/export/export.h"
#include "analysis/views/json/value.h"
#include "analysis/views/opening.h"
#include "analysis/symbols/symbols.h"

enum { PLACES_MOST = 8 };

static json_t *message(const char *text)
{
    json_t *out = json_object();
    json_object_set_new(out, "text", value_text(text));
    return out;
}

/* Relative to the root of the sources, or an absolute file URI. */
static json_t *uri_of(const struct export_job *job, const char *file)
{
    static const char hex[] = "0123456789ABCDEF";
    const char *root = job->source_root;
    size_t size = root != NULL ? strlen(root) : 0, used = 0;
    char text[2048];
    while (size != 0 && root[size - 1] == '/')
        size--;
    bool below = size != 0 && strncmp(file, root, size) == 0 && file[size] == '/';
    if (below)
        file += size + 1;
    else if (file[0] == '/')
        used = (size_t)snprintf(text, sizeof text, "file://");
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
    text[used] = 0;
    return json_string(text);
}

static json_t *location(const struct export_job *job, const struct site_place *place)
{
    json_t *out = json_object(), *physical = json_object(), *artifact = json_object(), *region = json_object(),
           *logical = json_object(), *logicals = json_array();
    json_object_set_new(artifact, "uri", uri_of(job, place->file));
    json_object_set_new(region, "startLine", json_integer(place->line));
    json_object_set_new(physical, "artifactLocation", artifact);
    json_object_set_new(physical, "region", region);
    json_object_set_new(out, "physicalLocation", physical);
    if (place->function[0] != 0) {
        json_object_set_new(logical, "fullyQualifiedName", value_text(place->function));
        json_array_append_new(logicals, logical);
        json_object_set_new(out, "logicalLocations", logicals);
    } else {
        json_decref(logical);
        json_decref(logicals);
    }
    return out;
}

/* A place that the reader can open: its source is here, or below the root that was named. */
static bool is_ours(const struct export_job *job, const struct site_place *place)
{
    const char *root = job->source_root;
    bool below = root != NULL && root[0] != 0 && strncmp(place->file, root, strlen(root)) == 0;
    return place->file[0] != 0 && place->line > 0 && (below || (root == NULL && access(place->file, R_OK) == 0));
}

/* All places of the call site with a source, innermost first; *own: the first of them that the reader can open, -1 none. */
static json_t *locations(const struct export_job *job, const struct report *report, const struct finding *finding, int *own)
{
    const struct stack_def *stack = finding->stack != 0 ? definitions_stack(&report->trace.defs, finding->stack) : NULL;
    json_t *out = json_array();
    *own = -1;
    for (uint32_t i = 0; stack != NULL && i < stack->count; i++) {
        struct site_place places[PLACES_MOST];
        const struct object_def *object = definitions_object_at(&report->trace.defs, stack->pc[i]);
        size_t count = job->namer->places(job->namer, object, stack->pc[i], places, PLACES_MOST);
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

/* As severe as in the other reports; what those tell in one line with others is a note. */
static const char *level_of(const struct folded *folded)
{
    return folded->shown ? severity_names[folded->finding->severity] : severity_names[SEVERITY_NOTE];
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
    const uint64_t *counts = report_finding_verdicts(report, finding);
    json_t *out = counts != NULL ? json_object() : json_null();
    for (unsigned i = 0; i < VERDICTS && counts != NULL; i++)
        json_object_set_new(out, verdict_keys[i], value_number(counts[i]));
    return out;
}

static json_t *result(const struct export_job *job, const struct folded *folded, json_t *places, int at)
{
    const struct report *report = &job->traces->list.items[folded->process]->report;
    const struct finding *finding = folded->finding;
    struct finding_id place = identity_of_place(&report->trace, job->namer, finding);
    char text[1024];
    snprintf(text, sizeof text, "%s: %s, %s times, saves at most: %s. %s", finding->rule->title,
             report_api(report, finding), text_count(folded->count).text,
             folded->known != 0 ? text_ns(folded->host_ns).text : "unknown", finding_advice(finding));
    json_t *out = json_object(), *prints = json_object(), *own = json_array(), *stacks = json_array(),
           *properties = json_object();
    json_object_set_new(prints, "ptdsFindingId/v1", json_string(folded->id.text));
    if (place.text[0] != 0)
        json_object_set_new(prints, "ptdsPlaceId/v1", json_string(place.text));
    json_array_append(own, json_array_get(places, (size_t)at));
    json_array_append_new(stacks, stack_of(places));
    json_object_set_new(properties, "count", value_number(folded->count));
    json_object_set_new(properties, "hostNsLost", folded->known != 0 ? value_number(folded->host_ns) : json_null());
    json_object_set_new(properties, "folded", json_boolean(!folded->shown));
    json_object_set_new(properties, "severity", json_string(severity_names[finding->severity]));
    json_object_set_new(properties, "doubt", json_string(doubt_names[finding->doubt]));
    json_object_set_new(properties, "verdicts", verdicts_of(report, finding));
    json_object_set_new(properties, "processes", json_integer((json_int_t)folded->shares.count));
    json_object_set_new(out, "ruleId", json_string(finding->rule->id));
    json_object_set_new(out, "level", json_string(level_of(folded)));
    json_object_set_new(out, "message", message(text));
    json_object_set_new(out, "locations", own);
    json_object_set_new(out, "stacks", stacks);
    json_object_set_new(out, "partialFingerprints", prints);
    json_object_set_new(out, "properties", properties);
    return out;
}

static json_t *rules(void)
{
    const struct rule *all[RULES_MOST];
    size_t count = rules_all(all);
    json_t *out = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *rule = json_object();
        json_object_set_new(rule, "id", json_string(all[i]->id));
        json_object_set_new(rule, "shortDescription", message(all[i]->title));
        json_object_set_new(rule, "fullDescription", message(all[i]->sentence));
        json_object_set_new(rule, "help", message(all[i]->advice));
        json_array_append_new(out, rule);
    }
    return out;
}

static json_t *tool(void)
{
    json_t *out = json_object(), *driver = json_object();
    json_object_set_new(driver, "name", json_string("ptds"));
    json_object_set_new(driver, "version", json_string(PTDS_VERSION));
    json_object_set_new(driver, "rules", rules());
    json_object_set_new(out, "driver", driver);
    return out;
}

static json_t *results(const struct export_job *job)
{
    json_t *out = json_array();
    size_t without = 0;
    for (size_t i = 0; i < job->folds->list.count; i++) {
        const struct folded *folded = &job->folds->list.items[i];
        const struct report *report = &job->traces->list.items[folded->process]->report;
        symbols_of(job->namer, &report->trace);
        int own;
        json_t *places = locations(job, report, folded->finding, &own);
        if (own >= 0)
            json_array_append_new(out, result(job, folded, places, own));
        else
            without++;
        json_decref(places);
    }
    if (without != 0)
        fprintf(stderr, "ptds export: %zu of %zu findings have no source line here and are not in the SARIF file\n",
                without, job->folds->list.count);
    return out;
}

/* What each process's report says first. */
static json_t *outcomes(const struct export_job *job)
{
    json_t *out = json_array(), *properties = json_object();
    for (size_t i = 0; i < job->traces->list.count; i++) {
        const struct report *report = &job->traces->list.items[i]->report;
        json_t *one = json_object();
        json_object_set_new(one, "verdict", json_string(doubt_names[report_outcome(report).doubt]));
        json_object_set_new(one, "text", value_text(opening_outcome(report).text));
        json_array_append_new(out, one);
    }
    json_object_set_new(properties, "outcomes", out);
    return properties;
}

int export_sarif(struct export_job *job)
{
    json_t *document = json_object(), *runs = json_array(), *run = json_object();
    json_object_set_new(run, "tool", tool());
    json_object_set_new(run, "results", results(job));
    json_object_set_new(run, "properties", outcomes(job));
    json_array_append_new(runs, run);
    json_object_set_new(document, "$schema", json_string("https://json.schemastore.org/sarif-2.1.0.json"));
    json_object_set_new(document, "version", json_string("2.1.0"));
    json_object_set_new(document, "runs", runs);
    int status = document != NULL ? json_dumpf(document, job->out, JSON_INDENT(1)) : -1;
    json_decref(document);
    fputc('\n', job->out);
    return status == 0 ? 0 : export_failed(job, "the document could not be written");
}

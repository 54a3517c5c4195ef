/* SPDX-License-Identifier: Apache-2.0
 *
 * What the page's scripts share with the other views, so that nothing is said twice: words and keys, kinds of operations,
 * flags, and of each finding its place and its warning. Called by report_html.c.
 */
#include "analysis/views/html/shared.h"

#include "analysis/symbols/symbolizer.h"
#include "analysis/views/html/page_tables.h"
#include "analysis/views/json/keys.h"
#include "analysis/views/json/value.h"
#include "analysis/views/number_words.h"
#include "analysis/views/verdict_words.h"

/* The colours of boxes: the name is that of a style, the last is any operation that no other has. */
static const struct op_class {
    const char *name, *text;
    uint64_t ops; /* a bit for each enum ptds_op */
} op_classes[] = {
#define OP(name) (UINT64_C(1) << PTDS_OP_##name)
    {"kernel", "kernels and graphs", OP(LAUNCH) | OP(GRAPH_LAUNCH)},
    {"copy", "copies", OP(COPY) | OP(PREFETCH)},
    {"memory", "memory: set, allocate, free",
     OP(MEMSET) | OP(ALLOC_ASYNC) | OP(FREE_ASYNC) | OP(ALLOC) | OP(FREE) | OP(FREE_HOST) | OP(UNREGISTER) | OP(UNMAP) |
         OP(ARRAY_DESTROY)},
    {"event", "events",
     OP(EVENT_RECORD) | OP(EVENT_WAIT) | OP(EVENT_QUERY) | OP(EVENT_ELAPSED) | OP(CTX_EVENT_RECORD) | OP(CTX_EVENT_WAIT) |
         OP(STREAM_QUERY)},
    {"sync", "waits of the host", OP(STREAM_SYNC) | OP(EVENT_SYNC) | OP(CTX_SYNC)},
    {"module", "module loads", OP(MODULE_LOAD) | OP(MODULE_UNLOAD) | OP(FUNCTION_LOAD)},
    {"other", "other", 0},
#undef OP
};
enum { OP_CLASSES = sizeof op_classes / sizeof op_classes[0] };

static const struct {
    const char *name;
    int bit;
} flags[] = {
    {"TWIN", TIMELINE_TWIN},         {"FAILED", TIMELINE_FAILED}, {"LEGACY", TIMELINE_LEGACY},
    {"REMAPPED", TIMELINE_REMAPPED}, {"TIMED", TIMELINE_TIMED},   {"CAPTURED", TIMELINE_CAPTURED},
    {"WORK", TIMELINE_WORK},         {"GPU", TIMELINE_GPU},       {"BEHIND", TIMELINE_BEHIND},
};

static const struct {
    const char *name;
    int bit;
} region_flags[] = {{"OPEN", MARK_OPEN}, {"EARLIER", MARK_EARLIER}, {"LATER", MARK_LATER}};

static json_t *fold_list(void)
{
    json_t *out = json_object();
    for (unsigned i = FOLD_SHOWN + 1; i < FOLDS; i++)
        json_object_set_new(out, fold_names[i], json_string(fold_words[i]));
    return out;
}

static json_t *class_list(void)
{
    json_t *out = json_array();
    for (unsigned i = 0; i < OP_CLASSES; i++) {
        json_t *ops = json_array();
        for (unsigned op = 0; op < 64; op++)
            if (op_classes[i].ops >> op & 1)
                json_array_append_new(ops, json_integer(op));
        json_array_append_new(
            out, json_pack("{s:s, s:s, s:o}", "name", op_classes[i].name, "text", op_classes[i].text, "ops", ops));
    }
    return out;
}

static json_t *flag_bits(void)
{
    json_t *out = json_object();
    for (unsigned i = 0; i < sizeof flags / sizeof flags[0]; i++)
        json_object_set_new(out, flags[i].name, json_integer(flags[i].bit));
    return out;
}

static json_t *region_flag_bits(void)
{
    json_t *out = json_object();
    for (unsigned i = 0; i < sizeof region_flags / sizeof region_flags[0]; i++)
        json_object_set_new(out, region_flags[i].name, json_integer(region_flags[i].bit));
    return out;
}

/* What the rule counted: [words, number as text] each. */
static json_t *numbers_of(const struct finding *finding)
{
    json_t *out = json_array();
    for (size_t i = 0; i < FINDING_NUMBERS && finding->numbers[i].key != NULL; i++)
        if (finding->numbers[i].value != 0)
            json_array_append_new(out, json_pack("[s, s]", number_words_key(finding->numbers[i].key).text,
                                                 number_words_value(&finding->numbers[i]).text));
    return out;
}

static json_t *finding_shown(const struct report *report, const struct finding *finding, struct site_namer *namer)
{
    char site[400];
    bool has_site = report_words_site(report, namer, finding->stack, site, sizeof site);
    return json_pack("{s:o, s:o, s:o}", "site", value_text(has_site ? site : NULL), "needed",
                     value_text(verdict_words_needed(report, finding)), "numbers", numbers_of(finding));
}

json_t *shared_findings(const struct report *report, struct site_namer *namer)
{
    json_t *out = json_array();
    for (size_t i = 0; i < report->findings.count; i++)
        json_array_append_new(out, finding_shown(report, report->findings.items[i], namer));
    return out;
}

json_t *shared_findings_of_many(const struct traces *traces, const struct folds *folds, struct site_namer *namer)
{
    json_t *out = json_array();
    for (size_t i = 0; i < folds->list.count; i++) {
        const struct folded *folded = &folds->list.items[i];
        const struct report *report = &traces->list.items[folded->process]->report;
        symbolizer_of(namer, &report->trace);
        json_array_append_new(out, finding_shown(report, folded->finding, namer));
    }
    return out;
}

static json_t *access_list(void)
{
    json_t *out = json_object();
    for (unsigned i = ACCESS_READ; i < ACCESSES; i++)
        json_object_set_new(out, access_keys[i], json_string(report_words_access((enum access)i)));
    return out;
}

void shared_words(json_t *tables)
{
    json_object_set_new(tables, "accesses", access_list());
    json_object_set_new(tables, "edge_kinds", value_texts(edge_kind_names, EDGE_KINDS));
    json_object_set_new(tables, "verdicts", value_texts(verdict_words, VERDICTS));
    json_object_set_new(tables, "verdict_keys", value_texts(verdict_keys, VERDICTS));
    json_object_set_new(tables, "reasons", value_texts(verdict_reason_names, VERDICT_REASONS));
    json_object_set_new(tables, "reason_keys", value_texts(verdict_reason_keys, VERDICT_REASONS));
    json_object_set_new(tables, "severities", value_texts(severity_names, SEVERITIES));
    json_object_set_new(tables, "folds", fold_list());
    json_object_set_new(tables, "op_classes", class_list());
    json_object_set_new(tables, "flags", flag_bits());
    json_object_set_new(tables, "region_flags", region_flag_bits());
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * The JSON writer of the command: report.def read as functions, and the lists that it names. Never linked into the shim
 * (jansson). Builds the whole document before it writes any of it.
 */
#include "analysis/views/json/report_json.h"

#include "analysis/findings/identity.h"
#include "analysis/report/default_cost.h"
#include "analysis/symbols/symbolizer.h"
#include "analysis/trace/frames.h"
#include "analysis/views/json/keys.h"
#include "analysis/views/json/texts.h"
#include "analysis/views/removal_words.h"
#include "analysis/views/json/value.h"
#include "analysis/views/opening.h"
#include "analysis/views/opening_next.h"
#include "analysis/views/repair/repair_words.h"
#include "analysis/views/residual_words.h"
#include "analysis/views/verdict_words.h"

/* A frame of a call site, with what the namer knows of it. */
struct frame {
    struct site_namer *namer;
    const struct definitions *defs;
    const struct object_def *object;
    const char *trouble;
    uint64_t pc;
    bool named;
    char symbol[256];
};

/* First the functions' names, because objects hold each other. */
#define OBJECT(name, arguments) static json_t *name##_json arguments;
#define END
#define TEXT(key, value, meaning)
#define TEXT_IF(key, value, meaning)
#define FLAG(key, value, meaning)
#define HEX(key, value, meaning)
#define HEX_IF(key, known, value, meaning)
#define ID(key, value, meaning)
#define ID_IF(key, value, meaning)
#define ID_NAME(key, report, set, id)
#define NAME_IF(key, report, set, id, meaning)
#define SITE_IF(key, report, namer, stack, meaning)
#define NUMBER(key, value, meaning)
#define NUMBER_IF(key, known, value, meaning)
#define REAL(key, value, meaning)
#define POSITION(key, value, meaning)
#define POSITION_IF(key, known, value, meaning)
#define WORD(key, names, from, count, value, meaning)
#define WORD_IF(key, names, from, count, value, meaning)
#define NUMBERS(names, from, count, value)
#define EACH(object, names, count, value)
#define ONE(key, object, value, meaning)
#define ONE_IF(key, object, value, meaning)
#define LIST(key, object, value, meaning)
#define TEXTS(key, value, meaning)
#define PART(object, value)
#define MORE_NUMBERS(statement)
#define VERSION(key, meaning)
#include "analysis/views/json/report.def"

/* The body of a function that makes a list. */
#define LIST_OF(size, value) \
    json_t *out = json_array(); \
    for (size_t i = 0; i < (size); i++) \
        json_array_append_new(out, value); \
    return out

static json_t *id_or_null(const char *id)
{
    return id[0] != 0 ? json_string(id) : json_null();
}

static json_t *id_name(const struct report *report, enum finding_set set, uint32_t id)
{
    char text[300];
    report_words_id(report, set, id, text, sizeof text);
    return value_text(text);
}

static json_t *name_or_null(const struct report *report, enum finding_set set, uint32_t id)
{
    return id != 0 ? id_name(report, set, id) : json_null();
}

static json_t *site_or_null(const struct report *report, struct site_namer *namer, uint32_t stack)
{
    char text[400];
    return value_text(report_words_site(report, namer, stack, text, sizeof text) ? text : NULL);
}

static json_t *named_or_null(const struct report *report, enum finding_set set, uint32_t id)
{
    return id != 0 ? named_json(report, set, id) : json_null();
}

static json_t *named_list(const struct report *report, enum finding_set set, const struct finding_ids *ids)
{
    json_t *out = json_array();
    for (uint32_t i = 0; i < ids->count; i++)
        json_array_append_new(out, named_json(report, set, ids->id[i]));
    return out;
}

static void add_numbers(json_t *out, const struct finding *finding)
{
    for (size_t i = 0; i < FINDING_NUMBERS && finding->numbers[i].key != NULL; i++)
        json_object_set_new(out, finding->numbers[i].key, value_number(finding->numbers[i].value));
}

static json_t *place_list(const struct frame *frame)
{
    struct site_place places[8];
    json_t *out = json_array();
    size_t count = namer_places(frame->namer, frame->defs, frame->pc, places, 8);
    for (size_t i = 0; i < count; i++)
        json_array_append_new(out, place_json(&places[i]));
    return out;
}

static void name_frame(struct frame *frame)
{
    struct site_namer *namer = frame->namer;
    bool detailed = namer != NULL && namer->places != NULL;
    frame->trouble = detailed ? namer->trouble(namer, frame->object) : NULL;
    frame->named = frame->trouble == NULL && namer_name(namer, frame->defs, frame->pc, frame->symbol, sizeof frame->symbol);
}

static json_t *frame_list(const struct report *report, struct site_namer *namer, const struct finding *finding)
{
    const struct stack_def *stack = finding->stack != 0 ? definitions_stack(&report->trace.defs, finding->stack) : NULL;
    json_t *out = json_array();
    for (uint32_t i = 0; stack != NULL && i < stack->count; i++) {
        struct frame frame = {.namer = namer,
                              .defs = &report->trace.defs,
                              .object = frames_object_at(&report->trace.defs, stack->pc[i]),
                              .pc = stack->pc[i]};
        name_frame(&frame);
        json_array_append_new(out, frame_json(&frame));
    }
    return out;
}

static json_t *finding_goes_json(const struct report *report, const struct finding *finding)
{
    struct removed_question about = removed_by_policy_question(finding);
    return goes_json(report, &about);
}

static json_t *proof_or_null(const struct report *report, const struct edge_pair *pair)
{
    return pair != NULL && pair->first.ticks != 0 ? proof_json(report, pair) : json_null();
}

static json_t *verdicts_or_null(const uint64_t *counts)
{
    return counts != NULL ? verdicts_json(counts) : json_null();
}

static bool has_moment(const struct report *report, const struct finding *finding)
{
    return finding->count != 0 && trace_has_time(&report->trace);
}

static uint64_t since_start(const struct report *report, uint64_t ticks)
{
    return ticks > report->start ? trace_ns(&report->trace, ticks - report->start) : 0;
}

static json_t *share_list(const struct folded *folded)
{
    LIST_OF(folded->shares.count, share_json(&folded->shares.items[i]));
}

static const char *api_text(const struct report *report, uint32_t number)
{
    const struct api_def *api = definitions_api(&report->trace.defs, number);
    return api != NULL ? api->text : NULL;
}

static json_t *shown_pair(const struct report *report, struct site_namer *namer, const struct edge *edge)
{
    bool shown = edge->verdict != VERDICT_NOT_NEEDED && edge->pair.first_access != 0;
    return shown ? pair_json(report, namer, &edge->pair) : json_null();
}

static uint64_t total_of(const uint64_t *counts)
{
    uint64_t total = 0;
    for (unsigned i = 0; i < VERDICTS; i++)
        total += counts[i];
    return total;
}

static json_t *residual_goes_json(const struct report *report, enum residual_kind kind)
{
    struct removed_question about = residual_goes(report, kind);
    return goes_json(report, &about);
}

static json_t *residual_list(const struct report *report, struct site_namer *namer)
{
    enum residual_kind kinds[RESIDUAL_KINDS];
    LIST_OF(residual_words_ranked(report, kinds), residual_part_json(report, namer, kinds[i]));
}

static json_t *repaired_pair(const struct report *report, struct site_namer *namer, const struct edge_pair *pair)
{
    return pair->first.ticks != 0 ? pair_json(report, namer, pair) : json_null();
}

static json_t *repair_places(const struct report *report, struct site_namer *namer, const struct repair *repair)
{
    LIST_OF(repair->places.count, repair_place_json(report, namer, &repair->places.items[i]));
}

static json_t *repairs_places(const struct traces *traces, struct site_namer *namer, const struct repairs *repairs)
{
    json_t *out = json_array();
    for (size_t i = 0; i < repairs->all.places.count; i++) {
        const struct report *report = &traces->list.items[repairs->where.items[i].trace]->report;
        if (namer != NULL)
            symbolizer_of(namer, &report->trace);
        json_array_append_new(out, repairs_place_json(report, namer, repairs, i));
    }
    return out;
}

static json_t *group_list(const struct report *report, struct site_namer *namer)
{
    LIST_OF(report->edges.groups.count, edge_group_json(report, namer, &report->edges.groups.items[i]));
}

static json_t *edges_or_null(const struct report *report, struct site_namer *namer)
{
    uint64_t counts[VERDICTS];
    return verdict_words_all(report, counts) != NULL ? edges_json(report, namer, counts) : json_null();
}

static json_t *selection_or_null(const struct selection *selection)
{
    return selection_is_all(selection) ? json_null() : selection_json(selection);
}

static void add_reasons(json_t *out, const struct report_totals *totals)
{
    for (unsigned why = PTDS_OPAQUE_NO + 1; why < PTDS_OPAQUE_REASONS; why++)
        if (totals->touch_all[why] != 0)
            json_object_set_new(out, report_words_touch_everything(why), value_number(totals->touch_all[why]));
}

static json_t *damage_list(const struct trace *trace)
{
    LIST_OF(trace->damages.count, damage_json(&trace->damages.items[i]));
}

static json_t *finding_list(const struct report *report, struct site_namer *namer)
{
    LIST_OF(report->findings.count, finding_json(report, namer, report->findings.items[i]));
}

static json_t *sequence_list(const struct report *report)
{
    LIST_OF(report->sequences.count, sequence_json(&report->sequences.items[i]));
}

static json_t *rule_sums(const struct sums *sums)
{
    LIST_OF(sums->rules.count, rule_sum_json(&sums->rules.items[i]));
}

static json_t *cause_list(const struct sums *sums)
{
    LIST_OF(sums->causes.count, cause_json(&sums->causes.items[i]));
}

static json_t *entry_list(const struct report *report)
{
    LIST_OF(report->entries.count, entry_json(report, &report->entries.items[i]));
}

static json_t *entries_of_folds(const struct folds *folds)
{
    json_t *out = json_array();
    for (size_t i = 0; i < folds->list.count && folds->list.items[i].shown; i++) {
        const struct folded *one = &folds->list.items[i];
        struct entry entry = {i, 1, 1, one->host_ns, one->count, one->known, one->advised};
        json_array_append_new(out, entry_json(NULL, &entry));
    }
    return out;
}

/* An entry of several processes has no report, and is one finding. */
static json_t *others_list(const struct report *report, const struct entry *entry)
{
    json_t *out = json_array();
    if (report == NULL || entry->findings < 2 || entry->places > 1)
        return out;
    uint32_t sequence = report->findings.items[entry->first]->sequence;
    for (size_t i = 0; i < report->findings.count; i++)
        if (i != entry->first && report->findings.items[i]->sequence == sequence)
            json_array_append_new(out, position_json(i + 1));
    return out;
}

static json_t *process_list(const struct traces *traces)
{
    LIST_OF(traces->list.count, process_json(traces->list.items[i], &traces->list.items[i]->report));
}

static json_t *folded_list(const struct traces *traces, const struct folds *folds, struct site_namer *namer)
{
    json_t *out = json_array();
    for (size_t i = 0; i < folds->list.count; i++) {
        const struct folded *folded = &folds->list.items[i];
        const struct report *report = &traces->list.items[folded->process]->report;
        symbolizer_of(namer, &report->trace);
        json_array_append_new(out, folded_json(report, namer, folded));
    }
    return out;
}

#define PUT(key, value) json_object_set_new(out, key, value);
#include "analysis/views/json/fields.h"
#define OBJECT(name, arguments) \
    static json_t *name##_json arguments \
    { \
        json_t *out = json_object();
#define END \
    return out; \
    }
#define TEXT(key, value, meaning) PUT(#key, value_text(value))
#define TEXT_IF(key, value, meaning) PUT(#key, value_text(value))
#define FLAG(key, value, meaning) PUT(#key, json_boolean(value))
#define HEX(key, value, meaning) PUT(#key, value_hex(value))
#define HEX_IF(key, known, value, meaning) PUT(#key, (known) ? value_hex(value) : json_null())
#define ID(key, value, meaning) PUT(#key, json_string(value))
#define ID_IF(key, value, meaning) PUT(#key, id_or_null(value))
#define ID_NAME(key, report, set, id) PUT(#key, id_name(report, set, id))
#define NAME_IF(key, report, set, id, meaning) PUT(#key, name_or_null(report, set, id))
#define SITE_IF(key, report, namer, stack, meaning) PUT(#key, site_or_null(report, namer, stack))
#define NUMBER(key, value, meaning) PUT(#key, value_number(value))
#define NUMBER_IF(key, known, value, meaning) PUT(#key, (known) ? value_number(value) : json_null())
#define REAL(key, value, meaning) PUT(#key, json_real(value))
#define POSITION(key, value, meaning) PUT(#key, value_number(value))
#define POSITION_IF(key, known, value, meaning) PUT(#key, (known) ? value_number(value) : json_null())
#define WORD(key, names, from, count, value, meaning) PUT(#key, json_string((names)[value]))
#define WORD_IF(key, names, from, count, value, meaning) \
    PUT(#key, (unsigned)(value) >= (from) ? json_string((names)[value]) : json_null())
#define NUMBERS(names, from, count, value) \
    for (unsigned i = (from); i < (count); i++) \
    PUT((names)[i], value_number(value))
#define EACH(object, names, count, value) \
    for (unsigned i = 0; i < (count); i++) \
    PUT((names)[i], value)
#define ONE(key, object, value, meaning) PUT(#key, value)
#define ONE_IF(key, object, value, meaning) PUT(#key, value)
#define LIST(key, object, value, meaning) PUT(#key, value)
#define TEXTS(key, value, meaning) PUT(#key, value)
#define PART(object, value) value_merge(out, value);
#define MORE_NUMBERS(statement) statement;
#define VERSION(key, meaning) PUT(#key, json_integer(1))
#include "analysis/views/json/report.def"

json_t *report_json_document(const struct report *report, const struct repair *repair, struct site_namer *namer)
{
    return one_json(report, namer, repair);
}

json_t *report_json_many_document(const struct traces *traces, const struct folds *folds, const struct repairs *repairs,
                                  struct site_namer *namer)
{
    return several_json(traces, folds, namer, traces_gpu_totals(traces), repairs);
}

int report_json(const struct report *report, struct site_namer *namer, struct text_sink *sink)
{
    return report_json_repaired(report, NULL, namer, sink);
}

int report_json_repaired(const struct report *report, const struct repair *repair, struct site_namer *namer,
                         struct text_sink *sink)
{
    return value_write(report_json_document(report, repair, namer), sink);
}

int report_json_many(const struct traces *traces, const struct folds *folds, struct site_namer *namer,
                     struct text_sink *sink)
{
    return report_json_many_repaired(traces, folds, NULL, namer, sink);
}

int report_json_many_repaired(const struct traces *traces, const struct folds *folds, const struct repairs *repairs,
                              struct site_namer *namer, struct text_sink *sink)
{
    return value_write(report_json_many_document(traces, folds, repairs, namer), sink);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * The JSON schema of the reports: report.def read as a table. For `ptds report --schema`. Fields that a reader does not
 * know are allowed: they are only ever added.
 */
#include "analysis/views/json/json_schema.h"

#include <string.h>

#include "analysis/base/sink.h"
#include "analysis/report/default_cost.h"
#include "analysis/views/json/keys.h"
#include "analysis/views/json/report_json.h"
#include "analysis/views/json/value.h"
#include "analysis/report/rank.h"
#include "analysis/views/verdict_words.h"

enum row_kind {
    ROW_OBJECT,
    ROW_END,
    ROW_TEXT,
    ROW_FLAG,
    ROW_HEX,
    ROW_ID,
    ROW_NUMBER,
    ROW_REAL,
    ROW_POSITION,
    ROW_WORD,
    ROW_NUMBERS,
    ROW_EACH,
    ROW_ONE,
    ROW_LIST,
    ROW_TEXTS,
    ROW_PART,
    ROW_MORE_NUMBERS,
    ROW_VERSION,
};

struct row {
    enum row_kind kind;
    bool or_null;
    const char *key, *meaning;
    const char *object; /* NULL: none */
    const char *const *names;
    unsigned from, count; /* of names */
};

/* The functions' arguments and the values mean nothing here and are left out. */
#define OBJECT(name, arguments) {.kind = ROW_OBJECT, .object = #name},
#define END {.kind = ROW_END},
#define TEXT(key, value, meaning) {ROW_TEXT, false, #key, meaning, NULL, NULL, 0, 0},
#define TEXT_IF(key, value, meaning) {ROW_TEXT, true, #key, meaning, NULL, NULL, 0, 0},
#define FLAG(key, value, meaning) {ROW_FLAG, false, #key, meaning, NULL, NULL, 0, 0},
#define HEX(key, value, meaning) {ROW_HEX, false, #key, meaning, NULL, NULL, 0, 0},
#define HEX_IF(key, known, value, meaning) {ROW_HEX, true, #key, meaning, NULL, NULL, 0, 0},
#define ID(key, value, meaning) {ROW_ID, false, #key, meaning, NULL, NULL, 0, 0},
#define ID_IF(key, value, meaning) {ROW_ID, true, #key, meaning, NULL, NULL, 0, 0},
#define ID_NAME(key, report, set, id) {ROW_TEXT, false, #key, "", NULL, NULL, 0, 0},
#define NAME_IF(key, report, set, id, meaning) {ROW_TEXT, true, #key, meaning, NULL, NULL, 0, 0},
#define SITE_IF(key, report, namer, stack, meaning) {ROW_TEXT, true, #key, meaning, NULL, NULL, 0, 0},
#define NUMBER(key, value, meaning) {ROW_NUMBER, false, #key, meaning, NULL, NULL, 0, 0},
#define NUMBER_IF(key, known, value, meaning) {ROW_NUMBER, true, #key, meaning, NULL, NULL, 0, 0},
#define REAL(key, value, meaning) {ROW_REAL, false, #key, meaning, NULL, NULL, 0, 0},
#define POSITION(key, value, meaning) {ROW_POSITION, false, #key, meaning, NULL, NULL, 0, 0},
#define POSITION_IF(key, known, value, meaning) {ROW_POSITION, true, #key, meaning, NULL, NULL, 0, 0},
#define WORD(key, names, from, count, value, meaning) {ROW_WORD, false, #key, meaning, NULL, names, from, count},
#define WORD_IF(key, names, from, count, value, meaning) {ROW_WORD, true, #key, meaning, NULL, names, from, count},
#define NUMBERS(names, from, count, value) {ROW_NUMBERS, false, NULL, "", NULL, names, from, count},
#define EACH(object, names, count, value) {ROW_EACH, false, NULL, "", #object, names, 0, count},
#define ONE(key, object, value, meaning) {ROW_ONE, false, #key, meaning, #object, NULL, 0, 0},
#define ONE_IF(key, object, value, meaning) {ROW_ONE, true, #key, meaning, #object, NULL, 0, 0},
#define LIST(key, object, value, meaning) {ROW_LIST, false, #key, meaning, #object, NULL, 0, 0},
#define TEXTS(key, value, meaning) {ROW_TEXTS, false, #key, meaning, NULL, NULL, 0, 0},
#define PART(object, value) {ROW_PART, false, NULL, "", #object, NULL, 0, 0},
#define MORE_NUMBERS(statement) {.kind = ROW_MORE_NUMBERS},
#define VERSION(key, meaning) {ROW_VERSION, false, #key, meaning, NULL, NULL, 0, 0},
static const struct row rows[] = {
#include "analysis/views/json/report.def"
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static json_t *reference(const char *object)
{
    return json_pack("{s:s+}", "$ref", "#/$defs/", object);
}

static json_t *typed(const char *type, bool or_null)
{
    return or_null ? json_pack("{s:[s, s]}", "type", type, "null") : json_pack("{s:s}", "type", type);
}

static json_t *from(json_int_t least, bool or_null)
{
    json_t *out = typed("integer", or_null);
    json_object_set_new(out, "minimum", json_integer(least));
    return out;
}

static json_t *matching(const char *pattern, bool or_null)
{
    json_t *out = typed("string", or_null);
    json_object_set_new(out, "pattern", json_string(pattern));
    return out;
}

static json_t *words(const struct row *row)
{
    json_t *list = value_texts(row->names + row->from, row->count - row->from);
    if (row->or_null)
        json_array_append_new(list, json_null());
    return json_pack("{s:o}", "enum", list);
}

static json_t *type_of(const struct row *row)
{
    switch (row->kind) {
    case ROW_TEXT: return typed("string", row->or_null);
    case ROW_FLAG: return typed("boolean", false);
    case ROW_HEX: return matching("^0x[0-9a-f]+$", row->or_null);
    case ROW_ID: return matching("^[0-9a-f]{16}$", row->or_null);
    case ROW_NUMBER: return from(0, row->or_null);
    case ROW_REAL: return typed("number", false);
    case ROW_POSITION: return from(1, row->or_null);
    case ROW_WORD: return words(row);
    case ROW_LIST: return json_pack("{s:s, s:o}", "type", "array", "items", reference(row->object));
    case ROW_TEXTS: return json_pack("{s:s, s:o}", "type", "array", "items", typed("string", false));
    case ROW_VERSION: return json_pack("{s:i}", "const", 1);
    case ROW_ONE:
        return row->or_null ? json_pack("{s:[o, o]}", "anyOf", typed("null", false), reference(row->object))
                            : reference(row->object);
    default: return json_null();
    }
}

static void add_field(json_t *properties, const struct row *row)
{
    json_t *field = type_of(row);
    if (row->meaning[0] != 0)
        json_object_set_new(field, "description", json_string(row->meaning));
    json_object_set_new(properties, row->key, field);
}

static const struct row *find(const char *object)
{
    const struct row *row = rows;
    while (row->kind != ROW_OBJECT || strcmp(row->object, object) != 0)
        row++;
    return row;
}

static void add_fields(json_t *properties, json_t *schema, const struct row *row)
{
    for (row++; row->kind != ROW_END; row++) {
        if (row->kind == ROW_PART)
            add_fields(properties, schema, find(row->object));
        else if (row->kind == ROW_MORE_NUMBERS)
            json_object_set_new(schema, "additionalProperties", from(0, false));
        else if (row->names == NULL || row->kind == ROW_WORD)
            add_field(properties, row);
        for (unsigned i = row->from; row->kind == ROW_NUMBERS && i < row->count; i++)
            json_object_set_new(properties, row->names[i], from(0, false));
        for (unsigned i = 0; row->kind == ROW_EACH && i < row->count; i++)
            json_object_set_new(properties, row->names[i], reference(row->object));
    }
}

static json_t *object_schema(const struct row *row)
{
    json_t *schema = json_pack("{s:s}", "type", "object"), *properties = json_object(), *required = json_array();
    const char *key;
    json_t *field;
    add_fields(properties, schema, row);
    json_object_foreach(properties, key, field) json_array_append_new(required, json_string(key));
    json_object_set_new(schema, "required", required);
    json_object_set_new(schema, "properties", properties);
    return schema;
}

static json_t *schema(void)
{
    json_t *definitions = json_object(), *out = json_object();
    for (unsigned i = 0; i < ROWS; i++)
        if (rows[i].kind == ROW_OBJECT)
            json_object_set_new(definitions, rows[i].object, object_schema(&rows[i]));
    json_object_set_new(out, "$schema", json_string("https://json-schema.org/draft/2020-12/schema"));
    json_object_set_new(out, "title", json_string("libptds report"));
    json_object_set_new(
        out, "description",
        json_string("What `ptds report --format json` writes: on one trace, or on several as one. Fields are "
                    "only ever added; what is not known is null, never 0."));
    json_object_set_new(out, "if", json_pack("{s:[s]}", "required", "processes"));
    json_object_set_new(out, "then", reference("several"));
    json_object_set_new(out, "else", reference("one"));
    json_object_set_new(out, "$defs", definitions);
    return out;
}

int json_schema(struct text_sink *sink)
{
    return value_write(schema(), sink);
}

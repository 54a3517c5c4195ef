/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON values. Called by the JSON report, the page and SARIF. Must not make null of a text that jansson refuses: names may
 * be cut inside a UTF-8 sequence.
 */
#include "analysis/views/json/value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/sink.h"

json_t *value_text(const char *text)
{
    char *clean = text != NULL ? text_copy(text, strlen(text)) : NULL;
    json_t *value = clean != NULL ? json_string(clean) : json_null();
    free(clean);
    return value;
}

json_t *value_number(uint64_t number)
{
    return json_integer(number <= INT64_MAX ? (json_int_t)number : INT64_MAX);
}

json_t *value_hex(uint64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)number);
    return json_string(text);
}

json_t *value_texts(const char *const *texts, size_t count)
{
    json_t *out = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(out, value_text(texts[i]));
    return out;
}

void value_merge(json_t *into, json_t *from)
{
    json_object_update(into, from);
    json_decref(from);
}

static int to_sink(const char *text, size_t size, void *data)
{
    struct text_sink *sink = data;
    sink->write(sink, text, size);
    return 0;
}

int value_write(json_t *document, struct text_sink *sink)
{
    int status = document != NULL ? json_dump_callback(document, to_sink, sink, JSON_INDENT(2)) : -1;
    json_decref(document);
    if (status == 0)
        sink->write(sink, "\n", 1);
    return status;
}

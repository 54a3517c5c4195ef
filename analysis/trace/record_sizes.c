/* SPDX-License-Identifier: Apache-2.0
 *
 * How long the fixed part of each record was when a trace was written: the schema text in its header says so, line by line
 * "NAME id field:type ...". Called once a trace by the reader. The text is untrusted: what cannot be understood leaves the
 * sizes that this reader was built with.
 */
#include "analysis/trace/record_sizes.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/trace/trace.h"

struct kind {
    uint16_t id, fixed;
    const char *tail; /* the field that is the rest of the record; "" if none */
};

static const struct kind kinds[] = {
#define F(type, name, doc)
#define TAIL(type, name, doc) #name
#define REC(NAME, id, doc, fields) {id, sizeof(struct ptds_rec_##NAME), "" fields},
#include "interpose/trace/records.def"
};

struct type {
    const char *name;
    unsigned size, align;
};

static const struct type types[] = {{"u8", 1, 1},  {"u16", 2, 2}, {"u32", 4, 4},
                                    {"i32", 4, 4}, {"u64", 8, 8}, {"b20", 20, 1}};

static const struct type *find_type(const char *text, size_t size)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strlen(types[i].name) == size && memcmp(types[i].name, text, size) == 0)
            return &types[i];
    return NULL;
}

/* Adds "field:type" to *size; false at the tail, whose name this reader knows or whose type is no fixed one. */
static bool add_field(const char *word, size_t length, const char *tail, unsigned *size, unsigned *align)
{
    const char *colon = memchr(word, ':', length);
    if (colon == NULL)
        return false;
    size_t name = (size_t)(colon - word);
    const struct type *type = find_type(colon + 1, length - name - 1);
    if (type == NULL || (strlen(tail) == name && memcmp(tail, word, name) == 0))
        return false;
    *size = (*size + type->align - 1) / type->align * type->align + type->size;
    if (type->align > *align)
        *align = type->align;
    return true;
}

static const char *next_word(const char *at, const char *end, size_t *length)
{
    while (at < end && *at == ' ')
        at++;
    const char *from = at;
    while (at < end && *at != ' ')
        at++;
    *length = (size_t)(at - from);
    return from;
}

static void read_line(uint16_t fixed[32], const char *line, const char *end)
{
    size_t length;
    const char *word = next_word(line, end, &length);
    word = next_word(word + length, end, &length);
    unsigned long id = 0;
    for (size_t i = 0; i < length && isdigit((unsigned char)word[i]) && id < 1000; i++)
        id = id * 10 + (unsigned long)(word[i] - '0');
    if (id == 0 || id >= 32)
        return;
    const char *tail = "";
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].id == id)
            tail = kinds[i].tail;
    unsigned size = sizeof(struct ptds_record), align = 4;
    bool fields = false;
    for (word = next_word(word + length, end, &length); length != 0; word = next_word(word + length, end, &length)) {
        if (!add_field(word, length, tail, &size, &align))
            break;
        fields = true;
    }
    size = (size + align - 1) / align * align;
    if (fields && size <= 4096)
        fixed[id] = (uint16_t)size;
}

void record_sizes_read(uint16_t fixed[32], const char *schema, size_t size)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        fixed[kinds[i].id] = kinds[i].fixed;
    for (const char *end = schema + size; schema < end;) {
        const char *newline = memchr(schema, '\n', (size_t)(end - schema));
        const char *stop = newline != NULL ? newline : end;
        read_line(fixed, schema, stop);
        schema = stop + 1;
    }
}

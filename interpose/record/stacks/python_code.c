/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a function's name, file and line from its code object. Called when a stack is defined that no stack before it was
 * like. All reads go by way of the kernel; what is not what it should be ends the look at it. Must not allocate.
 */
#include "interpose/record/stacks/python_code.h"

#include <string.h>

#include "interpose/base/peek.h"
#include "interpose/record/file/define.h"
#include "interpose/record/stacks/python.h"
#include "interpose/state/map.h"

enum { FILE_ROOM = 1024, FUNCTION_ROOM = 256, TABLE_MOST = 1 << 20, REMEMBERED = 1 << 16, SOURCES_MOST = 1 << 15 };

static struct map by_place;   /* hash of a code object's version and place -> id */
static struct map by_content; /* hash of the names' ids and the line -> id */
static uint32_t remembered, ids;

static int is_of_type(uint64_t object, uint64_t type)
{
    uint64_t its = 0;
    return object && !(object & 7) && peek(object + 8, &its, sizeof its) && its == type;
}

/* ---- text ---- */

/* Bytes that a character takes; a half of a pair is a byte of a file's name that is no text. */
static size_t put_character(char *out, uint32_t c)
{
    unsigned char *to = (unsigned char *)out;
    if (c < 0x80 || (c >= 0xdc80 && c <= 0xdcff)) {
        to[0] = (unsigned char)c;
        return 1;
    }
    if (c < 0x800) {
        to[0] = (unsigned char)(0xc0 | c >> 6);
        to[1] = (unsigned char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        to[0] = (unsigned char)(0xe0 | c >> 12);
        to[1] = (unsigned char)(0x80 | (c >> 6 & 0x3f));
        to[2] = (unsigned char)(0x80 | (c & 0x3f));
        return 3;
    }
    to[0] = (unsigned char)(0xf0 | (c >> 18 & 7));
    to[1] = (unsigned char)(0x80 | (c >> 12 & 0x3f));
    to[2] = (unsigned char)(0x80 | (c >> 6 & 0x3f));
    to[3] = (unsigned char)(0x80 | (c & 0x3f));
    return 4;
}

static uint32_t character(const uint8_t *in, unsigned size)
{
    uint32_t c = 0;
    memcpy(&c, in, size);
    return c;
}

static int put_text(uint64_t from, uint64_t length, unsigned size, char *out, size_t room)
{
    uint8_t part[256];
    size_t used = 0;
    while (length && used + 4 < room) {
        uint64_t now = length < sizeof part / size ? length : sizeof part / size;
        if (!peek(from, part, now * size))
            return 0;
        for (uint64_t i = 0; i < now && used + 4 < room; i++)
            used += put_character(out + used, character(part + i * size, size));
        from += now * size;
        length -= now;
    }
    out[used] = '\0';
    return 1;
}

int python_code_text(const struct python_layout *layout, uint64_t text, char *out, size_t room)
{
    uint64_t length = 0;
    uint32_t state = 0;
    if (!is_of_type(text, layout->text_type) || !peek(text + layout->text_length, &length, sizeof length) ||
        !peek(text + layout->text_state, &state, sizeof state))
        return 0;
    /* Whether it is interned, 0 to 3, takes two bits or, in 3.14, sixteen; the width of its characters follows, never 0. */
    uint32_t bits = (state & 0xffff) > 3 ? state >> 2 : state >> 16;
    unsigned size = bits & 7, compact = bits >> 3 & 1, ascii = bits >> 4 & 1;
    if ((size != 1 && size != 2 && size != 4) || !compact || length > INT32_MAX)
        return 0;
    return put_text(text + (ascii ? layout->text_ascii : layout->text_other), length, size, out, room);
}

/* ---- lines ---- */

struct table {
    uint64_t at, left;
    uint8_t part[256];
    unsigned next, count;
};

/* -1: there is no more. */
static int next_byte(struct table *table)
{
    if (table->next == table->count) {
        table->count = table->left < sizeof table->part ? (unsigned)table->left : (unsigned)sizeof table->part;
        table->next = 0;
        if (!table->count || !peek(table->at, table->part, table->count))
            return table->count = 0, -1;
        table->at += table->count;
        table->left -= table->count;
    }
    return table->part[table->next++];
}

/* Six bits a byte, the lowest first; of the number the lowest bit is the sign. */
static int signed_number(struct table *table)
{
    unsigned number = 0, shift = 0;
    int byte;
    do {
        byte = next_byte(table);
        if (byte >= 0 && shift < 30)
            number |= (unsigned)(byte & 0x3f) << shift;
        shift += 6;
    } while (byte >= 0 && byte & 0x40);
    return number & 1 ? -(int)(number >> 1) : (int)(number >> 1);
}

/* How an entry says its line, by its kind: those below do not change it. */
enum { SAME_LINE_MOST = 9, NEXT_LINES_MOST = 12, LONG_MOST = 14 };

/* An entry begins with a byte that has its highest bit set, and covers some instructions of two bytes each. */
int python_code_line(uint64_t from, uint64_t bytes, int first, uint64_t offset)
{
    struct table table = {.at = from, .left = bytes < TABLE_MOST ? bytes : TABLE_MOST};
    int line = first, byte = next_byte(&table);
    while (byte >= 0) {
        int kind = byte >> 3 & 15;
        uint64_t covered = 2u * ((unsigned)(byte & 7) + 1);
        if (!(byte & 0x80))
            return 0;
        if (kind > SAME_LINE_MOST && kind <= NEXT_LINES_MOST)
            line += kind - SAME_LINE_MOST - 1;
        else if (kind > NEXT_LINES_MOST && kind <= LONG_MOST)
            line += signed_number(&table);
        if (offset < covered)
            return kind > LONG_MOST || line < 0 ? 0 : line;
        offset -= covered;
        do
            byte = next_byte(&table);
        while (byte >= 0 && !(byte & 0x80));
    }
    return 0;
}

/* ---- functions ---- */

static uint64_t mixed(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t h = (a ^ 1469598103934665603u) * 1099511628211u;
    h = (h ^ h >> 31 ^ b) * 1099511628211u;
    h = (h ^ h >> 29 ^ c) * 1099511628211u;
    return (h ^ h >> 31) | 1;
}

/* 0: there are so many already that more would take the room of calls. */
static uint32_t define_source(const char *file, const char *function, int line, int first)
{
    struct ptds_rec_SOURCE record = {.line = (uint32_t)line, .first = first > 0 ? (uint32_t)first : 0};
    record.file = define_string(PTDS_ROLE_SOURCE, file);
    record.function = define_string(PTDS_ROLE_SOURCE, function);
    uint64_t key = mixed((uint64_t)record.file << 32 | record.function, record.line, record.first);
    uint32_t id = (uint32_t)map_get(&by_content, key);
    if (id)
        return id;
    if (__atomic_load_n(&ids, __ATOMIC_RELAXED) >= SOURCES_MOST)
        return 0;
    record.id = id = __atomic_add_fetch(&ids, 1, __ATOMIC_RELAXED);
    define(PTDS_REC_SOURCE, &record, sizeof record, NULL, 0);
    map_set(&by_content, key, id);
    return id;
}

static uint64_t word_at(const uint8_t *object, uint16_t at)
{
    uint64_t word;
    memcpy(&word, object + at, sizeof word);
    return word;
}

static int number_at(const uint8_t *object, uint16_t at)
{
    int number;
    memcpy(&number, object + at, sizeof number);
    return number;
}

/* Code that the interpreter made for itself has no table of lines in 3.12, later no first line and one name for all. */
static int is_its_own(const struct python_layout *layout, const uint8_t *object, uint64_t lines)
{
    return !lines ||
           (number_at(object, layout->first) <= 0 && word_at(object, layout->file) == word_at(object, layout->function));
}

static uint64_t look_at(const struct python_layout *layout, const uint8_t *object, uint64_t offset)
{
    char file[FILE_ROOM], function[FUNCTION_ROOM];
    uint64_t lines = word_at(object, layout->lines), bytes = 0;
    int first = number_at(object, layout->first);
    if (!is_of_type(lines, layout->bytes_type) || !peek(lines + layout->bytes_length, &bytes, sizeof bytes))
        return 0;
    if (is_its_own(layout, object, bytes))
        return UINT64_MAX;
    if (!python_code_text(layout, word_at(object, layout->file), file, sizeof file) ||
        !python_code_text(layout, word_at(object, layout->function), function, sizeof function))
        return 0;
    int line = python_code_line(lines + layout->bytes_start, bytes, first, offset);
    uint32_t id = define_source(file, function, line, first);
    return id ? PTDS_PC_SOURCE | id : 0;
}

/* A program may make code without end; what was seen of it is forgotten then and read again. */
static void remember(uint64_t key, uint64_t source)
{
    if (__atomic_add_fetch(&remembered, 1, __ATOMIC_RELAXED) > REMEMBERED) {
        map_clear(&by_place);
        __atomic_store_n(&remembered, 0, __ATOMIC_RELAXED);
    }
    map_set(&by_place, key, source);
}

uint64_t python_code_source(const struct python_layout *layout, uint64_t code, uint64_t instr)
{
    uint8_t object[PYTHON_CODE_MOST];
    if (!is_of_type(code, layout->code_type) || !peek(code, object, layout->start))
        return 0;
    uint64_t offset = instr - (code + layout->start);
    uint64_t key = mixed(code, (uint32_t)number_at(object, layout->version), offset), known = map_get(&by_place, key);
    if (known)
        return known;
    /* In 3.12 a function that has not begun stands before its first instruction. */
    known = look_at(layout, object, (int64_t)offset < 0 ? 0 : offset);
    if (known)
        remember(key, known);
    return known;
}

void python_code_after_fork(void)
{
    map_reset(&by_place);
    map_reset(&by_content);
    remembered = ids = 0;
}

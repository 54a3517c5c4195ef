/* SPDX-License-Identifier: Apache-2.0
 *
 * A reader of the part of the Itanium C++ mangling in which kernels' signatures are written: names, template arguments,
 * pointers, classes, back references. Names come from traces: whatever is not understood ends the reading, and nothing is
 * said of the kernel. Called once a kernel. Must never guess.
 */
#include "analysis/order/arguments/mangled_access.h"

#include <stddef.h>
#include <string.h>

enum { BACK_MOST = 128, TEMPLATE_MOST = 32, DEPTH_MOST = 24 };

struct type {
    bool is_const, pointer, to_const, deep;
};

struct types {
    struct type items[BACK_MOST];
    uint32_t count;
};

struct reader {
    const char *at;
    struct types back;      /* S_, S0_, ... */
    struct types templates; /* T_, T0_, ... */
    unsigned depth;
    bool bad;
};

static struct type read_type(struct reader *r);

static struct type fail(struct reader *r)
{
    r->bad = true;
    return (struct type){0};
}

static bool take(struct reader *r, const char *text)
{
    size_t size = strlen(text);
    if (r->bad || strncmp(r->at, text, size) != 0)
        return false;
    r->at += size;
    return true;
}

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

static struct type remember(struct reader *r, struct type type)
{
    if (r->back.count == BACK_MOST)
        return fail(r);
    r->back.items[r->back.count++] = type;
    return type;
}

/* "3foo" */
static void read_source_name(struct reader *r)
{
    size_t size = 0;
    while (digit(*r->at) && size < 4096)
        size = size * 10 + (size_t)(*r->at++ - '0');
    for (; size != 0 && *r->at != 0; size--)
        r->at++;
    if (size != 0 || *r->at == 'B')
        fail(r);
}

/* What follows S or T: "_" is 0, "0_" 1, and so on; S counts in base 36. */
static uint32_t read_sequence(struct reader *r, unsigned base)
{
    uint32_t number = 0;
    if (take(r, "_"))
        return 0;
    while (*r->at != '_' && number < 10000) {
        char c = *r->at++;
        if (!digit(c) && !(base == 36 && c >= 'A' && c <= 'Z')) {
            fail(r);
            return 0;
        }
        number = number * base + (uint32_t)(digit(c) ? c - '0' : c - 'A' + 10);
    }
    if (!take(r, "_"))
        fail(r);
    return number + 1;
}

static struct type at_number(struct reader *r, const struct types *types, uint32_t number)
{
    return !r->bad && number < types->count ? types->items[number] : fail(r);
}

/* "Li4E" and the like; the L is read */
static void read_literal(struct reader *r)
{
    read_type(r);
    take(r, "n");
    while (digit(*r->at) || (*r->at >= 'a' && *r->at <= 'f'))
        r->at++;
    if (!take(r, "E"))
        fail(r);
}

/* The arguments' types; the I is read */
static void read_template(struct reader *r, struct types *out)
{
    struct types found = {.count = 0};
    while (!r->bad && !take(r, "E")) {
        struct type type = {0};
        if (take(r, "L"))
            read_literal(r);
        else
            type = read_type(r);
        if (found.count == TEMPLATE_MOST)
            fail(r);
        else
            found.items[found.count++] = type;
    }
    if (out != NULL)
        memcpy(out, &found, sizeof found);
}

/* A name between N and E; the N is read. Its own last part is no back reference where a function is named: a type's is
 * remembered by the caller. *templates, false before: whether it ends in template arguments, which go to `out`. */
static void read_nested(struct reader *r, struct types *out, bool *templates)
{
    const struct type class_ = {0};
    bool first = true;
    while (strchr("rVK", *r->at) != NULL && *r->at != 0)
        r->at++;
    while (!r->bad && !take(r, "E")) {
        bool back = false;
        *templates = false;
        if (first && take(r, "St")) {
            back = true; /* std itself is none */
        } else if (first && take(r, "S")) {
            at_number(r, &r->back, read_sequence(r, 36));
            back = true;
        } else if (!first && take(r, "I")) {
            read_template(r, out);
            *templates = true;
        } else if (take(r, "L") || digit(*r->at)) {
            read_source_name(r);
        } else {
            fail(r);
        }
        if (!back && *r->at != 'E')
            remember(r, class_);
        first = false;
    }
}

static struct type read_class(struct reader *r)
{
    read_source_name(r);
    remember(r, (struct type){0});
    if (!take(r, "I"))
        return (struct type){0};
    read_template(r, NULL);
    return remember(r, (struct type){0});
}

static struct type read_back(struct reader *r)
{
    if (take(r, "t"))
        return read_class(r);
    struct type type = at_number(r, &r->back, read_sequence(r, 36));
    if (!take(r, "I"))
        return type;
    read_template(r, NULL);
    return remember(r, (struct type){0});
}

static struct type read_pointer(struct reader *r)
{
    struct type inner = read_type(r);
    return remember(r, (struct type){.pointer = true, .to_const = inner.is_const, .deep = inner.pointer || inner.deep});
}

static struct type read_qualified(struct reader *r)
{
    bool is_const = false;
    while (*r->at == 'r' || *r->at == 'V' || *r->at == 'K')
        is_const |= *r->at++ == 'K';
    struct type type = read_type(r);
    type.is_const |= is_const;
    return remember(r, type);
}

static struct type read_array(struct reader *r)
{
    while (digit(*r->at))
        r->at++;
    if (!take(r, "_"))
        return fail(r);
    return remember(r, read_type(r));
}

static struct type read_any(struct reader *r)
{
    static const char builtin[] = "vwbachstijlmxynofdeg", of_two[] = "hndfi";
    bool templates = false;
    char c = *r->at;
    if (digit(c))
        return read_class(r);
    if (c == 'r' || c == 'V' || c == 'K')
        return read_qualified(r);
    if (c == 0)
        return fail(r);
    r->at++;
    switch (c) {
    case 'P': return read_pointer(r);
    case 'A': return read_array(r);
    case 'S': return read_back(r);
    case 'T': return remember(r, at_number(r, &r->templates, read_sequence(r, 10)));
    case 'N': read_nested(r, NULL, &templates); return remember(r, (struct type){0});
    case 'D':
        if (*r->at == 0 || strchr(of_two, *r->at) == NULL)
            return fail(r);
        r->at++;
        return (struct type){0};
    default:
        if (strchr(builtin, c) == NULL)
            return fail(r);
        return (struct type){0};
    }
}

static struct type read_type(struct reader *r)
{
    if (r->bad || ++r->depth > DEPTH_MOST)
        return fail(r);
    struct type type = read_any(r);
    r->depth--;
    return type;
}

/* The function's own name. Returns whether it is an instance of a template, whose return type then follows. */
static bool read_function(struct reader *r)
{
    bool templates = false;
    if (take(r, "N")) {
        read_nested(r, &r->templates, &templates);
        return templates;
    }
    take(r, "L");
    if (!digit(*r->at)) {
        fail(r);
        return false;
    }
    read_source_name(r);
    if (take(r, "I")) {
        remember(r, (struct type){0});
        read_template(r, &r->templates);
        templates = true;
    }
    return templates;
}

static enum mangled_parameter kind_of(struct type type)
{
    return !type.pointer   ? MANGLED_OTHER
           : type.deep     ? MANGLED_POINTER_POINTER
           : type.to_const ? MANGLED_CONST_POINTER
                           : MANGLED_POINTER;
}

int mangled_access_parameters(const char *name, uint8_t *kinds, uint32_t most)
{
    struct reader r = {.at = name};
    uint32_t count = 0;
    if (!take(&r, "_Z"))
        return -1;
    if (read_function(&r))
        read_type(&r);
    if (!r.bad && strcmp(r.at, "v") == 0)
        return 0;
    while (!r.bad && *r.at != 0) {
        struct type type = read_type(&r);
        if (count == most)
            fail(&r);
        else
            kinds[count++] = (uint8_t)kind_of(type);
    }
    return r.bad || count == 0 ? -1 : (int)count;
}

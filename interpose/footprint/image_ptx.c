/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads PTX for the names and types of its variables: the directives outside of functions and of parameter lists. Called by
 * image.c. Never looks beyond the text's size, nor beyond its end.
 *
 * What compilers put there for themselves (tables of mathematical functions, texts, vtables, empty objects of the standard
 * library) is never written and does not count.
 */
#include "interpose/footprint/image.h"

#include <string.h>

/* Past this text; NULL: there is something else. */
static const char *past(const char *at, const char *end, const char *text)
{
    size_t size = strlen(text);
    return at && (size_t)(end - at) >= size && memcmp(at, text, size) == 0 ? at + size : NULL;
}

/* Past a number, `start`, and as many bytes as the number says. skipped: of `start` they do not count. */
static const char *past_counted(const char *at, const char *end, const char *start, size_t skipped)
{
    size_t size = 0;
    while (at && at < end && *at >= '0' && *at <= '9' && size < 1 << 20)
        size = size * 10 + (size_t)(*at++ - '0');
    const char *counted = past(at, end, start) ? at + skipped : NULL;
    return counted && size <= (size_t)(end - counted) ? counted + size : NULL;
}

/* Where the mangled name begins of a variable that nvcc gives a name of its own, for it is one of a single file. */
static const char *past_static(const char *name, const char *end)
{
    const char *at = past_counted(past(name, end, "__nv_static_"), end, "_", 1);
    at = past(at, end, "_");
    return at ? at : name;
}

/* A variable of those libraries' headers, or of a function there. Each file has its own, in a scope of the file's. Names of
 * the program's own may have the same letters anywhere else. */
static int is_the_headers(const char *name, size_t size)
{
    static const char *const scopes[] = {"4cuda3std", "6thrust", "4cute"};
    const char *end = name + size, *at = past(past_static(name, end), end, "_Z");
    while (at && at < end && *at == 'Z')
        at++;
    const char *of_const = past(at, end, "NK");
    at = of_const ? of_const : past(at, end, "N");
    const char *in_file = past_counted(at, end, "_INTERNAL_", 0);
    at = in_file ? in_file : at;
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++) {
        if (past(at, end, scopes[i]))
            return 1;
    }
    return 0;
}

int image_is_the_compilers(const char *name, size_t size)
{
    static const char *const starts[] = {"__cudart_",          "$str", "_$_str", ".str", "_ZTV", "_ZTI", "_ZTS", "__func__",
                                         "__PRETTY_FUNCTION__"};
    /* curand_kernel.h's, which are const there */
    static const char *const tables[] = {"precalc_xorwow_matrix",
                                         "precalc_xorwow_offset_matrix",
                                         "mrg32k3aM1",
                                         "mrg32k3aM2",
                                         "mrg32k3aM1Seq",
                                         "mrg32k3aM2Seq",
                                         "mrg32k3aM1SubSeq",
                                         "mrg32k3aM2SubSeq"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        size_t length = strlen(starts[i]);
        if (size >= length && memcmp(name, starts[i], length) == 0)
            return 1;
    }
    if (memmem(name, size, "$str", 4) || is_the_headers(name, size))
        return 1;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        if (size == strlen(tables[i]) && memcmp(name, tables[i], size) == 0)
            return 1;
    }
    return 0;
}

int image_is_unnamed(const char *name, size_t size)
{
    static const char start[] = "__unnamed_";
    return size >= sizeof start - 1 && memcmp(name, start, sizeof start - 1) == 0;
}

struct text {
    const char *at, *end;
};

static int is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '%' ||
           c == '.';
}

/* Past a comment or a quoted text; 0 if there is none here. */
static int skip_aside(struct text *text)
{
    const char *from = text->at, *stop = NULL;
    size_t left = (size_t)(text->end - from);
    if (left >= 2 && from[0] == '/' && from[1] == '/')
        stop = memchr(from, '\n', left);
    else if (left >= 4 && from[0] == '/' && from[1] == '*')
        stop = (stop = memmem(from + 2, left - 2, "*/", 2)) ? stop + 1 : NULL;
    else if (left >= 2 && from[0] == '"')
        stop = memchr(from + 1, '"', left - 1);
    else
        return 0;
    text->at = stop ? stop + 1 : text->end;
    return 1;
}

/* Behind `[`: fewer bytes than a pointer has, and the declaration ends there. */
static int has_few_bytes(struct text text)
{
    const char *from = text.at;
    while (text.at < text.end && *text.at && strchr("01234567", *text.at))
        text.at++;
    if (text.at != from + 1 || text.at == text.end || *text.at++ != ']')
        return 0;
    while (text.at < text.end && *text.at == ' ')
        text.at++;
    return text.at < text.end && *text.at && strchr(";=", *text.at);
}

/* What is known of a declaration: its name, its type's bits, and where the name ends. */
struct declared {
    const char *name;
    size_t size;
    int bits; /* 0 unknown */
    struct text rest;
};

static int bits_of(const char *word, size_t size)
{
    static const char *const ends[] = {"8", "16", "32"};
    for (int i = 0; i < 3; i++) {
        size_t digits = strlen(ends[i]);
        if (size == digits + 2 && word[0] == '.' && strchr("busf", word[1]) && memcmp(word + 2, ends[i], digits) == 0)
            return 8 << i;
    }
    return 0;
}

/* The name is the last word before `[`, `=`, `;` or `,`. Comments among the words are none of them. */
static struct declared declared(struct text text)
{
    struct declared found = {text.at, 0, 0, text};
    while (text.at < text.end && !strchr("[=;,", *text.at)) {
        const char *from = text.at;
        if (skip_aside(&text))
            continue;
        while (text.at < text.end && is_word(*text.at))
            text.at++;
        if (text.at > from) {
            found.name = from;
            found.size = (size_t)(text.at - from);
            found.bits = found.bits ? found.bits : bits_of(from, found.size);
        } else {
            text.at++;
        }
    }
    found.rest = text;
    return found;
}

/* Numbers of 16 and 32 bits are none; of a structure PTX only has the bytes. Further variables of one declaration may be
 * larger. */
static int may_hold_pointer(const struct declared *variable)
{
    struct text rest = variable->rest;
    if (variable->bits == 16 || variable->bits == 32)
        return 0;
    if (variable->bits != 8 || rest.at == rest.end || *rest.at == ',')
        return 1;
    rest.at++;
    return rest.at[-1] == '[' && !has_few_bytes(rest);
}

/* Values are all there is, and none is 0. */
static int is_filled_text(struct text text)
{
    const char *open = memchr(text.at, '{', (size_t)(text.end - text.at)),
               *end = memchr(text.at, ';', (size_t)(text.end - text.at));
    if (!open || !end || open > end)
        return 0;
    for (const char *at = open; at < end; at++) {
        if (*at == '0' && (at[-1] == ' ' || at[-1] == '{' || at[-1] == ','))
            return 0;
    }
    return 1;
}

static int is_the_compilers(const struct declared *variable)
{
    return image_is_the_compilers(variable->name, variable->size) ||
           (variable->bits == 8 && image_is_unnamed(variable->name, variable->size) && is_filled_text(variable->rest));
}

/* What the variable adds, which the directive before it says to be of that kind. */
static unsigned of_declaration(struct text text, unsigned kind)
{
    struct declared variable = declared(text);
    if (is_the_compilers(&variable))
        return 0;
    return kind == IMAGE_GLOBALS && may_hold_pointer(&variable) ? kind | IMAGE_POINTERS : kind;
}

static int is_directive(const struct text *text, const char *word)
{
    size_t size = strlen(word), left = (size_t)(text->end - text->at);
    return left > size && memcmp(text->at, word, size) == 0 && !is_word(text->at[size]);
}

unsigned image_of_ptx(const char *image, size_t size)
{
    struct text text = {image, image + size};
    unsigned found = memmem(image, strnlen(image, size), "malloc", 6) ? IMAGE_HEAP : 0;
    int depth = 0, fresh = 1; /* fresh: a word begins here */
    while (text.at < text.end && *text.at) {
        if (skip_aside(&text))
            continue;
        char c = *text.at;
        depth += (c == '{' || c == '(') - (c == '}' || c == ')');
        if (c == '.' && fresh && depth == 0) {
            unsigned what = is_directive(&text, ".global")  ? IMAGE_GLOBALS
                            : is_directive(&text, ".const") ? IMAGE_CONSTANTS
                                                            : 0;
            if (what)
                found |= of_declaration((struct text){text.at + 1, text.end}, what);
        }
        fresh = !is_word(c);
        text.at++;
    }
    return found;
}

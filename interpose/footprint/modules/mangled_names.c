/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of classes and functions as the Itanium C++ ABI mangles them, with their template arguments. Called by
 * mangled_types.c and signature.c, once a kernel. Whatever it does not know makes it give up.
 */
#include "interpose/footprint/modules/mangled_names.h"

#include <stddef.h>
#include <string.h>

#include "interpose/footprint/modules/mangled_types.h"
#include "interpose/footprint/modules/signature.h"

/* A class or namespace: the scope's name, "::", and `size` bytes more. */
static unsigned new_class(struct mangled_parser *p, unsigned scope, const char *name, size_t size)
{
    const char *outer = scope ? mangled_parser_text(p, scope) : "";
    size_t outer_size = strlen(outer);
    unsigned made = mangled_parser_add(p, CLASS, p->text_used);
    if (!made || p->text_used + outer_size + size + 3 > TEXT)
        return 0;
    char *to = p->text + p->text_used;
    if (outer_size) {
        memcpy(to, outer, outer_size);
        memcpy(to + outer_size, "::", 2);
        outer_size += 2;
    }
    memcpy(to + outer_size, name, size);
    to[outer_size + size] = '\0';
    p->text_used += (unsigned)(outer_size + size + 1);
    return made;
}

/* <number> <identifier>, with its ABI tags. */
static unsigned read_source_name(struct mangled_parser *p, unsigned scope)
{
    size_t size = 0;
    while (mangled_parser_is_digit(*p->at) && size < TEXT)
        size = size * 10 + (size_t)(*p->at++ - '0');
    if (!size || strnlen(p->at, size) < size)
        return 0;
    unsigned made = new_class(p, scope, p->at, size);
    p->at += size;
    while (made && mangled_parser_take(p, 'B')) {
        size = 0;
        while (mangled_parser_is_digit(*p->at) && size < TEXT)
            size = size * 10 + (size_t)(*p->at++ - '0');
        if (!size || strnlen(p->at, size) < size)
            return 0;
        p->at += size;
    }
    return made;
}

/* [number] _, as in S_, S0_, T_, T1_. Returns the number that is meant, from 0; -1: it is not understood. */
static int read_sequence(struct mangled_parser *p, int base)
{
    int value = 0, digits = 0;
    for (; *p->at && *p->at != '_'; p->at++, digits++) {
        int digit = mangled_parser_is_digit(*p->at)  ? *p->at - '0'
                    : *p->at >= 'A' && *p->at <= 'Z' ? *p->at - 'A' + 10
                                                     : 99;
        if (digit >= base || value > 10000)
            return -1;
        value = value * base + digit;
    }
    return mangled_parser_take(p, '_') ? (digits ? value + 1 : 0) : -1;
}

/* A lambda or an unnamed type: Ul <types> E [n] _, Ut [n] _. */
static unsigned read_unnamed(struct mangled_parser *p, unsigned scope)
{
    if (p->at[1] == 'l') {
        p->at += 2;
        while (*p->at && *p->at != 'E')
            if (!mangled_types_read(p))
                return 0;
        if (!mangled_parser_take(p, 'E'))
            return 0;
    } else if (p->at[1] == 't') {
        p->at += 2;
    } else {
        return 0;
    }
    return read_sequence(p, 10) >= 0 ? new_class(p, scope, "{}", 2) : 0;
}

/* Operators, constructors and destructors have names of two letters, lower or upper case. A conversion has a type. */
static unsigned read_operator(struct mangled_parser *p, unsigned scope)
{
    char first = p->at[0], second = first ? p->at[1] : 0;
    if (first == 'C' || first == 'D') {
        if (!mangled_parser_is_digit(second))
            return 0;
    } else if (first < 'a' || first > 'z' || !second || (first == 'c' && second == 'v') ||
               (first == 'l' && second == 'i')) {
        return 0;
    }
    p->at += 2;
    return new_class(p, scope, "()", 2);
}

static unsigned read_unqualified(struct mangled_parser *p, unsigned scope)
{
    mangled_parser_take(p, 'L'); /* internal linkage */
    if (mangled_parser_is_digit(*p->at))
        return read_source_name(p, scope);
    return *p->at == 'U' ? read_unnamed(p, scope) : read_operator(p, scope);
}

/* A function inside another's name has template arguments of its own. */
static int read_inner(struct mangled_parser *p)
{
    uint16_t saved[ARGUMENTS];
    unsigned kept = p->arguments;
    memcpy(saved, p->argument, sizeof saved);
    int count = signature_read(p, NULL, 0);
    memcpy(p->argument, saved, sizeof saved);
    p->arguments = kept;
    return count;
}

static int skip_value(struct mangled_parser *p)
{
    while (*p->at && *p->at != 'E')
        p->at++;
    return mangled_parser_take(p, 'E');
}

/* L <type> <value> E, L _Z <encoding> E. */
static int read_literal(struct mangled_parser *p)
{
    if (!mangled_parser_take(p, 'L'))
        return 0;
    if (p->at[0] == '_' && p->at[1] == 'Z') {
        p->at += 2;
        return read_inner(p) >= 0 && mangled_parser_take(p, 'E');
    }
    return mangled_types_read(p) && skip_value(p);
}

static unsigned read_pack(struct mangled_parser *p);

static unsigned read_argument(struct mangled_parser *p)
{
    switch (*p->at) {
    case 'L': return read_literal(p) ? mangled_parser_add(p, OTHER, 0) : 0;
    case 'J': return read_pack(p);
    case 'X':
        /* of expressions, only the address of something */
        p->at++;
        if (p->at[0] == 'a' && p->at[1] == 'd')
            p->at += 2;
        return read_literal(p) && mangled_parser_take(p, 'E') ? mangled_parser_add(p, OTHER, 0) : 0;
    default: return mangled_types_read(p);
    }
}

static unsigned read_pack(struct mangled_parser *p)
{
    p->at++;
    while (*p->at && *p->at != 'E')
        if (!read_argument(p))
            return 0;
    return mangled_parser_take(p, 'E') ? mangled_parser_add(p, OTHER, 0) : 0;
}

/* I <argument>* E. keep: these are the function's arguments, to which T_ refers. */
static int read_arguments(struct mangled_parser *p, int keep)
{
    uint16_t found[ARGUMENTS];
    unsigned count = 0;
    if (!mangled_parser_take(p, 'I') || ++p->depth > DEPTH)
        return 0;
    while (*p->at && *p->at != 'E') {
        unsigned type = read_argument(p);
        if (!type || count == ARGUMENTS)
            return 0;
        found[count++] = (uint16_t)type;
    }
    p->depth--;
    if (keep) {
        memcpy(p->argument, found, count * sizeof found[0]);
        p->arguments = count;
    }
    return mangled_parser_take(p, 'E');
}

/* Some parts of std have letters of their own; others are numbered. */
unsigned mangled_names_substitution(struct mangled_parser *p)
{
    if (!mangled_parser_take(p, 'S'))
        return 0;
    static const char letters[] = "tabsiod";
    static const char *const names[] = {"std",          "std::allocator", "std::basic_string", "std::string",
                                        "std::istream", "std::ostream",   "std::iostream"};
    const char *letter = *p->at ? strchr(letters, *p->at) : NULL;
    if (letter) {
        p->at++;
        return new_class(p, 0, names[letter - letters], strlen(names[letter - letters]));
    }
    int which = read_sequence(p, 36);
    return which >= 0 && (unsigned)which < p->substitutions ? p->substitution[which] : 0;
}

unsigned mangled_names_template_parameter(struct mangled_parser *p)
{
    if (!mangled_parser_take(p, 'T'))
        return 0;
    int which = read_sequence(p, 10);
    return which >= 0 && (unsigned)which < p->arguments ? p->argument[which] : 0;
}

/* `name<...>`: another type of the same name. */
static unsigned with_arguments(struct mangled_parser *p, unsigned name, int keep)
{
    if (!read_arguments(p, keep))
        return 0;
    const char *text = mangled_parser_text(p, name);
    size_t size = strlen(text);
    char copied[256];
    if (size + 2 > sizeof copied)
        return mangled_parser_add(p, OTHER, 0);
    memcpy(copied, text, size);
    memcpy(copied + size, "<>", 2);
    return new_class(p, 0, copied, size + 2);
}

/* N [qualifiers] <part>* E. Each part but the last can be referred to later; the last one of a type, too, which the caller
 * adds. function: a function's name; *templated: its last part has arguments. */
static unsigned read_nested(struct mangled_parser *p, int function, int *templated)
{
    unsigned scope = 0;
    if (!mangled_parser_take(p, 'N'))
        return 0;
    while (*p->at == 'r' || *p->at == 'V' || *p->at == 'K' || *p->at == 'R' || *p->at == 'O')
        p->at++;
    while (*p->at && *p->at != 'E') {
        int known = *p->at == 'S';
        *templated = *p->at == 'I';
        if (known)
            scope = scope ? 0 : mangled_names_substitution(p);
        else if (*templated)
            scope = scope ? with_arguments(p, scope, function) : 0;
        else if (*p->at == 'T' && !scope)
            scope = mangled_names_template_parameter(p);
        else
            scope = read_unqualified(p, scope);
        if (!scope || (!known && *p->at != 'E' && !mangled_parser_substitutes(p, scope)))
            return 0;
    }
    return mangled_parser_take(p, 'E') ? scope : 0;
}

/* Z <encoding> E <name> [discriminator]. */
static unsigned read_local(struct mangled_parser *p, int function, int *templated)
{
    unsigned name = 0;
    if (!mangled_parser_take(p, 'Z') || read_inner(p) < 0 || !mangled_parser_take(p, 'E'))
        return 0;
    if (mangled_parser_take(p, 's'))
        name = new_class(p, 0, "\"\"", 2);
    else if (*p->at == 'N')
        name = read_nested(p, function, templated);
    else
        name = read_unqualified(p, 0);
    if (mangled_parser_take(p, '_')) {
        int longer = mangled_parser_take(p, '_');
        while (mangled_parser_is_digit(*p->at))
            p->at++;
        if (longer && !mangled_parser_take(p, '_'))
            return 0;
    }
    return name;
}

unsigned mangled_names_read(struct mangled_parser *p, int function, int *templated)
{
    unsigned name;
    *templated = 0;
    if (*p->at == 'N')
        return read_nested(p, function, templated);
    if (*p->at == 'Z')
        return read_local(p, function, templated);
    int known = *p->at == 'S' && p->at[1] != 't';
    if (*p->at == 'S') {
        name = mangled_names_substitution(p);
        if (name && !known)
            name = read_unqualified(p, name);
    } else {
        name = read_unqualified(p, 0);
    }
    if (!name || *p->at != 'I')
        return name;
    if (!known && !mangled_parser_substitutes(p, name))
        return 0;
    *templated = 1;
    return with_arguments(p, name, function);
}

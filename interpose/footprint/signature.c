/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the parameter types out of a name mangled by the Itanium C++ ABI, as nvcc does. Called once a kernel. Whatever it
 * does not know makes it give up: a wrong type would make a kernel that writes one that reads.
 */
#include "interpose/footprint/signature.h"

#include <stddef.h>
#include <string.h>

#include "interpose/base/memory.h"

enum kind { BUILTIN, CLASS, POINTER, CONST, FUNCTION, OTHER };

struct type {
    uint8_t kind;
    uint8_t plain;  /* a class known to hold no pointers */
    uint16_t inner; /* of POINTER and CONST; of CLASS, where its qualified name begins in `text` */
};

enum { TYPES = 1024, SUBSTITUTIONS = 512, ARGUMENTS = 64, TEXT = 16384, DEPTH = 40 };

/* Types are numbered from 1; 0 is what could not be read. */
struct parser {
    const char *at;
    unsigned depth, types, substitutions, arguments, text_used;
    struct type type[TYPES];
    uint16_t substitution[SUBSTITUTIONS];
    uint16_t argument[ARGUMENTS]; /* template arguments of the function */
    char text[TEXT];
};

static unsigned read_type(struct parser *p);
static int read_encoding(struct parser *p, uint8_t *flags, int outermost);

static unsigned new_type(struct parser *p, enum kind kind, unsigned inner)
{
    if (p->types + 1 >= TYPES)
        return 0;
    p->type[++p->types] = (struct type){(uint8_t)kind, 0, (uint16_t)inner};
    return p->types;
}

static int substitutable(struct parser *p, unsigned type)
{
    if (!type || p->substitutions == SUBSTITUTIONS)
        return 0;
    p->substitution[p->substitutions++] = (uint16_t)type;
    return 1;
}

static int take(struct parser *p, char wanted)
{
    if (*p->at != wanted)
        return 0;
    p->at++;
    return 1;
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *text_of(const struct parser *p, unsigned type)
{
    return p->type[type].kind == CLASS ? p->text + p->type[type].inner : "?";
}

/* A class or namespace: the scope's name, "::", and `size` bytes more. */
static unsigned new_class(struct parser *p, unsigned scope, const char *name, size_t size)
{
    const char *outer = scope ? text_of(p, scope) : "";
    size_t outer_size = strlen(outer);
    unsigned made = new_type(p, CLASS, p->text_used);
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
static unsigned read_source_name(struct parser *p, unsigned scope)
{
    size_t size = 0;
    while (is_digit(*p->at) && size < TEXT)
        size = size * 10 + (size_t)(*p->at++ - '0');
    if (!size || strnlen(p->at, size) < size)
        return 0;
    unsigned made = new_class(p, scope, p->at, size);
    p->at += size;
    while (made && take(p, 'B')) {
        size = 0;
        while (is_digit(*p->at) && size < TEXT)
            size = size * 10 + (size_t)(*p->at++ - '0');
        if (!size || strnlen(p->at, size) < size)
            return 0;
        p->at += size;
    }
    return made;
}

/* [number] _, as in S_, S0_, T_, T1_. The number that is meant, from 0; -1 not one. */
static int read_sequence(struct parser *p, int base)
{
    int value = 0, digits = 0;
    for (; *p->at && *p->at != '_'; p->at++, digits++) {
        int digit = is_digit(*p->at) ? *p->at - '0' : *p->at >= 'A' && *p->at <= 'Z' ? *p->at - 'A' + 10 : 99;
        if (digit >= base || value > 10000)
            return -1;
        value = value * base + digit;
    }
    return take(p, '_') ? (digits ? value + 1 : 0) : -1;
}

/* A lambda or an unnamed type: Ul <types> E [n] _, Ut [n] _. */
static unsigned read_unnamed(struct parser *p, unsigned scope)
{
    if (p->at[1] == 'l') {
        p->at += 2;
        while (*p->at && *p->at != 'E')
            if (!read_type(p))
                return 0;
        if (!take(p, 'E'))
            return 0;
    } else if (p->at[1] == 't') {
        p->at += 2;
    } else {
        return 0;
    }
    return read_sequence(p, 10) >= 0 ? new_class(p, scope, "{}", 2) : 0;
}

/* Operators, constructors and destructors have names of two letters, lower or upper case. A conversion has a type. */
static unsigned read_operator(struct parser *p, unsigned scope)
{
    char first = p->at[0], second = first ? p->at[1] : 0;
    if (first == 'C' || first == 'D') {
        if (!is_digit(second))
            return 0;
    } else if (first < 'a' || first > 'z' || !second || (first == 'c' && second == 'v') ||
               (first == 'l' && second == 'i')) {
        return 0;
    }
    p->at += 2;
    return new_class(p, scope, "()", 2);
}

static unsigned read_unqualified(struct parser *p, unsigned scope)
{
    take(p, 'L'); /* internal linkage */
    if (is_digit(*p->at))
        return read_source_name(p, scope);
    return *p->at == 'U' ? read_unnamed(p, scope) : read_operator(p, scope);
}

/* A function inside another's name has template arguments of its own. */
static int read_inner(struct parser *p)
{
    uint16_t saved[ARGUMENTS];
    unsigned kept = p->arguments;
    memcpy(saved, p->argument, sizeof saved);
    int count = read_encoding(p, NULL, 0);
    memcpy(p->argument, saved, sizeof saved);
    p->arguments = kept;
    return count;
}

static int skip_value(struct parser *p)
{
    while (*p->at && *p->at != 'E')
        p->at++;
    return take(p, 'E');
}

/* L <type> <value> E, L _Z <encoding> E. */
static int read_literal(struct parser *p)
{
    if (!take(p, 'L'))
        return 0;
    if (p->at[0] == '_' && p->at[1] == 'Z') {
        p->at += 2;
        return read_inner(p) >= 0 && take(p, 'E');
    }
    return read_type(p) && skip_value(p);
}

static unsigned read_pack(struct parser *p);

static unsigned read_argument(struct parser *p)
{
    switch (*p->at) {
    case 'L': return read_literal(p) ? new_type(p, OTHER, 0) : 0;
    case 'J': return read_pack(p);
    case 'X':
        /* of expressions, only the address of something */
        p->at++;
        if (p->at[0] == 'a' && p->at[1] == 'd')
            p->at += 2;
        return read_literal(p) && take(p, 'E') ? new_type(p, OTHER, 0) : 0;
    default: return read_type(p);
    }
}

static unsigned read_pack(struct parser *p)
{
    p->at++;
    while (*p->at && *p->at != 'E')
        if (!read_argument(p))
            return 0;
    return take(p, 'E') ? new_type(p, OTHER, 0) : 0;
}

/* I <argument>* E. keep: they are the function's, what T_ means. */
static int read_arguments(struct parser *p, int keep)
{
    uint16_t found[ARGUMENTS];
    unsigned count = 0;
    if (!take(p, 'I') || ++p->depth > DEPTH)
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
    return take(p, 'E');
}

/* Some parts of std have letters of their own; others are numbered. */
static unsigned read_substitution(struct parser *p)
{
    if (!take(p, 'S'))
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

static unsigned read_template_parameter(struct parser *p)
{
    if (!take(p, 'T'))
        return 0;
    int which = read_sequence(p, 10);
    return which >= 0 && (unsigned)which < p->arguments ? p->argument[which] : 0;
}

/* `name<...>`: another type of the same name. */
static unsigned with_arguments(struct parser *p, unsigned name, int keep)
{
    if (!read_arguments(p, keep))
        return 0;
    const char *text = text_of(p, name);
    size_t size = strlen(text);
    char copied[256];
    if (size + 2 > sizeof copied)
        return new_type(p, OTHER, 0);
    memcpy(copied, text, size);
    memcpy(copied + size, "<>", 2);
    return new_class(p, 0, copied, size + 2);
}

/* N [qualifiers] <part>* E. Each part but the last can be referred to later; of a type the caller says so of the last.
 * function: it names one; *templated: its last part has arguments. */
static unsigned read_nested(struct parser *p, int function, int *templated)
{
    unsigned scope = 0;
    if (!take(p, 'N'))
        return 0;
    while (*p->at == 'r' || *p->at == 'V' || *p->at == 'K' || *p->at == 'R' || *p->at == 'O')
        p->at++;
    while (*p->at && *p->at != 'E') {
        int known = *p->at == 'S';
        *templated = *p->at == 'I';
        if (known)
            scope = scope ? 0 : read_substitution(p);
        else if (*templated)
            scope = scope ? with_arguments(p, scope, function) : 0;
        else if (*p->at == 'T' && !scope)
            scope = read_template_parameter(p);
        else
            scope = read_unqualified(p, scope);
        if (!scope || (!known && *p->at != 'E' && !substitutable(p, scope)))
            return 0;
    }
    return take(p, 'E') ? scope : 0;
}

/* Z <encoding> E <name> [discriminator]. */
static unsigned read_local(struct parser *p, int function, int *templated)
{
    unsigned name = 0;
    if (!take(p, 'Z') || read_inner(p) < 0 || !take(p, 'E'))
        return 0;
    if (take(p, 's'))
        name = new_class(p, 0, "\"\"", 2);
    else if (*p->at == 'N')
        name = read_nested(p, function, templated);
    else
        name = read_unqualified(p, 0);
    if (take(p, '_')) {
        int longer = take(p, '_');
        while (is_digit(*p->at))
            p->at++;
        if (longer && !take(p, '_'))
            return 0;
    }
    return name;
}

/* The name of a class, or of a function. */
static unsigned read_name(struct parser *p, int function, int *templated)
{
    unsigned name;
    *templated = 0;
    if (*p->at == 'N')
        return read_nested(p, function, templated);
    if (*p->at == 'Z')
        return read_local(p, function, templated);
    int known = *p->at == 'S' && p->at[1] != 't';
    if (*p->at == 'S') {
        name = read_substitution(p);
        if (name && !known)
            name = read_unqualified(p, name);
    } else {
        name = read_unqualified(p, 0);
    }
    if (!name || *p->at != 'I')
        return name;
    if (!known && !substitutable(p, name))
        return 0;
    *templated = 1;
    return with_arguments(p, name, function);
}

static int is_plain(const char *name)
{
    static const char *const scalars[] = {"char", "uchar", "short",    "ushort",    "int",   "uint",
                                          "long", "ulong", "longlong", "ulonglong", "float", "double"};
    static const char *const others[] = {"__half",
                                         "__half2",
                                         "__nv_bfloat16",
                                         "__nv_bfloat162",
                                         "__nv_fp8_e4m3",
                                         "__nv_fp8_e5m2",
                                         "c10::Half",
                                         "c10::BFloat16",
                                         "c10::complex<>",
                                         "thrust::complex<>",
                                         "cuda::std::complex<>",
                                         "std::complex<>",
                                         "dim3",
                                         "curandStateXORWOW",
                                         "curandStatePhilox4_32_10",
                                         "curandStateMRG32k3a"};
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
        size_t size = strlen(scalars[i]);
        if (strncmp(name, scalars[i], size) == 0 && name[size] >= '1' && name[size] <= '4' && !name[size + 1])
            return 1;
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strcmp(name, others[i]) == 0)
            return 1;
    }
    return 0;
}

static unsigned read_class(struct parser *p)
{
    int templated, bare_substitution = 0;
    if (*p->at == 'S' && p->at[1] != 't') {
        const char *before = p->at;
        unsigned name = read_substitution(p);
        bare_substitution = *p->at != 'I';
        if (!name || bare_substitution)
            return name;
        p->at = before;
    }
    unsigned name = read_name(p, 0, &templated);
    if (name && p->type[name].kind == CLASS)
        p->type[name].plain = (uint8_t)is_plain(text_of(p, name));
    return substitutable(p, name) ? name : 0;
}

/* F [Y] <types> E. */
static unsigned read_function_type(struct parser *p)
{
    p->at++;
    take(p, 'Y');
    while (*p->at && *p->at != 'E')
        if (!read_type(p))
            return 0;
    unsigned made = take(p, 'E') ? new_type(p, FUNCTION, 0) : 0;
    return substitutable(p, made) ? made : 0;
}

/* A [number] _ <element>: as far as pointers into it go, its element. */
static unsigned read_array(struct parser *p)
{
    p->at++;
    while (is_digit(*p->at))
        p->at++;
    unsigned element = take(p, '_') ? read_type(p) : 0;
    return substitutable(p, element) ? element : 0;
}

/* cv-qualifiers together make one type more; only const matters. */
static unsigned read_qualified(struct parser *p)
{
    int constant = 0;
    while (*p->at == 'r' || *p->at == 'V' || *p->at == 'K')
        constant |= *p->at++ == 'K';
    unsigned inner = read_type(p);
    unsigned made = inner ? new_type(p, constant ? CONST : p->type[inner].kind, inner) : 0;
    if (made && !constant)
        p->type[made] = p->type[inner];
    return substitutable(p, made) ? made : 0;
}

static unsigned read_pointer(struct parser *p)
{
    p->at++;
    unsigned inner = read_type(p);
    unsigned made = inner ? new_type(p, POINTER, inner) : 0;
    return substitutable(p, made) ? made : 0;
}

/* D and one letter are builtin types, or things that need more than this. */
static unsigned read_d(struct parser *p)
{
    if (p->at[1] && strchr("defhisuacn", p->at[1])) {
        p->at += 2;
        return new_type(p, BUILTIN, 0);
    }
    if (p->at[1] != 'F')
        return 0;
    p->at += 2;
    while (is_digit(*p->at))
        p->at++;
    return take(p, '_') || take(p, 'b') || take(p, 'x') ? new_type(p, BUILTIN, 0) : 0;
}

static unsigned read_parameter_type(struct parser *p)
{
    unsigned type = read_template_parameter(p);
    if (!substitutable(p, type))
        return 0;
    return type;
}

static unsigned read_any_type(struct parser *p)
{
    char c = *p->at;
    if (c && strchr("vwbcahstijlmxynofdegz", c)) {
        p->at++;
        return new_type(p, BUILTIN, 0);
    }
    switch (c) {
    case 'r':
    case 'V':
    case 'K': return read_qualified(p);
    case 'P':
    case 'R':
    case 'O': return read_pointer(p);
    case 'F': return read_function_type(p);
    case 'A': return read_array(p);
    case 'D': return read_d(p);
    case 'T': return p->at[1] && strchr("sue", p->at[1]) ? 0 : read_parameter_type(p);
    default: return c == 'N' || c == 'Z' || c == 'S' || is_digit(c) ? read_class(p) : 0;
    }
}

static unsigned read_type(struct parser *p)
{
    if (++p->depth > DEPTH)
        return 0;
    unsigned type = read_any_type(p);
    p->depth--;
    return type;
}

static uint8_t flags_of(const struct parser *p, unsigned type)
{
    const struct type *top = &p->type[type];
    if (top->kind == CONST)
        top = &p->type[top->inner];
    if (top->kind == OTHER || (top->kind == CLASS && !top->plain))
        return SIGNATURE_UNKNOWN;
    if (top->kind != POINTER)
        return 0;
    uint8_t flags = 0;
    const struct type *to = &p->type[top->inner];
    while (to->kind == CONST) {
        flags |= SIGNATURE_READS;
        to = &p->type[to->inner];
    }
    if (to->kind == POINTER || to->kind == OTHER || (to->kind == CLASS && !to->plain))
        flags |= SIGNATURE_POINTS;
    return flags;
}

static int at_end(const struct parser *p, int outermost)
{
    return outermost ? !*p->at || *p->at == '.' : !*p->at || *p->at == 'E';
}

/* A function's name and its parameters; their number. flags NULL: nobody wants to know. */
static int read_encoding(struct parser *p, uint8_t *flags, int outermost)
{
    int templated, count = 0;
    if (++p->depth > DEPTH || !read_name(p, 1, &templated))
        return -1;
    if (templated && !at_end(p, outermost) && !read_type(p)) /* what it returns */
        return -1;
    if (*p->at == 'v' && (p->at++, at_end(p, outermost)))
        return p->depth--, 0;
    while (!at_end(p, outermost)) {
        unsigned type = read_type(p);
        if (!type || count == SIGNATURE_MOST)
            return -1;
        if (flags)
            flags[count] = flags_of(p, type);
        count++;
    }
    p->depth--;
    return count;
}

int signature_of(const char *name, uint8_t flags[SIGNATURE_MOST])
{
    if (!name || strncmp(name, "_Z", 2) != 0)
        return -1;
    struct parser *parser = memory_pages(sizeof *parser);
    if (!parser)
        return -1;
    parser->at = name + 2;
    int count = read_encoding(parser, flags, 1);
    memory_pages_free(parser, sizeof *parser);
    return count;
}

/* Those of thrust and of std, which run from an end downwards. */
int signature_has_ends(const char *name)
{
    return name && strstr(name, "reverse_iterator") != NULL;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * What is kept while a mangled name is read: the place, the types so far, and what can be referred to again.
 */
#ifndef PTDS_MANGLED_PARSER_H
#define PTDS_MANGLED_PARSER_H

#include <stdint.h>

enum mangled_kind { BUILTIN, CLASS, POINTER, CONST, FUNCTION, OTHER };

struct mangled_types_read {
    uint8_t kind;   /* enum mangled_kind */
    uint8_t plain;  /* a class known to hold no pointers */
    uint16_t inner; /* of POINTER and CONST the type inside; of CLASS, where its qualified name begins in `text` */
};

enum { TYPES = 1024, SUBSTITUTIONS = 512, ARGUMENTS = 64, TEXT = 16384, DEPTH = 40 };

/* Types are numbered from 1; 0 is a type that could not be read. */
struct mangled_parser {
    const char *at;
    unsigned depth, types, substitutions, arguments, text_used;
    struct mangled_types_read type[TYPES];
    uint16_t substitution[SUBSTITUTIONS];
    uint16_t argument[ARGUMENTS]; /* template arguments of the function */
    char text[TEXT];
};

/* The number of a new type; 0: there is no room. */
static inline unsigned mangled_parser_add(struct mangled_parser *p, enum mangled_kind kind, unsigned inner)
{
    if (p->types + 1 >= TYPES)
        return 0;
    p->type[++p->types] = (struct mangled_types_read){(uint8_t)kind, 0, (uint16_t)inner};
    return p->types;
}

/* The name can refer to this type again from here on. 0: the type could not be read, or there is no room. */
static inline int mangled_parser_substitutes(struct mangled_parser *p, unsigned type)
{
    if (!type || p->substitutions == SUBSTITUTIONS)
        return 0;
    p->substitution[p->substitutions++] = (uint16_t)type;
    return 1;
}

/* Goes past the character if it comes next. */
static inline int mangled_parser_take(struct mangled_parser *p, char wanted)
{
    if (*p->at != wanted)
        return 0;
    p->at++;
    return 1;
}

static inline int mangled_parser_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The qualified name of a class; "?" of any other type. */
static inline const char *mangled_parser_text(const struct mangled_parser *p, unsigned type)
{
    return p->type[type].kind == CLASS ? p->text + p->type[type].inner : "?";
}

#endif

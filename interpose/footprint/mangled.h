/* SPDX-License-Identifier: Apache-2.0
 *
 * The two halves of reading a mangled name, which need each other: names (mangled.c) and types (signature.c).
 */
#ifndef PTDS_MANGLED_H
#define PTDS_MANGLED_H

#include <stdint.h>

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

static inline unsigned new_type(struct parser *p, enum kind kind, unsigned inner)
{
    if (p->types + 1 >= TYPES)
        return 0;
    p->type[++p->types] = (struct type){(uint8_t)kind, 0, (uint16_t)inner};
    return p->types;
}

static inline int substitutable(struct parser *p, unsigned type)
{
    if (!type || p->substitutions == SUBSTITUTIONS)
        return 0;
    p->substitution[p->substitutions++] = (uint16_t)type;
    return 1;
}

static inline int take(struct parser *p, char wanted)
{
    if (*p->at != wanted)
        return 0;
    p->at++;
    return 1;
}

static inline int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline const char *text_of(const struct parser *p, unsigned type)
{
    return p->type[type].kind == CLASS ? p->text + p->type[type].inner : "?";
}

/* Each reads one thing; 0, or -1 for the number of an encoding's parameters, if it is not understood. */
unsigned mangled_type(struct parser *p);
unsigned mangled_substitution(struct parser *p);
unsigned mangled_template_parameter(struct parser *p);

/* The name of a class, or of a function; *templated: its last part has arguments. */
unsigned mangled_name(struct parser *p, int function, int *templated);

/* A function's name and its parameters; their number. flags NULL: nobody wants to know. */
int mangled_encoding(struct parser *p, uint8_t *flags, int outermost);

#endif

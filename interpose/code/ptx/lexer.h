/* SPDX-License-Identifier: Apache-2.0
 *
 * Words of PTX text, one after the other.
 */
#ifndef PTDS_CODE_PTX_LEXER_H
#define PTDS_CODE_PTX_LEXER_H

#include <stddef.h>
#include <stdint.h>

/* A part of the text. */
struct span {
    const char *at;
    uint32_t size;
};

/* WORD: with all that hangs on it by dots and double colons, as "ld.shared::cta.u32", "%tid.x" or ".visible".
 * SIGN: one character of its own. REAL: a floating-point number that is not written by its
 * bits; its value matters to nobody. */
enum lexeme { LEXEME_END, LEXEME_WORD, LEXEME_NUMBER, LEXEME_REAL, LEXEME_STRING, LEXEME_SIGN };

/* What stands at the moment, and where the text goes on. Copy one to come back later. */
struct lexer {
    const char *next, *end;
    uint32_t line;         /* of what stands */
    uint8_t without_lines; /* lines are not counted in what is passed over */
    enum lexeme kind;
    struct span text;
    uint64_t number;
};

/* The text ends with its size, or before a byte 0. The first word stands then. */
void lexer_begin(struct lexer *lexer, const char *text, size_t size);
void lexer_next(struct lexer *lexer);

int lexer_span_is(struct span span, const char *word);
int lexer_span_begins(struct span span, const char *word);

int lexer_is(const struct lexer *lexer, char sign);
int lexer_is_word(const struct lexer *lexer, const char *word);

/* 1 and past it, if that sign stands. */
int lexer_take(struct lexer *lexer, char sign);

/* An opening brace, bracket or parenthesis stands: past the one that closes it, without a look at what lies between. */
void lexer_skip_closed(struct lexer *lexer);

/* How many lines end between the two. */
uint32_t lexer_lines(const char *from, const char *to);

/* To the first word of the next line. */
void lexer_skip_line(struct lexer *lexer);

/* Past the next semicolon, with all braces before it; a closing brace or the text's end stops it before. */
void lexer_skip_statement(struct lexer *lexer);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Cuts PTX text into words. Called by everything that reads PTX. The text is untrusted: must never look at a byte behind
 * its end, and takes time in proportion to what it passes.
 */
#include "interpose/code/ptx/lexer.h"

#include <string.h>

enum { IN_WORD = 1, BEGINS_WORD = 2, DIGIT = 4, BLANK = 8 };

static const uint8_t class_of[256] = {
    ['a' ... 'z'] = IN_WORD | BEGINS_WORD,
    ['A' ... 'Z'] = IN_WORD | BEGINS_WORD,
    ['_'] = IN_WORD | BEGINS_WORD,
    ['$'] = IN_WORD | BEGINS_WORD,
    ['0' ... '9'] = IN_WORD | DIGIT,
    [' '] = BLANK,
    ['\t'] = BLANK,
    ['\r'] = BLANK,
    ['\n'] = BLANK,
    ['\f'] = BLANK,
    ['\v'] = BLANK,
};

static int is_class(const struct lexer *lexer, const char *at, int class)
{
    return at < lexer->end && (class_of[(uint8_t)*at] & class);
}

static const char *behind_line(const struct lexer *lexer, const char *at)
{
    const char *line = memchr(at, '\n', (size_t)(lexer->end - at));
    return line ? line : lexer->end;
}

/* at: a slash. Returns it if no comment begins there. */
static const char *behind_comment(struct lexer *lexer, const char *at)
{
    if (at + 1 == lexer->end || (at[1] != '/' && at[1] != '*'))
        return at;
    if (at[1] == '/')
        return behind_line(lexer, at);
    for (at += 2; at < lexer->end; at++) {
        if (*at == '*' && at + 1 < lexer->end && at[1] == '/')
            return at + 2;
        lexer->line += *at == '\n';
    }
    return at;
}

/* at: a quotation mark. */
static const char *behind_string(struct lexer *lexer, const char *at)
{
    for (at++; at < lexer->end && *at != '"' && *at != '\n'; at++)
        at += *at == '\\' && at + 1 < lexer->end && at[1] != '\n';
    return at < lexer->end && *at == '"' ? at + 1 : at;
}

static const char *behind_blanks(struct lexer *lexer, const char *at)
{
    while (at < lexer->end) {
        if (class_of[(uint8_t)*at] & BLANK) {
            lexer->line += *at++ == '\n';
            continue;
        }
        const char *behind = *at == '/' ? behind_comment(lexer, at) : at;
        if (behind == at)
            break;
        at = behind;
    }
    return at;
}

/* at: where a word begins. */
static const char *behind_word(const struct lexer *lexer, const char *at)
{
    for (at++;;) {
        while (is_class(lexer, at, IN_WORD))
            at++;
        if (at < lexer->end && *at == '.' && is_class(lexer, at + 1, IN_WORD))
            at++;
        else if (at + 1 < lexer->end && at[0] == ':' && at[1] == ':' && is_class(lexer, at + 2, IN_WORD))
            at += 2;
        else
            return at;
    }
}

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

static void read_number(struct lexer *lexer, const char *at, const char *end)
{
    int base = 10;
    lexer->kind = LEXEME_NUMBER;
    lexer->number = 0;
    if (*at == '0' && end - at > 1) {
        char sign = at[1] | 0x20;
        base = sign == 'x' || sign == 'f' || sign == 'd' ? 16 : sign == 'b' ? 2 : 8; /* 0f3F800000: a number's bits */
        at += base == 8 ? 1 : 2;
    }
    for (; at < end && digit_value(*at) < base; at++)
        lexer->number = lexer->number * (unsigned)base + (unsigned)digit_value(*at);
    if (at < end && *at != 'U' && *at != 'u')
        lexer->kind = LEXEME_REAL;
}

/* at: a digit. Floating-point numbers may have a dot and an exponent with a sign. */
static const char *behind_number(struct lexer *lexer, const char *at)
{
    const char *begin = at;
    int is_hex = at + 1 < lexer->end && at[0] == '0' && (at[1] | 0x20) == 'x';
    while (is_class(lexer, at, IN_WORD) || (at < lexer->end && *at == '.')) {
        int exponent = !is_hex && (*at | 0x20) == 'e';
        at++;
        if (exponent && at < lexer->end && (*at == '+' || *at == '-') && !(begin + 1 < at && (begin[1] | 0x20) == 'f') &&
            !(begin + 1 < at && (begin[1] | 0x20) == 'd'))
            at++;
    }
    read_number(lexer, begin, at);
    return at;
}

void lexer_next(struct lexer *lexer)
{
    const char *at = behind_blanks(lexer, lexer->next), *behind = at;
    if (at == lexer->end) {
        lexer->kind = LEXEME_END;
    } else if (is_class(lexer, at, BEGINS_WORD) || (*at == '%' && is_class(lexer, at + 1, IN_WORD)) ||
               (*at == '.' && is_class(lexer, at + 1, IN_WORD))) {
        lexer->kind = LEXEME_WORD;
        behind = behind_word(lexer, at);
    } else if (class_of[(uint8_t)*at] & DIGIT) {
        behind = behind_number(lexer, at);
    } else if (*at == '"') {
        lexer->kind = LEXEME_STRING;
        behind = behind_string(lexer, at);
    } else {
        lexer->kind = LEXEME_SIGN;
        behind = at + 1;
    }
    lexer->text = (struct span){at, (uint32_t)(behind - at)};
    lexer->next = behind;
}

void lexer_begin(struct lexer *lexer, const char *text, size_t size)
{
    if (size > UINT32_MAX)
        size = UINT32_MAX;
    const char *zero = size ? memchr(text, 0, size) : NULL;
    *lexer = (struct lexer){.next = text, .end = zero ? zero : text + size, .line = 1};
    lexer_next(lexer);
}

int lexer_span_is(struct span span, const char *word)
{
    size_t size = strlen(word);
    return span.size == size && memcmp(span.at, word, size) == 0;
}

int lexer_span_begins(struct span span, const char *word)
{
    size_t size = strlen(word);
    return span.size >= size && memcmp(span.at, word, size) == 0;
}

int lexer_is(const struct lexer *lexer, char sign)
{
    return lexer->kind == LEXEME_SIGN && *lexer->text.at == sign;
}

int lexer_is_word(const struct lexer *lexer, const char *word)
{
    return lexer->kind == LEXEME_WORD && lexer_span_is(lexer->text, word);
}

int lexer_take(struct lexer *lexer, char sign)
{
    if (!lexer_is(lexer, sign))
        return 0;
    lexer_next(lexer);
    return 1;
}

uint32_t lexer_lines(const char *from, const char *to)
{
    uint32_t lines = 0;
    while (from < to && (from = memchr(from, '\n', (size_t)(to - from)))) {
        lines++;
        from++;
    }
    return lines;
}

/* Sixteen bytes at once, as far as none of them is a sign that matters: most of a module is passed over. */
typedef uint8_t bytes16 __attribute__((vector_size(16)));

static const char *behind_plain(const char *at, const char *end, char open, char close)
{
    for (; end - at >= 16; at += 16) {
        bytes16 all;
        uint64_t found[2];
        memcpy(&all, at, sizeof all);
        bytes16 signs = (bytes16)((all == (uint8_t)open) | (all == (uint8_t)close) | (all == '/') | (all == '"'));
        memcpy(found, &signs, sizeof found);
        if (found[0] | found[1])
            break;
    }
    while (at < end && *at != open && *at != close && *at != '/' && *at != '"')
        at++;
    return at;
}

void lexer_skip_closed(struct lexer *lexer)
{
    char open = *lexer->text.at, close = open == '{' ? '}' : open == '[' ? ']' : ')';
    const char *at = lexer->next, *end = lexer->end;
    uint32_t line = lexer->line;
    for (uint32_t depth = 1; depth && (at = behind_plain(at, end, open, close)) < end;) {
        const char *behind = *at == '/' ? behind_comment(lexer, at) : *at == '"' ? behind_string(lexer, at) : at;
        depth += *at == open;
        depth -= *at == close;
        at = behind == at ? at + 1 : behind;
    }
    lexer->line = line + (lexer->without_lines ? 0 : lexer_lines(lexer->next, at));
    lexer->next = at;
    lexer_next(lexer);
}

void lexer_skip_line(struct lexer *lexer)
{
    lexer->next = behind_line(lexer, lexer->text.at);
    lexer_next(lexer);
}

void lexer_skip_statement(struct lexer *lexer)
{
    while (lexer->kind != LEXEME_END && !lexer_is(lexer, '}')) {
        if (lexer_take(lexer, ';'))
            return;
        if (lexer_is(lexer, '{'))
            lexer_skip_closed(lexer);
        else
            lexer_next(lexer);
    }
}

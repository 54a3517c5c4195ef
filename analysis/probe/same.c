/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares outputs line by line and word by word. Called by compare.c. Must not read files, and must not leave out anything
 * but numbers that were seen to vary.
 */
#include "analysis/probe/same.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "analysis/base/text.h"

/* More words than this in one line are not told apart. */
enum { TOKEN_BITS = 20 };

/* A line while it is gone through. */
struct cursor {
    const char *at, *end;
};

struct token {
    struct bytes space; /* before it */
    struct bytes text;  /* empty: the line ends */
};

static bool of_word(char c)
{
    unsigned char byte = (unsigned char)c;
    return isalnum(byte) || byte >= 0x80 || c == '.' || c == '_' || c == '+' || c == '-';
}

static bool of_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* A word, or any other single byte. */
static struct token next_token(struct cursor *line)
{
    struct token token = {.space.at = line->at};
    while (line->at < line->end && of_space(*line->at))
        line->at++;
    token.space.size = (size_t)(line->at - token.space.at);
    token.text.at = line->at;
    while (line->at < line->end && of_word(*line->at))
        line->at++;
    if (line->at == token.text.at && line->at < line->end)
        line->at++;
    token.text.size = (size_t)(line->at - token.text.at);
    return token;
}

static bool equal(struct bytes a, struct bytes b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.at, b.at, a.size) == 0);
}

static bool is_odd(struct bytes text)
{
    size_t sign = text.size != 0 && (text.at[0] == '-' || text.at[0] == '+');
    return text.size - sign >= 3 &&
           (strncasecmp(text.at + sign, "nan", 3) == 0 || strncasecmp(text.at + sign, "inf", 3) == 0);
}

static bool is_number(struct bytes text)
{
    for (size_t i = 0; i < text.size; i++)
        if (isdigit((unsigned char)text.at[i]))
            return true;
    return is_odd(text);
}

static uint64_t key_of(size_t line, size_t token)
{
    return (uint64_t)line << TOKEN_BITS | token;
}

static void mask(struct learnt *learnt, size_t line, size_t token, bool odd, struct bytes whole)
{
    uint32_t was;
    uint64_t key = key_of(line, token);
    bool known = id_map_get(&learnt->masks, key, &was);
    if (!id_map_put(&learnt->masks, key, odd || (known && was != 0)))
        learnt->out_of_memory = true;
    learnt->masked += !known;
    if (learnt->first_masked != 0 && line >= learnt->first_masked)
        return;
    learnt->first_masked = line;
    text_clean(learnt->first_text, sizeof learnt->first_text, whole.at, whole.size);
}

/* Whether the other number may stand here. No result becomes "nan" unnoticed where no bare run had that. */
static bool is_left_out(const struct learnt *learnt, size_t line, size_t token, struct bytes other)
{
    uint32_t odd;
    return id_map_get(&learnt->masks, key_of(line, token), &odd) && is_number(other) && (odd != 0 || !is_odd(other));
}

/* Two lines, and whether they are gone through to learn: numbers that are not equal are left out from then on. */
struct pair {
    struct learnt *learnt;
    bool learning;
    size_t line;
    struct bytes bare, other;
};

/* Two words in the same place. */
static bool words_agree(struct pair *pair, size_t at, struct bytes a, struct bytes b, bool *left_out)
{
    uint32_t odd;
    bool same = equal(a, b);
    if (pair->learning && !same && is_number(a) && is_number(b) && at < (1u << TOKEN_BITS))
        mask(pair->learnt, pair->line, at, is_odd(a) || is_odd(b), pair->bare);
    *left_out = pair->learning ? id_map_get(&pair->learnt->masks, key_of(pair->line, at), &odd)
                               : is_left_out(pair->learnt, pair->line, at, b);
    return same || *left_out;
}

/* Blanks beside a number that is left out may be as many as its width asks for. */
static enum varies take_lines(struct pair *pair)
{
    struct cursor one = {pair->bare.at, pair->bare.at + pair->bare.size};
    struct cursor two = {pair->other.at, pair->other.at + pair->other.size};
    bool before = false, now = false;
    for (size_t at = 0;; at++, before = now) {
        struct token first = next_token(&one), second = next_token(&two);
        bool ends = first.text.size == 0;
        if (ends != (second.text.size == 0))
            return VARIES_TOKENS;
        now = false;
        if (!ends && !words_agree(pair, at, first.text, second.text, &now))
            return VARIES_WORDS;
        if (!equal(first.space, second.space) && !before && !now)
            return VARIES_WORDS;
        if (ends)
            return VARIES_NOT;
    }
}

/* Takes the next line off; false: there is none. */
static bool next_line(struct bytes *text, struct bytes *line)
{
    if (text->size == 0)
        return false;
    const char *end = memchr(text->at, '\n', text->size);
    size_t size = end != NULL ? (size_t)(end - text->at) : text->size;
    size_t taken = end != NULL ? size + 1 : size;
    *line = (struct bytes){text->at, size};
    text->at += taken;
    text->size -= taken;
    return true;
}

static bool is_text(struct bytes text)
{
    return text.size == 0 || memchr(text.at, 0, text.size) == NULL;
}

static size_t count_lines(struct bytes text)
{
    struct bytes line;
    size_t count = 0;
    while (next_line(&text, &line))
        count++;
    return count;
}

static bool ends_in_newline(struct bytes text)
{
    return text.size != 0 && text.at[text.size - 1] == '\n';
}

static void give_up(struct learnt *learnt, enum varies varies, size_t line)
{
    learnt->varies = varies;
    learnt->line = line;
}

static void learn_from(struct learnt *learnt, struct bytes first, struct bytes other)
{
    struct bytes a, b;
    if (!is_text(first) || !is_text(other)) {
        give_up(learnt, VARIES_BYTES, 0);
        return;
    }
    if (count_lines(first) != count_lines(other) || ends_in_newline(first) != ends_in_newline(other)) {
        give_up(learnt, VARIES_LINES, 0);
        return;
    }
    for (size_t line = 1; next_line(&first, &a) && next_line(&other, &b); line++) {
        struct pair pair = {learnt, true, line, a, b};
        enum varies varies = equal(a, b) ? VARIES_NOT : take_lines(&pair);
        if (varies != VARIES_NOT) {
            give_up(learnt, varies, line);
            return;
        }
    }
}

void learn(struct learnt *learnt, const struct bytes *texts, size_t count)
{
    *learnt = (struct learnt){.texts = (unsigned)count};
    for (size_t i = 1; i < count && learnt->varies == VARIES_NOT; i++)
        if (!equal(texts[0], texts[i]))
            learn_from(learnt, texts[0], texts[i]);
}

void learnt_free(struct learnt *learnt)
{
    id_map_free(&learnt->masks);
    *learnt = (struct learnt){0};
}

static struct difference at_line(size_t line, const struct bytes *bare, const struct bytes *other)
{
    struct difference out = {.differs = true, .line = line, .bare_ends = bare == NULL, .other_ends = other == NULL};
    if (bare != NULL)
        text_clean(out.bare, sizeof out.bare, bare->at, bare->size);
    if (other != NULL)
        text_clean(out.other, sizeof out.other, other->at, other->size);
    return out;
}

static struct difference at_byte(struct bytes bare, struct bytes other)
{
    size_t at = 0;
    while (at < bare.size && at < other.size && bare.at[at] == other.at[at])
        at++;
    return (struct difference){.differs = true, .offset = at, .bare_ends = at == bare.size, .other_ends = at == other.size};
}

struct difference differ(const struct learnt *learnt, struct bytes bare, struct bytes other)
{
    struct pair pair = {.learnt = (struct learnt *)learnt}; /* which stays as it is: nothing is learnt */
    struct difference none = {0};
    struct bytes a = {0}, b = {0};
    bool bare_newline = ends_in_newline(bare), other_newline = ends_in_newline(other);
    if (equal(bare, other))
        return none;
    if (!is_text(bare) || !is_text(other))
        return at_byte(bare, other);
    for (size_t line = 1;; line++) {
        bool one = next_line(&bare, &a), two = next_line(&other, &b);
        if (!one && !two)
            break;
        if (one != two)
            return at_line(line, one ? &a : NULL, two ? &b : NULL);
        pair.line = line;
        pair.bare = a;
        pair.other = b;
        if (!equal(a, b) && take_lines(&pair) != VARIES_NOT)
            return at_line(line, &a, &b);
    }
    return bare_newline == other_newline ? none : at_line(pair.line, &a, &b);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares outputs line by line and word by word. Called by compare.c. Must not read files, and must not leave out anything
 * but numbers that were seen to vary.
 */
#include "analysis/probe/same.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
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

/* "12.5", "-1e-3", "12ms"; not "0x12", "12-13", "42f8820c". */
static bool plain_number(struct bytes text, double *value)
{
    enum { ROOM = 40, UNIT = 4 };
    char copy[ROOM], *end = copy;
    if (text.size >= sizeof copy || (text.size > 1 && (text.at[1] == 'x' || text.at[1] == 'X')) || is_odd(text))
        return false;
    memcpy(copy, text.at, text.size);
    copy[text.size] = 0;
    *value = strtod(copy, &end);
    size_t unit = 0;
    while (isalpha((unsigned char)end[unit]))
        unit++;
    return end != copy && end[unit] == 0 && unit <= UNIT;
}

static void widen(struct masked *masked, struct bytes text)
{
    double value;
    masked->odd |= is_odd(text);
    if (!plain_number(text, &value)) {
        masked->plain = false;
        return;
    }
    masked->least = value < masked->least ? value : masked->least;
    masked->most = value > masked->most ? value : masked->most;
}

static struct masked *find_mask(const struct learnt *learnt, size_t line, size_t token)
{
    uint32_t at;
    return id_map_get(&learnt->masks, key_of(line, token), &at) ? &learnt->list.items[at] : NULL;
}

/* Two lines, and whether they are gone through to learn: numbers that are not equal are left out from then on. */
struct pair {
    struct learnt *learnt;
    bool learning;
    size_t line;
    struct bytes bare, other;
    struct difference *found; /* where numbers outside are counted; not while learning */
};

static struct masked *add_mask(struct pair *pair, size_t token)
{
    struct learnt *learnt = pair->learnt;
    if (!TABLE_ADD(&learnt->list) ||
        !id_map_put(&learnt->masks, key_of(pair->line, token), (uint32_t)learnt->list.count - 1)) {
        learnt->out_of_memory = true;
        return NULL;
    }
    *TABLE_LAST(&learnt->list) = (struct masked){.least = HUGE_VAL, .most = -HUGE_VAL, .plain = true};
    if (learnt->first_masked == 0 || pair->line < learnt->first_masked) {
        learnt->first_masked = pair->line;
        text_clean(learnt->first_text, sizeof learnt->first_text, pair->bare.at, pair->bare.size);
    }
    return TABLE_LAST(&learnt->list);
}

/* Leaves a number out where two bare runs differ in it. */
static bool leave_out(struct pair *pair, size_t at, struct bytes a, struct bytes b)
{
    struct masked *masked = find_mask(pair->learnt, pair->line, at);
    bool same = equal(a, b);
    if (same || !is_number(a) || !is_number(b) || at >= (1u << TOKEN_BITS))
        return masked != NULL && same;
    if (masked == NULL && (masked = add_mask(pair, at)) == NULL)
        return false;
    widen(masked, a);
    widen(masked, b);
    return true;
}

/* Few bare runs tell little of a range, so it is taken three times as wide. */
static void look_at_range(struct pair *pair, const struct masked *masked, struct bytes other)
{
    double value, width = masked->most - masked->least;
    if (!masked->plain || !plain_number(other, &value) || (value >= masked->least - width && value <= masked->most + width))
        return;
    if (pair->found->outside++ != 0)
        return;
    pair->found->outside_line = pair->line;
    text_clean(pair->found->outside_text, sizeof pair->found->outside_text, pair->other.at, pair->other.size);
}

/* Whether a number that is left out stands here. None becomes "nan" unnoticed where no bare run had that. */
static bool is_left_out(struct pair *pair, size_t at, struct bytes other)
{
    const struct masked *masked = find_mask(pair->learnt, pair->line, at);
    if (masked == NULL || !is_number(other) || (is_odd(other) && !masked->odd))
        return false;
    look_at_range(pair, masked, other);
    return true;
}

/* Two words in the same place. */
static bool words_agree(struct pair *pair, size_t at, struct bytes a, struct bytes b, bool *left_out)
{
    *left_out = pair->learning ? leave_out(pair, at, a, b) : is_left_out(pair, at, b);
    return equal(a, b) || *left_out;
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
        struct pair pair = {learnt, true, line, a, b, NULL};
        enum varies varies = equal(a, b) ? VARIES_NOT : take_lines(&pair);
        if (varies != VARIES_NOT) {
            give_up(learnt, varies, line);
            return;
        }
    }
}

void learn(struct learnt *learnt, const struct bytes *texts, size_t count)
{
    *learnt = (struct learnt){.texts = (unsigned)count, .empty = true};
    for (size_t i = 0; i < count; i++)
        learnt->empty &= texts[i].size == 0;
    for (size_t i = 1; i < count && learnt->varies == VARIES_NOT; i++)
        if (!equal(texts[0], texts[i]))
            learn_from(learnt, texts[0], texts[i]);
}

void learnt_free(struct learnt *learnt)
{
    id_map_free(&learnt->masks);
    free(learnt->list.items);
    *learnt = (struct learnt){0};
}

void learn_but_first(struct learnt *learnt, const struct bytes *texts, size_t count)
{
    struct learnt later = {0};
    learn(learnt, texts, count);
    if (learnt->varies == VARIES_NOT || count < 3)
        return;
    learn(&later, texts + 1, count - 1);
    if (later.varies != VARIES_NOT) {
        learnt_free(&later);
        return;
    }
    later.first_apart = true;
    later.first_varies = learnt->varies;
    later.first_line = learnt->line;
    later.out_of_memory |= learnt->out_of_memory;
    learnt_free(learnt);
    *learnt = later;
}

bool alike(struct bytes one, struct bytes other)
{
    struct learnt learnt = {0};
    const struct bytes texts[] = {one, other};
    learn(&learnt, texts, 2);
    bool same = learnt.varies == VARIES_NOT;
    learnt_free(&learnt);
    return same;
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
    struct difference same = {0};
    struct pair pair = {.learnt = (struct learnt *)learnt, .found = &same}; /* nothing is learnt: it stays as it is */
    struct bytes *a = &pair.bare, *b = &pair.other;
    bool bare_newline = ends_in_newline(bare), other_newline = ends_in_newline(other);
    if (equal(bare, other))
        return same;
    if (!is_text(bare) || !is_text(other))
        return at_byte(bare, other);
    for (pair.line = 1;; pair.line++) {
        bool one = next_line(&bare, a), two = next_line(&other, b);
        if (!one && !two)
            break;
        if (one != two)
            return at_line(pair.line, one ? a : NULL, two ? b : NULL);
        if (!equal(*a, *b) && take_lines(&pair) != VARIES_NOT)
            return at_line(pair.line, a, b);
    }
    return bare_newline == other_newline ? same : at_line(pair.line - 1, a, b);
}

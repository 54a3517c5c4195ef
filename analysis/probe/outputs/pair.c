/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares two lines word by word. Called by same.c. Must leave nothing out but numbers that were seen to vary, and times
 * that are said to be such.
 */
#include "analysis/probe/outputs/pair.h"

#include <math.h>

#include "analysis/base/id_map.h"
#include "analysis/base/text.h"
#include "analysis/probe/outputs/quantity.h"

/* More words than this in one line are not told apart. */
enum { TOKEN_BITS = 20 };

static uint64_t key_of(size_t line, size_t token)
{
    return (uint64_t)line << TOKEN_BITS | token;
}

static void raise_range(struct range *range, double value)
{
    range->least = value < range->least ? value : range->least;
    range->most = value > range->most ? value : range->most;
}

static struct masked *find_mask(const struct learnt *learnt, size_t line, size_t token)
{
    uint32_t at;
    return id_map_get(&learnt->masks, key_of(line, token), &at) ? &learnt->list.items[at] : NULL;
}

/* A word of one of the two lines. */
struct spot {
    struct cursor rest; /* what follows it */
    struct token token;
    struct quantity quantity;
};

static struct masked *add_mask(struct pair *pair, size_t token)
{
    struct learnt *learnt = pair->learnt;
    if (!TABLE_ADD(&learnt->list) ||
        !id_map_put(&learnt->masks, key_of(pair->line, token), (uint32_t)learnt->list.count - 1)) {
        learnt->out_of_memory = true;
        return NULL;
    }
    const struct range none = {HUGE_VAL, -HUGE_VAL};
    *TABLE_LAST(&learnt->list) = (struct masked){.bare = none, .unmoved = none, .plain = true};
    if (learnt->first_masked == 0 || pair->line < learnt->first_masked) {
        learnt->first_masked = pair->line;
        text_clean(learnt->first_text, sizeof learnt->first_text, pair->bare.at, pair->bare.size);
    }
    return TABLE_LAST(&learnt->list);
}

static void widen(struct pair *pair, struct masked *masked, const struct quantity *one, const struct quantity *other)
{
    bool bare = pair->purpose == LEARN;
    if (bare) {
        masked->odd |= one->odd || other->odd;
        masked->plain &= quantity_on_one_scale(one, other);
    }
    if (!quantity_on_one_scale(one, other))
        return;
    const double values[] = {one->value, other->value};
    for (unsigned i = 0; i < 2; i++) {
        if (bare)
            raise_range(&masked->bare, values[i]);
        raise_range(&masked->unmoved, values[i]);
    }
}

/* Few runs tell little of a range, so it is taken three times as wide. */
static bool is_far(const struct range *range, double value)
{
    double width = range->most - range->least;
    return value < range->least - width || value > range->most + width;
}

static void note_far(struct pair *pair, const struct masked *masked, const struct quantity *other)
{
    const struct range *range = &masked->unmoved;
    double by = other->value > range->most ? other->value - range->most : range->least - other->value;
    double ns = other->unit == UNIT_TIME ? by - other->place : HUGE_VAL;
    struct difference *found = pair->found;
    if (!is_far(range, other->value) || ns <= found->far_ns)
        return;
    found->far_ns = ns;
    found->far_line = pair->line;
    text_clean(found->far_text, sizeof found->far_text, pair->other.at, pair->other.size);
}

static void look_at_range(struct pair *pair, const struct masked *masked, const struct quantity *bare,
                          const struct quantity *other)
{
    struct difference *found = pair->found;
    if (!masked->plain || !quantity_on_one_scale(bare, other) || !is_far(&masked->bare, other->value))
        return;
    note_far(pair, masked, other);
    if (found->outside++ != 0)
        return;
    found->outside_line = pair->line;
    text_clean(found->outside_text, sizeof found->outside_text, pair->other.at, pair->other.size);
}

static bool quantities_equal(const struct spot *one, const struct spot *other)
{
    return token_bytes_equal(one->token.text, other->token.text) &&
           (!quantity_both_timed(&one->quantity, &other->quantity) ||
            token_bytes_equal(one->quantity.unit_text, other->quantity.unit_text));
}

/* Leaves a number out where two bare runs differ in it. */
static enum varies leave_out(struct pair *pair, size_t at, const struct spot *one, const struct spot *other, bool *left_out)
{
    struct masked *masked = find_mask(pair->learnt, pair->line, at);
    const struct quantity *a = &one->quantity, *b = &other->quantity;
    *left_out = masked != NULL;
    if (quantities_equal(one, other))
        return VARIES_NOT;
    if (a->hash || b->hash)
        return VARIES_HASHES;
    if (!a->number || !b->number || at >= (1u << TOKEN_BITS))
        return VARIES_WORDS;
    if (masked == NULL && (masked = add_mask(pair, at)) == NULL)
        return VARIES_WORDS;
    widen(pair, masked, a, b);
    *left_out = true;
    return VARIES_NOT;
}

/* Numbers that do not vary bare against bare, as of a coarse clock, are times all the same where their unit says so. */
static bool is_time(struct pair *pair, const struct spot *one, const struct spot *other)
{
    const struct quantity *a = &one->quantity, *b = &other->quantity;
    if (!a->number || !b->number || a->odd || b->odd || !quantity_both_timed(a, b))
        return false;
    double by = a->value > b->value ? a->value - b->value : b->value - a->value;
    double ns = quantity_on_one_scale(a, b) && a->unit == UNIT_TIME ? by - (a->place > b->place ? a->place : b->place) : 0;
    pair->times = true;
    pair->found->time_ns = ns > pair->found->time_ns ? ns : pair->found->time_ns;
    return true;
}

/* Whether a number that is left out stands here. None becomes "nan" unnoticed where no bare run had that. */
static enum varies hold_against(struct pair *pair, size_t at, const struct spot *one, const struct spot *other,
                                bool *left_out)
{
    struct masked *masked = find_mask(pair->learnt, pair->line, at);
    const struct quantity *a = &one->quantity, *b = &other->quantity;
    *left_out = masked != NULL && b->number && (!b->odd || masked->odd);
    if (*left_out && pair->purpose == RANGE)
        widen(pair, masked, a, b);
    else if (*left_out)
        look_at_range(pair, masked, a, b);
    if (*left_out || quantities_equal(one, other))
        return VARIES_NOT;
    *left_out = is_time(pair, one, other);
    return *left_out ? VARIES_NOT : VARIES_WORDS;
}

static struct spot next_spot(struct cursor *line)
{
    struct spot spot = {.token = token_next(line)};
    spot.rest = *line;
    spot.quantity = quantity_read(spot.token.text, spot.rest);
    return spot;
}

/* Blanks beside a number that is left out may be as many as its width asks for. Its unit of time goes with it; as the two
 * lines may have different ones, words are counted in the bare line. */
enum varies pair_take(struct pair *pair)
{
    struct cursor one = {pair->bare.at, pair->bare.at + pair->bare.size};
    struct cursor two = {pair->other.at, pair->other.at + pair->other.size};
    bool before = false, now = false;
    for (size_t at = 0;; at++, before = now) {
        struct spot first = next_spot(&one), second = next_spot(&two);
        const struct quantity *a = &first.quantity, *b = &second.quantity;
        bool ends = first.token.text.size == 0;
        if (ends != (second.token.text.size == 0))
            return VARIES_TOKENS;
        now = false;
        enum varies varies = ends                     ? VARIES_NOT
                             : pair->purpose == LEARN ? leave_out(pair, at, &first, &second, &now)
                                                      : hold_against(pair, at, &first, &second, &now);
        if (varies != VARIES_NOT)
            return varies;
        if (!token_bytes_equal(first.token.space, second.token.space) && !before && !now)
            return VARIES_WORDS;
        if (ends)
            return VARIES_NOT;
        if (now && quantity_both_timed(a, b)) {
            now = a->unit_tokens == 0 || !token_bytes_equal(a->unit_text, b->unit_text);
            at += a->unit_tokens;
            one = a->after;
            two = b->after;
        }
    }
}

size_t pair_kept(const struct learnt *learnt, size_t number, struct bytes line)
{
    struct cursor rest = {line.at, line.at + line.size};
    size_t count = 0;
    for (size_t at = 0;; at++) {
        struct token token = token_next(&rest);
        if (token.text.size == 0)
            return count;
        count += quantity_is_number(token.text) && find_mask(learnt, number, at) == NULL;
    }
}

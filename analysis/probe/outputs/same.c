/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares outputs line by line. Called by compare_runs.c. Must not read files.
 */
#include "analysis/probe/outputs/same.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/id_map.h"
#include "analysis/base/text.h"
#include "analysis/probe/outputs/pair.h"

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
        struct pair pair = {.learnt = learnt, .purpose = LEARN, .line = line, .bare = a, .other = b};
        enum varies varies = token_bytes_equal(a, b) ? VARIES_NOT : pair_take(&pair);
        if (varies != VARIES_NOT) {
            give_up(learnt, varies, line);
            return;
        }
    }
}

/* Numbers of the first output that are held against others. */
static size_t count_kept(const struct learnt *learnt, struct bytes text)
{
    struct bytes line;
    size_t kept = 0;
    if (!is_text(text))
        return text.size;
    for (size_t number = 1; next_line(&text, &line); number++)
        kept += pair_kept(learnt, number, line);
    return kept;
}

void same_learn(struct learnt *learnt, const struct bytes *texts, size_t count)
{
    *learnt = (struct learnt){.texts = (unsigned)count, .empty = true};
    for (size_t i = 0; i < count; i++)
        learnt->empty &= texts[i].size == 0;
    for (size_t i = 1; i < count && learnt->varies == VARIES_NOT; i++)
        if (!token_bytes_equal(texts[0], texts[i]))
            learn_from(learnt, texts[0], texts[i]);
    if (learnt->list.count != 0)
        learnt->kept = count_kept(learnt, texts[0]);
}

void same_free(struct learnt *learnt)
{
    id_map_free(&learnt->masks);
    free(learnt->list.items);
    *learnt = (struct learnt){0};
}

void same_learn_but_first(struct learnt *learnt, const struct bytes *texts, size_t count)
{
    struct learnt later = {0};
    same_learn(learnt, texts, count);
    if (learnt->varies == VARIES_NOT || count < 3)
        return;
    same_learn(&later, texts + 1, count - 1);
    if (later.varies != VARIES_NOT) {
        same_free(&later);
        return;
    }
    later.first_apart = true;
    later.first_varies = learnt->varies;
    later.first_line = learnt->line;
    later.out_of_memory |= learnt->out_of_memory;
    same_free(learnt);
    *learnt = later;
}

bool same_but_for_numbers(struct bytes one, struct bytes other)
{
    struct learnt learnt = {0};
    const struct bytes texts[] = {one, other};
    same_learn(&learnt, texts, 2);
    bool same = learnt.varies == VARIES_NOT;
    same_free(&learnt);
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

/* Goes through two texts; the first line that differs in more than is left out, else the first that does in times. */
static struct difference go_through(struct pair *pair, struct bytes bare, struct bytes other)
{
    struct difference *found = pair->found, times = {0};
    struct bytes *a = &pair->bare, *b = &pair->other;
    bool bare_newline = ends_in_newline(bare), other_newline = ends_in_newline(other);
    for (pair->line = 1;; pair->line++) {
        bool one = next_line(&bare, a), two = next_line(&other, b);
        if (!one && !two)
            break;
        pair->times = false;
        if (one != two)
            return at_line(pair->line, one ? a : NULL, two ? b : NULL);
        if (!token_bytes_equal(*a, *b) && pair_take(pair) != VARIES_NOT)
            return at_line(pair->line, a, b);
        if (pair->times && !times.differs)
            times = at_line(pair->line, a, b);
    }
    if (bare_newline != other_newline)
        return at_line(pair->line - 1, a, b);
    if (!times.differs)
        return *found;
    times.like_time = true;
    times.time_ns = found->time_ns;
    return times;
}

struct difference same_differ(const struct learnt *learnt, struct bytes bare, struct bytes other)
{
    struct difference same = {0};
    /* Nothing is learnt: it stays as it is. */
    struct pair pair = {.learnt = (struct learnt *)learnt, .purpose = COMPARE, .found = &same};
    if (token_bytes_equal(bare, other))
        return same;
    if (!is_text(bare) || !is_text(other))
        return at_byte(bare, other);
    return go_through(&pair, bare, other);
}

void same_learn_range(struct learnt *learnt, struct bytes first, struct bytes other)
{
    struct difference unused = {0};
    struct pair pair = {.learnt = learnt, .purpose = RANGE, .found = &unused};
    if (learnt->list.count != 0 && is_text(first) && is_text(other))
        go_through(&pair, first, other);
}

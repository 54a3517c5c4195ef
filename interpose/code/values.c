/* SPDX-License-Identifier: Apache-2.0
 *
 * Values and lists, each kept once. Called by the solver for every step, so what was asked lately is remembered. Without
 * memory it goes on with empty lists and says that it failed: the kernel is unknown then.
 */
#include "interpose/code/values.h"

#include <string.h>

#include "interpose/code/arena.h"

/* Of more words that are mixed in only that some were loaded; more sums are anything. */
enum {
    WORDS_MOST = 512,
    MIXED_MOST = 24,
    SUMS_MOST = 64,
    LONG_SUMS_MOST = 8,
    SUM_MOST = 4,
    EITHER_MOST = 12,
    FIRST_ROOM = 1024
};

static uint32_t mix(uint32_t hash, uint32_t word)
{
    hash = (hash ^ word) * 0x9e3779b1u;
    return hash ^ hash >> 15;
}

/* Room for `more` further things of that size behind `count`. 0: there is none. */
static int make_room(struct values *values, void **at, uint32_t count, uint32_t more, uint32_t *room, size_t size)
{
    if (count + more <= *room)
        return 1;
    uint32_t wanted = *room ? *room : FIRST_ROOM;
    while (wanted < count + more)
        wanted *= 2;
    void *now = wanted < 1u << 28 ? arena_get(values->arena, wanted * size) : NULL;
    if (!now) {
        values->failed = 1;
        return 0;
    }
    if (count)
        memcpy(now, *at, count * size);
    *at = now;
    *room = wanted;
    return 1;
}

static uint32_t hash_of(const uint32_t *words, uint32_t count)
{
    uint32_t hash = count;
    for (uint32_t i = 0; i < count; i++)
        hash = mix(hash, words[i]);
    return hash;
}

static void put_list(struct values *values, list id)
{
    const struct list_place *place = &values->place[id];
    uint32_t at = hash_of(values->word + place->begin, place->count) & (values->list_slots - 1);
    while (values->list_hash[at])
        at = (at + 1) & (values->list_slots - 1);
    values->list_hash[at] = id;
}

/* Slots are numbers of things, 0 free, at most half of them taken. */
static int more_slots(struct values *values, uint32_t **hash, uint32_t *slots, uint32_t count)
{
    if (*slots >= 2 * (count + 1))
        return 1;
    uint32_t wanted = *slots ? *slots * 2 : 2 * FIRST_ROOM;
    uint32_t *now = arena_get(values->arena, wanted * sizeof *now);
    if (!now) {
        values->failed = 1;
        return 0;
    }
    *hash = now;
    *slots = wanted;
    return 2;
}

static int has_list(const struct values *values, list id, const uint32_t *sorted, uint32_t count)
{
    const struct list_place *place = &values->place[id];
    return place->count == count && memcmp(values->word + place->begin, sorted, count * sizeof *sorted) == 0;
}

static list add_list(struct values *values, const uint32_t *sorted, uint32_t count)
{
    void *words = values->word, *places = values->place;
    int room = make_room(values, &words, values->words, count, &values->word_room, sizeof *values->word) &&
               make_room(values, &places, values->lists, 1, &values->list_room, sizeof *values->place);
    values->word = words;
    values->place = places;
    if (!room)
        return 0;
    memcpy(values->word + values->words, sorted, count * sizeof *sorted);
    values->place[values->lists] = (struct list_place){values->words, count};
    values->words += count;
    return values->lists++;
}

list values_list(struct values *values, const uint32_t *sorted, uint32_t count)
{
    if (!count)
        return 0;
    uint32_t at = hash_of(sorted, count) & (values->list_slots - 1);
    for (; values->list_hash[at]; at = (at + 1) & (values->list_slots - 1)) {
        if (has_list(values, values->list_hash[at], sorted, count))
            return values->list_hash[at];
    }
    list id = add_list(values, sorted, count);
    int slots = id ? more_slots(values, &values->list_hash, &values->list_slots, values->lists) : 0;
    for (list i = 1; slots == 2 && i < values->lists; i++)
        put_list(values, i);
    if (slots == 1)
        values->list_hash[at] = id;
    return id;
}

int values_has(const struct values *values, list of, uint32_t member)
{
    uint32_t low = 0, high = values_count(values, of);
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (values_at(values, of, middle) < member)
            low = middle + 1;
        else
            high = middle;
    }
    return low < values_count(values, of) && values_at(values, of, low) == member;
}

/* Too many of them: of those that were loaded only that there are some. */
static uint32_t shorten(uint32_t *words, uint32_t count)
{
    uint32_t kept = 0, any = token(TOKEN_ANY_LOADED, 0), was_any = 0;
    for (uint32_t i = 0; i < count; i++) {
        enum token_kind kind = token_kind(words[i]);
        if (kind != TOKEN_LOADED && kind != TOKEN_ANY_LOADED)
            words[kept++] = words[i];
        else if (!was_any) {
            was_any = 1;
            words[kept++] = any;
        }
    }
    return kept; /* sorted, since TOKEN_ANY_LOADED comes right behind TOKEN_LOADED */
}

/* Once they were shortened, none comes back. */
static int has_any(const uint32_t *words, uint32_t count)
{
    uint32_t i = 0;
    while (i < count && token_kind(words[i]) < TOKEN_ANY_LOADED)
        i++;
    return i < count && token_kind(words[i]) == TOKEN_ANY_LOADED;
}

/* How many members both have; into: room for all of them. */
static uint32_t merge(const struct values *values, list a, list b, uint32_t *into)
{
    uint32_t i = 0, j = 0, count = 0, in_a = values_count(values, a), in_b = values_count(values, b);
    while (i < in_a || j < in_b) {
        uint32_t x = i < in_a ? values_at(values, a, i) : UINT32_MAX, y = j < in_b ? values_at(values, b, j) : UINT32_MAX;
        into[count++] = x < y ? x : y;
        i += x <= y;
        j += y <= x;
    }
    return count;
}

/* most: more than so many are shortened. */
static list unite(struct values *values, list a, list b, struct cached *cached, uint32_t most)
{
    if (a == b || !b)
        return a;
    if (!a)
        return b;
    if (a > b) {
        list c = a;
        a = b, b = c;
    }
    cached = &cached[mix(a, b) % LIST_UNIONS];
    if (cached->a == a && cached->b == b)
        return cached->result;
    uint32_t into[2 * WORDS_MOST + 2];
    uint32_t count = merge(values, a, b, into);
    if (count > most || has_any(into, count))
        count = shorten(into, count);
    if (count > WORDS_MOST) /* parameters alone: addresses that are made of the others are not known */
        count = WORDS_MOST;
    list id = values_list(values, into, count);
    *cached = (struct cached){a, b, id};
    return id;
}

list values_union(struct values *values, list a, list b)
{
    return unite(values, a, b, values->both, WORDS_MOST);
}

list values_mix(struct values *values, list a, list b)
{
    return unite(values, a, b, values->mixes, MIXED_MOST);
}

static list anything(struct values *values)
{
    uint32_t word = token(TOKEN_FORGOTTEN, 0);
    list sum = values_list(values, &word, 1);
    return values_list(values, &sum, 1);
}

static int is_other(const struct values *values, list sum)
{
    return values_count(values, sum) == 1 && token_kind(values_at(values, sum, 0)) == TOKEN_OTHER;
}

/* A number beside a pointer's word is nothing to do with it. */
static list add(struct values *values, list a, list b)
{
    return is_other(values, a) ? b : is_other(values, b) ? a : values_union(values, a, b);
}

static uint32_t insert(uint32_t *sorted, uint32_t count, uint32_t member)
{
    uint32_t at = count;
    while (at && sorted[at - 1] >= member) {
        if (sorted[at - 1] == member)
            return count;
        at--;
    }
    memmove(sorted + at + 1, sorted + at, (count - at) * sizeof *sorted);
    sorted[at] = member;
    return count + 1;
}

list values_words(struct values *values, list sums)
{
    list all = 0;
    for (uint32_t i = 0; i < values_count(values, sums); i++)
        all = values_union(values, all, values_at(values, sums, i));
    return all;
}

static int is_anything(const struct values *values, list sums)
{
    return values_count(values, sums) == 1 && values_count(values, values_at(values, sums, 0)) == 1 &&
           token_kind(values_at(values, values_at(values, sums, 0), 0)) == TOKEN_FORGOTTEN;
}

static int is_either(const struct values *values, list sums)
{
    return values_count(values, sums) == 1 && values_has(values, values_at(values, sums, 0), token(TOKEN_EITHER, 0));
}

/* One sum instead of many. 0: it has too many words. Numbers are none of them. */
static list either(struct values *values, list words)
{
    uint32_t sorted[EITHER_MOST + 1], count = 0;
    for (uint32_t i = 0; i < values_count(values, words); i++) {
        uint32_t word = values_at(values, words, i);
        if (token_kind(word) == TOKEN_EITHER || token_kind(word) == TOKEN_OTHER)
            continue;
        if (count == EITHER_MOST || token_kind(word) == TOKEN_FORGOTTEN)
            return 0;
        sorted[count++] = word;
    }
    count = insert(sorted, count, token(TOKEN_EITHER, 0));
    list sum = values_list(values, sorted, count);
    return values_list(values, &sum, 1);
}

static list too_many(struct values *values, list a, list b, list *mixed)
{
    list both = values_union(values, values_words(values, a), values_words(values, b)), one = either(values, both);
    if (one)
        return one;
    *mixed = values_mix(values, *mixed, both);
    return anything(values);
}

/* Whether of either nothing more is told than of which words it may be. */
static int are_merged(const struct values *values, list a, list b)
{
    return is_anything(values, a) || is_anything(values, b) || is_either(values, a) || is_either(values, b);
}

/* Numbers that are added up in loops have ever more sums: no pointer has. */
static int are_too_many(const struct values *values, const uint32_t *sums, uint32_t count)
{
    uint32_t longer = 0;
    for (uint32_t i = 0; i < count; i++)
        longer += values_count(values, sums[i]) > 1;
    return longer > LONG_SUMS_MOST;
}

list values_sums(struct values *values, list a, list b, list *mixed)
{
    uint32_t into[SUMS_MOST + 1], count = 0;
    if (!a || !b)
        return a ? a : b;
    if (are_merged(values, a, b))
        return too_many(values, a, b, mixed);
    for (uint32_t i = 0; i < values_count(values, a); i++) {
        for (uint32_t j = 0; j < values_count(values, b); j++) {
            list sum = add(values, values_at(values, a, i), values_at(values, b, j));
            if (values_count(values, sum) > SUM_MOST || count == SUMS_MOST)
                return too_many(values, a, b, mixed);
            count = insert(into, count, sum);
        }
    }
    return are_too_many(values, into, count) ? too_many(values, a, b, mixed) : values_list(values, into, count);
}

list values_all(struct values *values, value_id id)
{
    struct value value = values->value[id];
    return values_mix(values, value.mixed, values_words(values, value.sums));
}

static uint32_t hash_value(const struct value *value)
{
    return mix(mix(mix(value->known, value->number), value->sums), value->mixed);
}

static void put_value(struct values *values, value_id id)
{
    uint32_t at = hash_value(&values->value[id]) & (values->slots - 1);
    while (values->hash[at])
        at = (at + 1) & (values->slots - 1);
    values->hash[at] = id;
}

value_id values_of(struct values *values, struct value value)
{
    if (value.known != KNOWN_NUMBER && value.known != KNOWN_STACK)
        value.number = 0;
    uint32_t at = hash_value(&value) & (values->slots - 1);
    for (; values->hash[at]; at = (at + 1) & (values->slots - 1)) {
        if (memcmp(&values->value[values->hash[at]], &value, sizeof value) == 0)
            return values->hash[at];
    }
    void *all = values->value;
    if (!make_room(values, &all, values->count, 1, &values->room, sizeof value))
        return 0;
    values->value = all;
    values->value[values->count] = value;
    value_id id = values->count++;
    int slots = more_slots(values, &values->hash, &values->slots, values->count);
    for (value_id i = 1; slots == 2 && i < values->count; i++)
        put_value(values, i);
    if (slots == 1)
        values->hash[at] = id;
    return id;
}

value_id values_token(struct values *values, uint32_t token)
{
    list sum = values_list(values, &token, 1);
    return values_of(values, (struct value){values_list(values, &sum, 1), 0, KNOWN_NOT, 0});
}

value_id values_number(struct values *values, uint32_t number)
{
    return values_of(values, (struct value){0, 0, KNOWN_NUMBER, number});
}

value_id values_mixed(struct values *values, list words)
{
    return values_of(values, (struct value){0, words, KNOWN_NOT, 0});
}

static list join_sums(struct values *values, list a, list b, list *mixed)
{
    if (are_merged(values, a, b))
        return too_many(values, a, b, mixed);
    list both = values_union(values, a, b);
    uint32_t count = values_count(values, both);
    if (count > SUMS_MOST || are_too_many(values, values->word + values->place[both].begin, count))
        return too_many(values, a, b, mixed);
    return both;
}

value_id values_join(struct values *values, value_id a, value_id b)
{
    if (a == b || !b)
        return a;
    if (!a)
        return b;
    if (a > b) {
        value_id c = a;
        a = b, b = c;
    }
    struct cached *cached = &values->join[mix(a, b) % VALUE_JOINS];
    if (cached->a == a && cached->b == b)
        return cached->result;
    struct value x = values->value[a], y = values->value[b], both = {0, 0, KNOWN_NOT, 0};
    both.mixed = values_mix(values, x.mixed, y.mixed);
    both.sums = join_sums(values, x.sums, y.sums, &both.mixed);
    if (x.known == KNOWN_NOTHING || (x.known == y.known && x.number == y.number))
        both.known = y.known, both.number = y.number;
    else if (y.known == KNOWN_NOTHING)
        both.known = x.known, both.number = x.number;
    value_id id = values_of(values, both);
    *cached = (struct cached){a, b, id};
    return id;
}

int values_begin(struct values *values, struct arena *arena)
{
    values->arena = arena;
    values->lists = values->count = 1;
    void *words = NULL, *places = NULL, *all = NULL;
    int done = make_room(values, &words, 0, 1, &values->word_room, sizeof *values->word) &&
               make_room(values, &places, 0, 1, &values->list_room, sizeof *values->place) &&
               make_room(values, &all, 0, 1, &values->room, sizeof *values->value) &&
               more_slots(values, &values->list_hash, &values->list_slots, 1) &&
               more_slots(values, &values->hash, &values->slots, 1);
    values->word = words;
    values->place = places;
    values->value = all;
    return done;
}

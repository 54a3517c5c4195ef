/* SPDX-License-Identifier: Apache-2.0
 *
 * What the solver knows of 32 bits: from which words they may come. Values, and the lists in them, are kept once each and
 * known by a number, so that to compare two is to compare two numbers.
 */
#ifndef PTDS_CODE_VALUES_H
#define PTDS_CODE_VALUES_H

#include <stdint.h>

struct arena;

/* A word that others are made of: its kind in the upper 4 bits, what it is in the lower 28. */
enum token_kind {
    TOKEN_PARAMETER, /* of the parameters, from that byte on */
    TOKEN_RANGE,     /* of the parameters, at an unknown byte; low bit: upper half of 64 bits */
    TOKEN_VARIABLE,  /* a half of a variable's address */
    TOKEN_DATA,   /* what lies in a constant variable: variable << 20 | byte; DATA_ANYWHERE with the low bit as of RANGE */
    TOKEN_LOADED, /* what that step loaded: step << 7 | word */
    TOKEN_ANY_LOADED, /* some of those; only among what is mixed in */
    TOKEN_STACK,      /* the stack's address */
    TOKEN_PLACE,      /* the address of the parameters themselves */
    TOKEN_HEAP,       /* what malloc returned */
    TOKEN_OTHER,      /* of numbers that begin no address of the program's */
    TOKEN_EITHER,     /* in a sum: it is not known which of its words the sum has, nor how often */
    TOKEN_FORGOTTEN   /* not known */
};
enum { TOKEN_BITS = 28, DATA_BITS = 20, DATA_ANYWHERE = 0xffffe, LOADED_BITS = 7 };
static inline uint32_t token(enum token_kind kind, uint32_t what)
{
    return (uint32_t)kind << TOKEN_BITS | what;
}
static inline enum token_kind token_kind(uint32_t token)
{
    return (enum token_kind)(token >> TOKEN_BITS);
}
static inline uint32_t token_what(uint32_t token)
{
    return token & ((1u << TOKEN_BITS) - 1);
}

/* A sorted list without repetitions, by its number. 0: the empty one. */
typedef uint32_t list;
struct list_place {
    uint32_t begin, count;
};

/* NOTHING: no path has come here yet. */
enum known { KNOWN_NOTHING, KNOWN_NUMBER, KNOWN_STACK, KNOWN_NOT };

/* `sums`: each member is a list of words; the value is one of these sums, plus what begins no address. `mixed`: words that
 * it depends on in any other way. `number`: its own value, or its distance from where the stack began. */
struct value {
    list sums, mixed;
    uint32_t known, number;
};
typedef uint32_t value_id; /* 0: nothing is known, and no path has come here */

enum { VALUE_JOINS = 4096, LIST_UNIONS = 8192 };
struct cached {
    uint32_t a, b, result;
};
struct values {
    struct arena *arena;
    uint32_t *word, words, word_room;
    struct list_place *place;
    uint32_t lists, list_room;
    uint32_t *list_hash, list_slots;
    struct value *value;
    uint32_t count, room;
    uint32_t *hash, slots;
    int failed; /* there was no memory: what it says since then is wrong */
    struct cached join[VALUE_JOINS], both[LIST_UNIONS], mixes[LIST_UNIONS];
};

/* Zeroed pages are the caller's; 0: there is no memory. */
int values_begin(struct values *values, struct arena *arena);

list values_list(struct values *values, const uint32_t *sorted, uint32_t count);
static inline uint32_t values_count(const struct values *values, list of)
{
    return values->place[of].count;
}
static inline uint32_t values_at(const struct values *values, list of, uint32_t i)
{
    return values->word[values->place[of].begin + i];
}
int values_has(const struct values *values, list of, uint32_t member);

/* All members of both. */
list values_union(struct values *values, list a, list b);

/* The same of words that are mixed in: of many that were loaded only that there are some. */
list values_mix(struct values *values, list a, list b);

/* Every sum of one member of each. Where these are too many they become one, with TOKEN_EITHER and all of their words;
 * where that has too many words, all that is told is these, which are mixed in. */
list values_sums(struct values *values, list a, list b, list *mixed);

/* All words of a list of sums. */
list values_words(struct values *values, list sums);

/* All words of a value: of its sums, and mixed in. */
list values_all(struct values *values, value_id id);

value_id values_of(struct values *values, struct value value);
value_id values_token(struct values *values, uint32_t token);
value_id values_number(struct values *values, uint32_t number);

/* One of both. */
value_id values_join(struct values *values, value_id a, value_id b);

/* The value depends on the words, and is none of them. */
value_id values_mixed(struct values *values, list words);

#endif

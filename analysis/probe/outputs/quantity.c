/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads numbers and units. Called by same.c. Must take no word for a time that may be a result.
 */
#include "analysis/probe/outputs/quantity.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *name;
    double ns;
} times[] = {
    {"ns", 1},
    {"nsec", 1},
    {"nsecs", 1},
    {"nanosecond", 1},
    {"nanoseconds", 1},
    {"us", 1e3},
    {"\u00b5s", 1e3},
    {"\u03bcs", 1e3},
    {"usec", 1e3},
    {"usecs", 1e3},
    {"microsecond", 1e3},
    {"microseconds", 1e3},
    {"ms", 1e6},
    {"msec", 1e6},
    {"msecs", 1e6},
    {"millisecond", 1e6},
    {"milliseconds", 1e6},
    {"s", 1e9},
    {"sec", 1e9},
    {"secs", 1e9},
    {"second", 1e9},
    {"seconds", 1e9},
    {"min", 6e10},
    {"mins", 6e10},
    {"minute", 6e10},
    {"minutes", 6e10},
    {"hr", 3.6e12},
    {"hrs", 3.6e12},
    {"hour", 3.6e12},
    {"hours", 3.6e12},
};

/* Of which so many a second are a pace; others, as metres, are a result. */
static const char *const counted[] = {
    "it",       "iter",    "iters",    "iteration", "iterations", "step",     "steps",  "sample",  "samples",
    "frame",    "frames",  "op",       "ops",       "image",      "images",   "img",    "imgs",    "token",
    "tokens",   "tok",     "call",     "calls",     "launch",     "launches", "kernel", "kernels", "update",
    "updates",  "request", "requests", "req",       "epoch",      "epochs",   "batch",  "batches", "example",
    "examples", "b",       "kb",       "mb",        "gb",         "tb",       "kib",    "mib",     "gib",
    "tib",      "flop",    "mflop",    "gflop",     "tflop",      "flops",    "mflops", "gflops",  "tflops"};
static const char *const rates[] = {"fps", "mflops", "gflops", "tflops"};

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

static bool is_name(struct bytes word, const char *name)
{
    return strlen(name) == word.size && strncasecmp(word.at, name, word.size) == 0;
}

static bool is_among(struct bytes word, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_name(word, names[i]))
            return true;
    return false;
}

/* ns; 0: no unit of time. */
static double time_of(struct bytes word)
{
    for (size_t i = 0; i < COUNT(times); i++)
        if (is_name(word, times[i].name))
            return times[i].ns;
    return 0;
}

/* "/s", "/it" */
static struct token after_slash(struct cursor *rest)
{
    struct cursor at = *rest;
    struct token slash = token_next(&at), word = {{0}, {0}};
    if (slash.text.size != 1 || slash.text.at[0] != '/')
        return word;
    word = token_next(&at);
    if (word.text.size != 0)
        *rest = at;
    return word;
}

/* "min" before a number is no minute: "avg 3 min 1 max 9". */
static bool is_minimum(struct bytes word, struct cursor rest)
{
    struct token next = token_next(&rest);
    return is_name(word, "min") && next.text.size != 0 &&
           (isdigit((unsigned char)next.text.at[next.text.size - 1]) || strchr(":=", next.text.at[0]) != NULL);
}

/* Without the point that ends a sentence. */
static struct bytes without_stop(struct bytes word)
{
    word.size -= word.size > 1 && word.at[word.size - 1] == '.';
    return word;
}

/* The unit that begins with a word; the scale of its times in ns. False: none of time. */
static bool read_unit(struct quantity *quantity, struct bytes word, struct cursor rest, double *scale)
{
    if (word.size == 0 || isdigit((unsigned char)word.at[0]))
        return false;
    struct cursor per = rest;
    struct bytes other = without_stop(after_slash(&per).text), own = without_stop(word);
    bool per_time = time_of(other) != 0, per_counted = is_among(other, counted, COUNT(counted));
    double ns = time_of(own);
    if (ns != 0)
        quantity->unit = UNIT_TIME;
    else if ((per_time && is_among(own, counted, COUNT(counted))) || is_among(own, rates, COUNT(rates)))
        quantity->unit = UNIT_RATE;
    else
        return false;
    *scale = ns != 0 ? ns : 1;
    quantity->unit_tokens += per_time || per_counted ? 2 : 0;
    quantity->after = per_time || per_counted ? per : rest;
    quantity->unit_text = (struct bytes){word.at, (size_t)(quantity->after.at - word.at)};
    quantity->stops = quantity->unit_text.at[quantity->unit_text.size - 1] == '.';
    return true;
}

static bool is_odd(struct bytes word)
{
    size_t sign = word.size != 0 && (word.at[0] == '-' || word.at[0] == '+');
    return word.size - sign >= 3 &&
           (strncasecmp(word.at + sign, "nan", 3) == 0 || strncasecmp(word.at + sign, "inf", 3) == 0);
}

static bool has_digit(struct bytes word)
{
    for (size_t i = 0; i < word.size; i++)
        if (isdigit((unsigned char)word.at[i]))
            return true;
    return false;
}

bool quantity_is_number(struct bytes word)
{
    return has_digit(word) || is_odd(word);
}

/* A checksum, as a rule. Of decimal digits alone nobody can tell. */
static bool is_hash(struct bytes word)
{
    enum { LONG = 8 };
    bool letter = false;
    for (size_t i = 0; i < word.size; i++) {
        if (!isxdigit((unsigned char)word.at[i]))
            return false;
        letter |= isalpha((unsigned char)word.at[i]) != 0;
    }
    return letter && word.size >= LONG;
}

static double place_of(const char *number, const char *end)
{
    enum { MOST = 400 }; /* beyond that all is 0 or infinite */
    double place = 1;
    bool after_point = false;
    for (const char *at = number; at < end; at++) {
        if (*at == 'e' || *at == 'E') {
            long exponent = strtol(at + 1, NULL, 10);
            for (long i = 0; i < labs(exponent) && i < MOST; i++)
                place *= exponent < 0 ? 0.1 : 10;
            break;
        }
        if (after_point)
            place /= 10;
        after_point |= *at == '.';
    }
    return place;
}

/* "12.5", "-1e-3", "12ms"; not "0x12", "12-13", "42f8820c". The rest of it, which is a unit, goes to `suffix`. */
static bool read_number(struct quantity *quantity, struct bytes word, struct bytes *suffix)
{
    enum { ROOM = 40, LETTERS = 4 };
    char copy[ROOM], *end = copy;
    if (word.size >= sizeof copy || (word.size > 1 && (word.at[1] == 'x' || word.at[1] == 'X')) || quantity->odd)
        return false;
    memcpy(copy, word.at, word.size);
    copy[word.size] = 0;
    quantity->value = strtod(copy, &end);
    quantity->place = place_of(copy, end);
    *suffix = (struct bytes){word.at + (end - copy), word.size - (size_t)(end - copy)};
    size_t letters = 0;
    while (isalpha((unsigned char)end[letters]))
        letters++;
    return end != copy && ((letters <= LETTERS && end[letters] == 0) || time_of(*suffix) != 0);
}

struct quantity quantity_read(struct bytes word, struct cursor rest)
{
    struct quantity quantity = {.odd = is_odd(word), .hash = is_hash(word), .after = rest};
    struct bytes suffix = {word.at + word.size, 0};
    double scale = 1;
    quantity.number = quantity_is_number(word);
    quantity.plain = quantity.number && read_number(&quantity, word, &suffix);
    if (!quantity.plain)
        return quantity;
    quantity.unit_text = suffix;
    if (suffix.size != 0)
        read_unit(&quantity, suffix, rest, &scale);
    else {
        struct token next = token_next(&rest);
        if (!is_minimum(next.text, rest) && read_unit(&quantity, next.text, rest, &scale))
            quantity.unit_tokens++;
    }
    quantity.value *= scale;
    quantity.place *= scale;
    return quantity;
}

bool quantity_both_timed(const struct quantity *one, const struct quantity *other)
{
    return one->unit != UNIT_OTHER && other->unit != UNIT_OTHER && one->stops == other->stops;
}

bool quantity_on_one_scale(const struct quantity *one, const struct quantity *other)
{
    return one->plain && other->plain && one->unit == other->unit &&
           (one->unit == UNIT_TIME || token_bytes_equal(one->unit_text, other->unit_text));
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * A number in a line, and the unit beside it: "12.5 ms", "480ms", "3.1it/s". Pure.
 */
#ifndef PTDS_ANALYSIS_PROBE_OUTPUTS_QUANTITY_H
#define PTDS_ANALYSIS_PROBE_OUTPUTS_QUANTITY_H

#include "analysis/probe/outputs/token.h"

#ifdef __cplusplus
extern "C" {
#endif

enum unit {
    UNIT_OTHER, /* none, or none of time */
    UNIT_TIME,
    UNIT_RATE /* so many a second */
};

struct quantity {
    bool number; /* a word with a digit, or nan or inf */
    bool odd;    /* nan, inf */
    bool hash;   /* a long word of hexadecimal digits: no time, whatever it is */
    bool plain;  /* a decimal number, with a unit at most: these are known */
    double value;
    double place; /* what one more in its last digit is */
    enum unit unit;
    struct bytes unit_text;
    bool stops;           /* the unit ends a sentence */
    unsigned unit_tokens; /* words that the unit takes after the number's own */
    struct cursor after;  /* where the line goes on, without the unit */
};

bool quantity_is_number(struct bytes word);
/* A word, and what follows it in the line. Times are in ns. */
struct quantity quantity_read(struct bytes word, struct cursor rest);

/* Both have a unit of time, not necessarily the same. */
bool quantity_both_timed(const struct quantity *one, const struct quantity *other);
/* Both lie on one scale. */
bool quantity_on_one_scale(const struct quantity *one, const struct quantity *other);

#ifdef __cplusplus
}
#endif
#endif

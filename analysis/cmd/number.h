/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PTDS_ANALYSIS_CMD_NUMBER_H
#define PTDS_ANALYSIS_CMD_NUMBER_H

#include <stdbool.h>
#include <stdlib.h>

/* Whether the whole text is a number in digits, from `least` to `most` (less than ULONG_MAX); then *number is it. */
static inline bool number_between(const char *text, unsigned long least, unsigned long most, unsigned long *number)
{
    char *end;
    *number = strtoul(text, &end, 10);
    return text[0] >= '0' && *end == 0 && *number >= least && *number <= most;
}

/* The percentage in the text as a part of one: how much something may grow. Negative: the text is no such number. */
static inline double number_growth(const char *text)
{
    unsigned long percent;
    return number_between(text, 0, 100000, &percent) ? (double)percent / 100 : -1;
}

#endif

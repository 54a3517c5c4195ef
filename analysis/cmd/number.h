/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PTDS_ANALYSIS_CMD_NUMBER_H
#define PTDS_ANALYSIS_CMD_NUMBER_H

#include <stdbool.h>
#include <stdlib.h>

/* Whether all of an argument is a number in digits, from `least` to `most`, which is less than ULONG_MAX. */
static inline bool number_between(const char *text, unsigned long least, unsigned long most, unsigned long *number)
{
    char *end;
    *number = strtoul(text, &end, 10);
    return text[0] >= '0' && *end == 0 && *number >= least && *number <= most;
}

/* By how much something may grow, a percentage, as a part of one; a negative number if the argument is none. */
static inline double number_growth(const char *text)
{
    unsigned long percent;
    return number_between(text, 0, 100000, &percent) ? (double)percent / 100 : -1;
}

#endif

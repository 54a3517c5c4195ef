/* SPDX-License-Identifier: Apache-2.0
 *
 * What a finding has to save to be told by itself. Called by the verbs that take --floor, and where findings are ranked.
 */

#include "analysis/report/floor.h"

#include <stdlib.h>
#include <string.h>
#include "analysis/base/duration.h"

static bool parse_percent(const char *text, double *percent)
{
    char *end;
    double value = strtod(text, &end);
    bool sound = strspn(text, "0123456789.") != 0 && strcmp(end, "%") == 0 && value <= 100;
    if (sound)
        *percent = value;
    return sound;
}

/* One of the two values, and where it ends. */
static bool parse_one(const char *text, struct floor *floor, const char **end)
{
    char one[32];
    size_t size = strcspn(text, ",");
    if (size >= sizeof one)
        return false;
    memcpy(one, text, size);
    one[size] = 0;
    *end = text + size;
    return strcmp(one, "0") == 0 || parse_percent(one, &floor->percent) || duration_read(one, &floor->ns);
}

bool floor_parse(const char *text, struct floor *floor)
{
    *floor = (struct floor){0};
    while (parse_one(text, floor, &text)) {
        if (*text == 0)
            return true;
        text++;
    }
    return false;
}

uint64_t floor_ns(struct floor floor, uint64_t whole)
{
    double share = (double)whole / 100 * floor.percent;
    return share > (double)floor.ns ? (uint64_t)share : floor.ns;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads durations, for the command's options and the conditions of `ptds check`. Must not guess a unit.
 */
#include "analysis/base/duration.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

bool duration_read(const char *text, uint64_t *ns)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}};
    if (strspn(text, "0123456789.") == 0) /* strtod would take signs, "inf" and "nan" */
        return false;
    char *end;
    double value = strtod(text, &end);
    if (end == text)
        return false;
    end += strspn(end, " ");
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(end, units[i].name) == 0 && value * units[i].ns < 1e18) {
            *ns = (uint64_t)(value * units[i].ns + 0.5);
            return true;
        }
    }
    return false;
}

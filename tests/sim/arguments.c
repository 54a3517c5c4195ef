/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of a call's arguments, which knobs.c puts into the log.
 */
#include <stdio.h>

#include "tests/sim/sim.h"

#include "tests/sim/arguments.h"

bool arguments_wanted;
static __thread char text[512];

void arguments_keep(const struct argument *arguments, int count)
{
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < count && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, " %c0x%llx", arguments[i].letter,
                                 (unsigned long long)arguments[i].value);
}

const char *arguments_kept(void)
{
    return text;
}

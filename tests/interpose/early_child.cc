/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints what the driver saw of a library's constructor.
 */
#include <cstdio>

#include "tests/interpose/child_log.h"

extern "C" int early_results();

int main()
{
    ChildLog names;
    printf("%d %s\n", early_results(), names.take().c_str());
    return 0;
}

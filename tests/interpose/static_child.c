/* SPDX-License-Identifier: Apache-2.0
 *
 * A program without a loader: nothing is preloaded into it.
 */
#include <stdio.h>

int main(void)
{
    puts("static");
    return 0;
}

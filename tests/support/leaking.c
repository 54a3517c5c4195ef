/* SPDX-License-Identifier: Apache-2.0
 *
 * Loses memory if it is given an argument. For leaks_test.cc, which sees that this is noticed.
 */
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    char *volatile lost = strdup(argv[0]);
    if (argc == 1)
        free(lost);
    lost = NULL;
    return lost != NULL;
}

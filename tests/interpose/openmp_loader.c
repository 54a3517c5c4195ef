/* SPDX-License-Identifier: Apache-2.0
 *
 * A program without OpenMP that opens a module which has it. argv[1]: the module.
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *module = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*team_size)(void) = module != NULL ? (int (*)(void))dlsym(module, "team_size") : NULL;
    void (*begin_team)(int *) = module != NULL ? (void (*)(int *))dlsym(module, "begin_team") : NULL;
    if (team_size == NULL || begin_team == NULL)
        return 2;
    int counted = 0;
    begin_team(&counted);
    printf("%d %d\n", team_size(), counted);
    return 0;
}

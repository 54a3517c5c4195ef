// SPDX-License-Identifier: Apache-2.0
//
// The oracle's own kernel for the simulated driver, which runs no PTX. Called by runner_world.c.

#define _GNU_SOURCE
#include "tests/oracle/own_kernels.h"

#include <dlfcn.h>
#include <string.h>

#include "tests/sim/sim_test_api.h"

static void *(*bytes_of)(uint64_t);

static void pcopy(const unsigned char *parameters)
{
    uint64_t to, from;
    uint32_t words;
    memcpy(&to, parameters, sizeof to);
    memcpy(&from, parameters + 8, sizeof from);
    memcpy(&words, parameters + 16, sizeof words);
    memmove(bytes_of(to), bytes_of(from), words * 4);
}

void own_kernels_define(void)
{
    void (*define)(const char *, const char *, sim_kernel);
    *(void **)&define = dlsym(RTLD_DEFAULT, "sim_define_kernel");
    *(void **)&bytes_of = dlsym(RTLD_DEFAULT, "sim_bytes");
    if (define)
        define(ORACLE_PCOPY, "ppd", pcopy);
}

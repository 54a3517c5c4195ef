// SPDX-License-Identifier: Apache-2.0
//
// The oracle's own kernels for the simulated driver, which runs no PTX. Called by runner_world.c.

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

static void bodies(const unsigned char *parameters)
{
    uint64_t table, body;
    uint32_t how[3]; /* many, what, many words */
    memcpy(&table, parameters, sizeof table);
    memcpy(how, parameters + 8, sizeof how);
    for (uint32_t i = 0; i < how[0]; i++) {
        memcpy(&body, (const char *)bytes_of(table) + i * sizeof body, sizeof body);
        for (uint32_t k = 0; k < how[2]; k++)
            memcpy((char *)bytes_of(body) + k * sizeof how[1], &how[1], sizeof how[1]);
    }
}

void own_kernels_define(void)
{
    void (*define)(const char *, const char *, sim_kernel);
    *(void **)&define = dlsym(RTLD_DEFAULT, "sim_define_kernel");
    *(void **)&bytes_of = dlsym(RTLD_DEFAULT, "sim_bytes");
    if (!define)
        return;
    define(ORACLE_PCOPY, "ppd", pcopy);
    define(ORACLE_BODIES, "pddd", bodies);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * What the conformance programs share: a context with the test kernels, gates, a second thread, and one line a case. Only
 * the driver API, bound by ELF, so that the same binary runs on a GPU, on the simulated driver and under the shim.
 * A line is "group case result"; one that starts with "? " has no measured answer and is not compared.
 */
#ifndef PTDS_TESTS_CONFORMANCE_CONF_H
#define PTDS_TESTS_CONFORMANCE_CONF_H

#include <stdbool.h>
#include <stdint.h>

#include "interpose/api/cuda_abi.h"

#define MUST(call) conf_must((call), #call)

struct conf {
    CUcontext ctx;
    CUmodule module;
    CUfunction gate, mark, fill, add_one, empty;
    CUstream blocking, blocking2, nonblocking, nonblocking2;
};
extern struct conf conf;

void conf_begin(void); /* cuInit, device 0, kernels loaded and warm */
int conf_end(void);    /* everything done; main's exit status */
void conf_must(CUresult result, const char *what);
CUfunction conf_kernel(const char *name);
void conf_say(const char *group, const char *name, const char *result);
void conf_say_code(const char *group, const char *name, CUresult code);
void conf_say_bool(const char *group, const char *name, bool yes);

/* A gate is a kernel that runs until the host opens it. Words: host memory that kernels see, zero at first. */
uint32_t *conf_word(void); /* a fresh one each time */
uint32_t conf_read(const uint32_t *word);
void conf_open(uint32_t *gate);
uint32_t *conf_gate(CUstream stream, bool twin); /* a closed gate on this stream, from the plain or the _ptsz entry */
void conf_gate_at(uint32_t *word, CUstream stream, bool twin);
void conf_mark(uint32_t *word, CUstream stream, bool twin);
bool conf_reached(const uint32_t *word); /* set within a time that is ample for what is not held back */

/* One more thread, the same throughout, with the context current: runs fn there and waits for it. */
void conf_elsewhere(void (*fn)(void *), void *argument);

/* Does the call return only after the gate opened? Opens the gate in any case. *code: what the call returned. */
bool conf_blocks(uint32_t *gate, CUresult (*call)(void *), void *argument, CUresult *code);

#endif

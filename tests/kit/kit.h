/* SPDX-License-Identifier: Apache-2.0
 *
 * What the cases of the kit share: a context with five kernels, gates, buffers, threads that take turns. Ordinary CUDA:
 * nothing here knows of libptds. Setting up and reading back go through a non-blocking stream that is waited for each
 * time, so that a trace shows no default-stream work but the case's own.
 */
#ifndef PTDS_TESTS_KIT_KIT_H
#define PTDS_TESTS_KIT_KIT_H

#include <stdbool.h>

#include "tests/apps/app.h"

enum { KIT_WORDS = 256, KIT_BYTES = KIT_WORDS * 4 };

/* The cases, one function each. */
#define KIT_CASE(name) void kit_##name(void);
#include "tests/kit/cases.def"
#undef KIT_CASE

/* ---- streams, memory: KIT_WORDS words, all `value`, and there when this returns ---- */

CUstream kit_stream(unsigned flags);
CUdeviceptr kit_words(uint32_t value);
uint32_t *kit_pinned(uint32_t value);

/* ---- work ---- */

void kit_fill(CUstream stream, CUdeviceptr p, uint32_t value);
void kit_add_one(CUstream stream, CUdeviceptr p);
void kit_copy(CUstream stream, CUdeviceptr to, CUdeviceptr from);
CUresult kit_empty(CUstream stream);

/* A gate is a kernel that runs until the host opens it: what is behind it has not run, for certain. */
uint32_t *kit_gate(CUstream stream); /* a closed one on this stream */
void kit_open(uint32_t *gate);
bool kit_is_open(const uint32_t *gate);
/* Opens it from another thread a little later: for a call that returns only then. */
void kit_open_soon(uint32_t *gate);

/* ---- threads: body(0) ... body(count - 1) start together ---- */

void kit_threads(unsigned count, void (*body)(unsigned index, void *unused));
/* Waits until all lower turns were given up; then kit_next gives this one up. Turns begin at 0 in every kit_threads. */
void kit_turn(unsigned turn);
void kit_next(void);

/* ---- results ---- */

void kit_all_done(void); /* the whole context */
/* Every word must be `value`; reads what is there now, so wait first. */
void kit_check(const char *what, CUdeviceptr p, uint32_t value);
void kit_is(const char *what, bool right);

/* ---- a library that the program links against nothing of: library.c ---- */

struct kit_library {
    /* A filter: works on `mine` and then waits for the whole context. */
    void (*filter)(CUfunction add_one, CUdeviceptr p, uint32_t words, CUstream mine);
    /* A helper that is handed the caller's stream and clears its own scratch memory on the default stream. */
    void (*helper)(CUfunction add_one, CUdeviceptr p, CUdeviceptr scratch, uint32_t words, CUstream users);
};
const struct kit_library *kit_library(void);
CUfunction kit_add_one_function(void);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * What the cases of promises share: memory, streams, a gate, small launches. Each case runs in a process of its own, with
 * this made anew: words are NEW, everything else is 0, and nothing runs.
 */
#ifndef APPS_HANDOVERS_PROMISES_H
#define APPS_HANDOVERS_PROMISES_H

#include "tests/apps/app.h"

/* As in handovers.h. */
enum { WORDS = 256, BYTES = WORDS * 4, NEW = 2, OTHER = 9, GATE_MS = 30 };

struct promise {
    struct app app;
    struct gate gate;
    CUfunction fill, copy, add, mark, spin_add, empty;
    CUdeviceptr words, seen;
    CUdeviceptr ones, zeros; /* in the gate's own memory: what reads them comes after the gate, on whatever stream */
    uint32_t *pinned;        /* WORDS of it */
    uint32_t *flag;          /* mapped, 0; opened by a case itself */
    CUdeviceptr flag_device;
    CUstream a, b, n, m; /* two blocking ones, two non-blocking ones */
    CUevent first, second;
    const char *no; /* why the case cannot be tried here */
};

/* Whether it came out right. */
typedef int body(struct promise *p);

struct named_case {
    const char *name;
    body *run;
    int driver; /* may be wrong without a shim: a property of the driver */
};

/* Ends with a case without a name. */
extern const struct named_case cases_host[], cases_order[], cases_parallel[], cases_memory[], cases_many[], cases_tell[],
    cases_kinds[], cases_events[], cases_launches[], cases_graphs[], cases_debt[];

void fill(struct promise *p, CUstream stream, CUdeviceptr to, uint32_t value, uint32_t count);
void copy(struct promise *p, CUstream stream, CUdeviceptr to, CUdeviceptr from, uint32_t count);
void mark(struct promise *p, CUstream stream, CUdeviceptr to, uint32_t value);
void shut(struct promise *p, CUstream stream); /* the gate, which opens by itself after GATE_MS */
void hold(struct promise *p, CUstream stream); /* until the flag is not 0 */
void let_go(struct promise *p);                /* sets the flag */
void add(struct promise *p, CUstream stream, CUdeviceptr to, CUdeviceptr constants, uint32_t count); /* to += constants */
void slow_add(struct promise *p, CUstream stream); /* GATE_MS, then words += 1; touches nothing of the host's */
void elsewhere(struct promise *p, void (*run)(struct promise *)); /* in another thread, until that ends */

int are(const uint32_t *words, uint32_t value, int count);
int device_are(CUdeviceptr words, uint32_t value, int count); /* waits for the context */

#endif

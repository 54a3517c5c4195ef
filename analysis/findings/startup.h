/* SPDX-License-Identifier: Apache-2.0
 *
 * What a program does before its first kernel: it allocates, pins and loads once, and nobody would move that. Reports say
 * it in one line, and the rules about such calls look only at what comes later. A program that launches no kernel never
 * begins.
 */
#ifndef PTDS_ANALYSIS_STARTUP_H
#define PTDS_ANALYSIS_STARTUP_H

#include "analysis/model/model.h"

#ifdef __cplusplus
extern "C" {
#endif

enum startup_kind { STARTUP_ALLOC, STARTUP_PIN, STARTUP_LOAD, STARTUP_KINDS };

struct startup {
    bool over;        /* a kernel has been launched */
    uint64_t over_at; /* ticks, of that launch */
    uint64_t calls[STARTUP_KINDS], ns[STARTUP_KINDS];
};

/* Whether the call came before the first kernel. */
static inline bool startup_has(const struct startup *startup, const struct call *call)
{
    return !startup->over || call->r.enter < startup->over_at;
}

void startup_look_now(struct startup *startup, const struct call_view *view);
/* Takes every call, before the rules do. */
static inline void startup_look(struct startup *startup, const struct call_view *view)
{
    if (!startup->over)
        startup_look_now(startup, view);
}

#ifdef __cplusplus
}
#endif
#endif

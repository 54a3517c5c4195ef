/* SPDX-License-Identifier: Apache-2.0
 *
 * One run of the program: its environment, its standard files, a limit, how it ended and how long it took. Signals that end
 * the probe are waited for meanwhile, so that nothing of the program is left behind.
 */
#ifndef PTDS_ANALYSIS_PROBE_RUNS_CHILD_H
#define PTDS_ANALYSIS_PROBE_RUNS_CHILD_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum end {
    END_NONE, /* it has not run */
    END_EXITED,
    END_SIGNALLED,
    END_TIMED_OUT,
    END_TERMINAL,    /* it stopped, because it wants the terminal */
    END_INTERRUPTED, /* the probe was told to stop */
    END_NOT_STARTED, /* code: errno */
};

struct ending {
    enum end end;
    int code; /* the exit status, or the signal */
};

struct child {
    char **argv;
    const char *library; /* the shim; NULL: bare */
    const char *auditor; /* with it; NULL: as the caller has it */
    const char *policy;
    unsigned lanes;             /* PTDS_LANES; 0: as it is */
    bool moves_explicit;        /* PTDS_EXPLICIT_LEGACY=remap; false: as it is */
    unsigned seed;              /* PTDS_SHAKE; 0: none */
    const char *trace;          /* NULL: nothing is recorded */
    const char *moments;        /* the folder for them (environment.h); NULL: none */
    const char *in, *out, *err; /* paths */
    uint64_t limit_ns;          /* 0: none */
    /* Now and then; ns since it began. May be NULL. */
    void (*tick)(void *data, uint64_t ns);
    void *data;
};

/* How long processes that the program leaves in the background may take to end. */
enum { CHILD_REST_NS = 1000000000 };

struct ran {
    struct ending ending;
    uint64_t ns;
    bool leaves; /* processes that were there so long after its end; those of its group are ended */
};

/* From here on SIGINT, SIGTERM, SIGQUIT and all other signals that would end the probe are waited for by child_run,
 * and have no other effect. */
void child_signals_begin(void);
void child_signals_end(void);
/* Whether one of these signals came, since the beginning or since child_signals_forget. */
bool child_interrupted(void);
void child_signals_forget(void);

/* Runs the program to its end and that of the processes it leaves in the background, or to the limit, or until a
 * signal tells the probe to stop; in the last two cases its processes are ended. */
struct ran child_run(const struct child *child);

uint64_t child_now(void); /* CLOCK_MONOTONIC, ns */

#ifdef __cplusplus
}
#endif
#endif

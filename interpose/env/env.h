/* SPDX-License-Identifier: Apache-2.0
 *
 * The configuration: read once, before the first decision, then constant.
 */
#ifndef PTDS_ENV_H
#define PTDS_ENV_H

#include <stdint.h>

enum env_policy {
#define POLICY(identifier, word, then) ENV_POLICY_##identifier,
#include "interpose/env/policies.def"
    ENV_POLICY_COUNT
};

/* "guarded, per-thread, ..." */
extern const char env_policy_words[];

/* The configured policy's word. */
const char *env_policy_word(void);

/* 1: the policy keeps legacy order where two operations touch the same memory. */
int env_policy_guards(void);

/* A switch that is a word or else a path: report and log. */
enum env_output { ENV_OUTPUT_OFF, ENV_OUTPUT_STDERR, ENV_OUTPUT_FILE };

enum env_diag { ENV_DIAG_QUIET, ENV_DIAG_ERRORS, ENV_DIAG_DEBUG };

enum env_device_times { ENV_DEVICE_TIMES_OFF, ENV_DEVICE_TIMES_SAMPLED, ENV_DEVICE_TIMES_CUPTI };

struct env_stream {
    int non_blocking;
    int has_priority;
    int priority;
};

struct env_output_to {
    enum env_output kind;
    const char *path; /* ENV_OUTPUT_FILE only; the environment's own memory, copied */
};

/* In which threads functions of Python are looked for. */
enum env_python_frames { ENV_PYTHON_OFF, ENV_PYTHON_FIRST, ENV_PYTHON_ON };

enum env_trust { ENV_TRUST_CODE, ENV_TRUST_NAMES };

struct env {
    enum env_policy policy;
    unsigned lanes; /* 0: auto */
    unsigned shake; /* a seed; 0: work is not delayed */
    struct env_stream stream;
    int remap_explicit;
    const char *exclude, *include; /* NULL: no list */
    struct env_output_to report, log;
    const char *trace;                  /* NULL: none */
    uint64_t trace_limit, memory_limit; /* in a file, and where there is none */
    uint64_t report_budget;             /* ns; 0: by the run's own time */
    enum env_trust trust;
    enum env_device_times device_times;
    int python_frames; /* enum env_python_frames */
    int disable;
    enum env_diag diag;
    int recording; /* anything wants records: report, log or trace, under a policy other than none */
    int invalid;   /* a value was outside its list; disable is set too */
};

/* The configuration, read on the first call. Any thread, at any time, also before constructors and under the loader lock:
 * takes no lock, allocates nothing, and says a wrong value once on stderr. */
const struct env *env_get(void);

/* Calls each(name, value) for every variable of env.def that is set. */
void env_each_set(void (*each)(const char *name, const char *value, void *context), void *context);

/* For the command, which refuses what the library would: NULL if the variable takes this value, or there is none of this
 * name; else the values that it takes. Takes from the memory that env_get keeps values in. */
const char *env_refuses(const char *name, const char *value);

#endif

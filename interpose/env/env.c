/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads env.def's variables. Called by whatever comes first: a dlsym from a library's constructor or the first CUDA call.
 * Must not allocate, lock or use stdio. A wrong value makes the whole library inert: half a configuration is worse than
 * none, because the program would run in a way that was not asked for.
 */
#include "interpose/env/env.h"

#include <stdlib.h>
#include <string.h>

#include "interpose/base/diag.h"
#include "interpose/env/env_value.h"
#include "interpose/env/unknown.h"

#define LIMIT_OF_A_TRACE (UINT64_C(256) << 20)
#define LIMIT_IN_MEMORY (UINT64_C(32) << 20) /* without a file: at most a report at exit is made of it */

/* Values are copied: a program may setenv over them, or unload the memory that they point into. */
static char storage[8192];
static uint32_t storage_used;

static const char *keep(const char *value)
{
    size_t size = strlen(value) + 1;
    uint32_t at = __atomic_fetch_add(&storage_used, (uint32_t)size, __ATOMIC_RELAXED);
    if (at + size > sizeof storage)
        return NULL;
    return memcpy(storage + at, value, size);
}

/* Each parser: 1 if the value is allowed, with *out set. */
static int choose(const char *value, const char *const *words, int count, int *out)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(value, words[i]) == 0) {
            *out = i;
            return 1;
        }
    }
    return 0;
}

const char env_policy_words[] =
#define POLICY(identifier, word, then) word then
#include "interpose/env/policies.def"
    ;

static const char *const policy_words[] = {
#define POLICY(identifier, word, then) word,
#include "interpose/env/policies.def"
};

const char *env_policy_word(void)
{
    return policy_words[env_get()->policy];
}

int env_policy_guards(void)
{
    enum env_policy policy = env_get()->policy;
    return policy == ENV_POLICY_guarded || policy == ENV_POLICY_stream || policy == ENV_POLICY_strict;
}

static int parse_policy(const char *value, enum env_policy *out)
{
    int chosen = 0;
    if (!choose(value, policy_words, ENV_POLICY_COUNT, &chosen))
        return 0;
    *out = (enum env_policy)chosen;
    return 1;
}

static int parse_explicit_legacy(const char *value, int *out)
{
    static const char *const words[] = {"keep", "remap"};
    return choose(value, words, 2, out);
}

static int parse_diag(const char *value, enum env_diag *out)
{
    static const char *const words[] = {"quiet", "errors", "debug"};
    int chosen = 0;
    if (!choose(value, words, 3, &chosen))
        return 0;
    *out = (enum env_diag)chosen;
    return 1;
}

static int parse_device_times(const char *value, enum env_device_times *out)
{
    static const char *const words[] = {"off", "sampled", "cupti"};
    int chosen = 0;
    if (!choose(value, words, 3, &chosen))
        return 0;
    *out = (enum env_device_times)chosen;
    return 1;
}

static int parse_trust(const char *value, enum env_trust *out)
{
    static const char *const words[] = {"code", "names"};
    int chosen = 0;
    if (!choose(value, words, 2, &chosen))
        return 0;
    *out = (enum env_trust)chosen;
    return 1;
}

static int parse_integer(const char *value, long *out)
{
    char *end = NULL;
    long number = strtol(value, &end, 10);
    if (end == value || *end != '\0' || number < -1000000 || number > 1000000)
        return 0;
    *out = number;
    return 1;
}

/* 0: auto. */
static int parse_lanes(const char *value, unsigned *out)
{
    long number = 0;
    *out = 0;
    if (strcmp(value, "auto") == 0)
        return 1;
    if (!parse_integer(value, &number) || number < 1 || number > 32)
        return 0;
    *out = (unsigned)number;
    return 1;
}

/* 0: unset. */
static int parse_seed(const char *value, unsigned *out)
{
    long number = 0;
    *out = 0;
    if (*value && (!parse_integer(value, &number) || number < 1))
        return 0;
    *out = (unsigned)number;
    return 1;
}

static int parse_stream(const char *value, struct env_stream *out)
{
    size_t word = strcspn(value, ",");
    if (word == 8 && strncmp(value, "blocking", word) == 0)
        out->non_blocking = 0;
    else if (word == 11 && strncmp(value, "nonblocking", word) == 0)
        out->non_blocking = 1;
    else
        return 0;
    if (value[word] == '\0')
        return 1;
    long priority = 0;
    if (strncmp(value + word, ",priority=", 10) != 0 || !parse_integer(value + word + 10, &priority))
        return 0;
    out->has_priority = 1;
    out->priority = (int)priority;
    return 1;
}

static int parse_path(const char *value, const char **out)
{
    *out = *value ? keep(value) : NULL;
    return !*value || *out;
}

static int parse_globs(const char *value, const char **out)
{
    return parse_path(value, out);
}

/* A path has a slash or a dot in it, so that a misspelt word ("sumary") is an error and not a file. */
static int parse_output_path(const char *value, struct env_output_to *out)
{
    if (!strpbrk(value, "/."))
        return 0;
    out->kind = ENV_OUTPUT_FILE;
    return parse_path(value, &out->path);
}

static int parse_output(const char *value, const char *to_stderr, struct env_output_to *out)
{
    if (strcmp(value, to_stderr) != 0 && strcmp(value, "off") != 0)
        return parse_output_path(value, out);
    out->kind = strcmp(value, "off") == 0 ? ENV_OUTPUT_OFF : ENV_OUTPUT_STDERR;
    return 1;
}

static int parse_report(const char *value, struct env_output_to *out)
{
    return parse_output(value, "summary", out);
}

static int parse_log(const char *value, struct env_output_to *out)
{
    return parse_output(value, "stderr", out);
}

/* 0 stands for a default that depends on other settings. */
static int parse_size(const char *value, uint64_t *out)
{
    *out = 0;
    if (!*value)
        return 1;
    if (*value < '0' || *value > '9')
        return 0;
    char *end = NULL;
    uint64_t number = strtoull(value, &end, 10);
    int shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    if (end[shift ? 1 : 0] != '\0' || number > (UINT64_MAX >> 10 >> shift) || (number << shift) < (1u << 20))
        return 0;
    *out = number << shift;
    return 1;
}

/* Whole numbers: the program's locale has a say in what strtod takes, which the command's durations are read by. */
static int parse_time(const char *value, uint64_t *out)
{
    *out = 0;
    if (!*value)
        return 1;
    char *end = NULL;
    uint64_t number = *value >= '0' && *value <= '9' ? strtoull(value, &end, 10) : 0;
    uint64_t unit = !end                     ? 0
                    : strcmp(end, "ms") == 0 ? 1000000u
                    : strcmp(end, "s") == 0  ? 1000000000u
                    : strcmp(end, "m") == 0  ? 60000000000u
                                             : 0;
    if (!unit || number == 0 || number > UINT64_MAX / 2 / unit)
        return 0;
    *out = number * unit;
    return 1;
}

static int parse_flag(const char *value, int *out)
{
    *out = strcmp(value, "1") == 0;
    return *out || !*value;
}

/* enum env_python_frames. */
static int parse_python_frames(const char *value, int *out)
{
    static const char *const words[] = {"off", "first", "on"};
    return choose(value, words, 3, out);
}

/* Of a long value its beginning: what is allowed has to fit into the line, too. */
static void complain(const char *name, const char *value, const char *allowed)
{
    char begins[100];
    size_t length = strnlen(value, sizeof begins);
    int whole = length < sizeof begins;
    length = whole ? length : sizeof begins - 1;
    memcpy(begins, value, length);
    begins[length] = '\0';
    diag_line(DIAG_ERROR, name, "=", begins, whole ? "" : "...", " is not allowed (", allowed,
              "); libptds does nothing in this process", NULL);
}

static void read_all(struct env *env)
{
#define ENV(VARIABLE, field, type, initial, allowed, doc) \
    { \
        const char *value = env_value(#VARIABLE); \
        if (!value || !*value) \
            value = initial; \
        if (!parse_##type(value, &env->field)) { \
            if (!env->invalid) \
                complain(#VARIABLE, value, allowed); \
            env->invalid = 1; \
        } \
    }
#include "interpose/env/env.def"
    if (env->invalid)
        env->disable = 1;
    env->memory_limit = env->trace_limit ? env->trace_limit : LIMIT_IN_MEMORY;
    if (!env->trace_limit)
        env->trace_limit = LIMIT_OF_A_TRACE;
    env->recording = !env->disable && env->policy != ENV_POLICY_none &&
                     (env->report.kind != ENV_OUTPUT_OFF || env->log.kind != ENV_OUTPUT_OFF || env->trace);
}

const struct env *env_get(void)
{
    static struct env env;
    static uint32_t state; /* 0 unread, 1 being read, 2 read */
    uint32_t expected = 0;
    if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == 2)
        return &env;
    if (__atomic_compare_exchange_n(&state, &expected, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
        /* The message for a wrong value has to obey PTDS_DIAG, wherever that stands in the table. */
        const char *quiet = env_value("PTDS_DIAG");
        diag_level(quiet && strcmp(quiet, "quiet") == 0 ? ENV_DIAG_QUIET : ENV_DIAG_ERRORS);
        read_all(&env);
        diag_level(env.diag);
        if (!env.disable && !env_value("PTDS_RUN")) /* `ptds run` has said it, of all processes of the run */
            unknown_say();
        __atomic_store_n(&state, 2, __ATOMIC_RELEASE);
    }
    while (__atomic_load_n(&state, __ATOMIC_ACQUIRE) != 2)
        ;
    return &env;
}

void env_each_set(void (*each)(const char *name, const char *value, void *context), void *context)
{
#define ENV(VARIABLE, field, type, initial, allowed, doc) \
    { \
        const char *value = env_value(#VARIABLE); \
        if (value) \
            each(#VARIABLE, value, context); \
    }
#include "interpose/env/env.def"
}

const char *env_refuses(const char *name, const char *value)
{
    struct env env = {0};
    if (!*value)
        return NULL; /* as if it were unset */
#define ENV(VARIABLE, field, type, initial, allowed, doc) \
    if (strcmp(name, #VARIABLE) == 0 && !parse_##type(value, &env.field)) \
        return allowed;
#include "interpose/env/env.def"
    return NULL;
}

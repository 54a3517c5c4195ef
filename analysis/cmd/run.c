/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptds run`: becomes the program, with the shim preloaded and configured. Nothing is left of this process, so the exit
 * status and the signals are the program's. The values are the shim's to judge.
 */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/cmd/watch.h"

static const char manual[] =
    "Runs a program under libptds.so. The exit status is the program's.\v"
    "Each option sets one environment variable of libptds.so; what the environment has already stays otherwise. The "
    "program's NVTX ranges become regions of the trace (NVTX_INJECTION64_PATH), unless that is set.\n"
    "\n"
    "Example:\n"
    "  ptds run --policy observe --trace app.ptds -- ./app --steps 10";

#define OWN_TRACE_LIMIT "64M"

#define POLICY(identifier, word, then) word then
static const char policy_words[] =
#include "interpose/env/policies.def"
    ;

/* An option's key is the index of its variable, plus FIRST_KEY. */
enum { FIRST_KEY = 256, WATCHDOG_KEY = 512 };
static const char *const variables[] = {
    "PTDS_POLICY",  "PTDS_TRACE",   "PTDS_REPORT",      "PTDS_LOG",  "PTDS_STREAM",       "PTDS_EXPLICIT_LEGACY",
    "PTDS_EXCLUDE", "PTDS_INCLUDE", "PTDS_TRACE_LIMIT", "PTDS_DIAG", "PTDS_DEVICE_TIMES", "PTDS_LANES"};
static const struct argp_option options[] = {
    {"policy", FIRST_KEY, "P", 0, policy_words, 0},
    {"trace", FIRST_KEY + 1, "FILE", 0, "keep the whole trace; %h host, %p process, %r rank", 0},
    {"report", FIRST_KEY + 2, "FORM", 0, "summary, off, or a file for the full text", 0},
    {"log", FIRST_KEY + 3, "WHERE", 0, "hazards as they happen: off, stderr or a file", 0},
    {"stream", FIRST_KEY + 4, "KIND", 0, "for policy stream: blocking or nonblocking", 0},
    {"explicit-legacy", FIRST_KEY + 5, "WHAT", 0, "keep or remap the program's own CU_STREAM_LEGACY", 0},
    {"exclude", FIRST_KEY + 6, "GLOBS", 0, "calls from these objects keep the legacy stream", 0},
    {"include", FIRST_KEY + 7, "GLOBS", 0, "only calls from these objects are remapped", 0},
    {"trace-limit", FIRST_KEY + 8, "BYTES", 0, "trace kept a process", 0},
    {"diag", FIRST_KEY + 9, "HOW", 0, "the shim's own messages: errors, quiet or debug", 0},
    {"device-times", FIRST_KEY + 10, "HOW", 0, "device times of the work: off, sampled or cupti", 0},
    {"lanes", FIRST_KEY + 11, "N", 0, "for policy guarded: lanes that one thread's work may spread over, 1 to 32", 0},
    {"watchdog", WATCHDOG_KEY, "DURATION", 0, "say who waits for whom when a call takes longer (ptds watch)", 0},
    {0},
};

static void set_variable(const struct argp_state *state, int key, char *value)
{
    const char *name = variables[key - FIRST_KEY];
    char here[PATH_MAX], path[PATH_MAX * 2];
    bool is_path = strcmp(name, "PTDS_TRACE") == 0;
    /* The program may change its folder before the shim opens the file. */
    if (is_path && value[0] != '/' && getcwd(here, sizeof here) != NULL) {
        snprintf(path, sizeof path, "%s/%s", here, value);
        value = path;
    }
    if (value[0] == 0)
        argp_error(state, "--%s needs a value", options[key - FIRST_KEY].name);
    if (setenv(name, value, 1) != 0)
        argp_failure(state, EXIT_USAGE, errno, "%s", name);
}

struct arguments {
    char **program;
    uint64_t watchdog_ns; /* 0 none */
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    if (key >= FIRST_KEY && key < FIRST_KEY + (int)(sizeof variables / sizeof variables[0])) {
        set_variable(state, key, arg);
        return 0;
    }
    if (key == WATCHDOG_KEY) {
        if (!watch_duration(arg, &arguments->watchdog_ns))
            argp_error(state, "--watchdog %s: a duration such as 500ms, 10s or 2m, at least 1ms", arg);
        return 0;
    }
    if (key == ARGP_KEY_ARG) {
        arguments->program = &state->argv[state->next - 1];
        state->next = state->argc;
        return 0;
    }
    if (key == ARGP_KEY_NO_ARGS)
        argp_error(state, "which program? ptds run [OPTION...] -- PROGRAM ARGS...");
    return ARGP_ERR_UNKNOWN;
}

/* A trace of its own for the watchdog, where the user wants none; the watcher removes it. */
static bool set_own_trace(char *path, size_t room)
{
    const char *folder = getenv("TMPDIR");
    if (getenv("PTDS_TRACE") != NULL && getenv("PTDS_TRACE")[0] != 0) {
        path[0] = 0;
        return true;
    }
    int size = snprintf(path, room, "%s/ptds-watchdog-%d.ptds", folder != NULL && folder[0] == '/' ? folder : "/tmp",
                        (int)getpid());
    return size > 0 && (size_t)size < room && setenv("PTDS_TRACE", path, 1) == 0 &&
           setenv("PTDS_TRACE_LIMIT", OWN_TRACE_LIMIT, 0) == 0;
}

/* The watcher is no child of the program, which may wait for any child, and takes no signals that are meant for it: this
 * process becomes the program, and the watcher is its child's child. */
static bool start_watcher(uint64_t after_ns)
{
    char own[PATH_MAX];
    pid_t program = getpid();
    int status = -1;
    if (!set_own_trace(own, sizeof own))
        return false;
    fflush(NULL);
    pid_t between = fork();
    if (between != 0)
        return between > 0 && waitpid(between, &status, 0) == between && status == 0;
    pid_t watcher = fork();
    if (watcher != 0)
        _exit(watcher > 0 ? 0 : 1);
    setsid();
    watch_process(program, after_ns);
    if (own[0] != 0)
        unlink(own);
    _exit(0);
}

/* The program's NVTX ranges, unless another tool listens to them. */
static bool listen_to_nvtx(const char *library)
{
    return setenv("NVTX_INJECTION64_PATH", library, 0) == 0;
}

int cmd_run(int argc, char **argv)
{
    const struct argp argp = {.options = options, .parser = parse, .args_doc = "[--] PROGRAM [ARGS...]", .doc = manual};
    char name[] = "ptds run", path[PATH_MAX], error[LIBRARY_ERROR_SIZE] = "";
    struct arguments arguments = {0};
    argv[0] = name;
    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &arguments);
    if (!library_find(path, error) || !library_preload(path, error)) {
        fprintf(stderr, "ptds run: %s\n", error);
        return EXIT_USAGE;
    }
    if (!listen_to_nvtx(path) || (arguments.watchdog_ns != 0 && !start_watcher(arguments.watchdog_ns))) {
        fprintf(stderr, "ptds run: %s\n", strerror(errno));
        return EXIT_USAGE;
    }
    char **program = arguments.program;
    execvp(program[0], program);
    int status = errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
    fprintf(stderr, "ptds run: %s: %s\n", program[0], strerror(errno));
    return status;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptds run`: becomes the program, with the shim preloaded and configured. Nothing is left of this process, so the exit
 * status and the signals are the program's. What the shim would refuse, it refuses before (run_before.c).
 */
#include <argp.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analysis/cmd/exit_status.h"
#include "analysis/cmd/verbs/run_before.h"
#include "analysis/cmd/help/verb.h"
#include "analysis/cmd/shim_library.h"
#include "analysis/cmd/variables.h"
#include "analysis/cmd/watch/watch.h"
#include "interpose/env/env.h"
#include "interpose/record/run_processes.h"

static const char manual[] =
    "Runs a program under libptds.so. The exit status is the program's.\v"
    "Each option but --audit and --watchdog sets one environment variable of libptds.so; what the environment has already "
    "stays otherwise. The "
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
enum { FIRST_KEY = 256, WATCHDOG_KEY = 512, AUDIT_KEY };
static const char *const variables[] = {
    "PTDS_POLICY",  "PTDS_TRACE",   "PTDS_REPORT",      "PTDS_LOG",  "PTDS_STREAM",       "PTDS_EXPLICIT_LEGACY",
    "PTDS_EXCLUDE", "PTDS_INCLUDE", "PTDS_TRACE_LIMIT", "PTDS_DIAG", "PTDS_DEVICE_TIMES", "PTDS_LANES"};
static const struct argp_option options[] = {
    {"policy", FIRST_KEY, "P", 0, policy_words, 0},
    {"trace", FIRST_KEY + 1, "FILE", 0,
     "keep the whole trace; %h host, %p process, %r rank; a later process of the run writes FILE.PID", 0},
    {"report", FIRST_KEY + 2, "FORM", 0, "summary, off, or a file for the full text", 0},
    {"log", FIRST_KEY + 3, "WHERE", 0, "findings as they happen: off, stderr or a file", 0},
    {"stream", FIRST_KEY + 4, "KIND", 0, "for policy stream: blocking or nonblocking", 0},
    {"explicit-legacy", FIRST_KEY + 5, "WHAT", 0,
     "what becomes of work on CU_STREAM_LEGACY (0x1): keep or remap (moved, as work on stream 0)", 0},
    {"exclude", FIRST_KEY + 6, "GLOBS", 0, "calls from these objects keep the legacy stream", 0},
    {"include", FIRST_KEY + 7, "GLOBS", 0, "only calls from these objects are moved", 0},
    {"trace-limit", FIRST_KEY + 8, "BYTES", 0, "trace kept a process", 0},
    {"diag", FIRST_KEY + 9, "HOW", 0, "the shim's own messages: errors, quiet or debug", 0},
    {"device-times", FIRST_KEY + 10, "HOW", 0, "device times of the work: off, sampled or cupti", 0},
    {"lanes", FIRST_KEY + 11, "N", 0, "for policy guarded: lanes that one thread's work may spread over, 1 to 32", 0},
    {"audit", AUDIT_KEY, NULL, 0,
     "also reach what libraries opened with RTLD_DEEPBIND look up in constructors or after they were opened by a bare "
     "name, and name "
     "who uses the driver of a dlmopen namespace (LD_AUDIT; glibc 2.35 or later)",
     0},
    {"watchdog", WATCHDOG_KEY, "DURATION", 0, "say who waits for whom when a call takes longer (ptds watch)", 0},
    {0},
};

/* The program may change its folder before the shim opens the file. A % of the folder's own stands for itself. */
static bool make_absolute(char *path, size_t size, const char *value)
{
    char here[PATH_MAX];
    size_t used = 0;
    if (value[0] == '/' || getcwd(here, sizeof here) == NULL)
        return false;
    for (const char *at = here; *at != 0 && used + 2 < size; at++) {
        path[used++] = *at;
        if (*at == '%')
            path[used++] = '%';
    }
    return snprintf(path + used, size - used, "/%s", value) < (int)(size - used);
}

static void set_variable(const struct argp_state *state, int key, char *value)
{
    const char *name = variables[key - FIRST_KEY];
    char path[PATH_MAX * 3];
    if (value[0] == 0)
        argp_error(state, "--%s needs a value", options[key - FIRST_KEY].name);
    const char *allowed = env_refuses(name, value);
    if (allowed != NULL)
        argp_error(state, "--%s %s: %s", options[key - FIRST_KEY].name, value, allowed);
    if (run_before_is_path(name, value) && make_absolute(path, sizeof path, value))
        value = path;
    if (setenv(name, value, 1) != 0)
        argp_failure(state, EXIT_USAGE, errno, "%s", name);
}

struct arguments {
    char **program;
    uint64_t watchdog_ns; /* 0 none */
    bool audit;
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
    if (key == AUDIT_KEY) {
        arguments->audit = true;
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

/* A trace of its own for the watchdog, where the user wants none: in a folder that nobody else can have made, or look into.
 * Traces of the program's own children come beside it. */
static bool set_own_trace(char *folder, size_t room)
{
    char trace[PATH_MAX];
    const char *place = getenv("TMPDIR");
    folder[0] = 0;
    if (getenv("PTDS_TRACE") != NULL && getenv("PTDS_TRACE")[0] != 0)
        return true;
    int size = snprintf(folder, room, "%s/ptds-watchdog-XXXXXX", place != NULL && place[0] == '/' ? place : "/tmp");
    if (size <= 0 || (size_t)size >= room || mkdtemp(folder) == NULL) {
        folder[0] = 0;
        return false;
    }
    size = snprintf(trace, sizeof trace, "%s/trace", folder);
    return size > 0 && (size_t)size < sizeof trace && setenv("PTDS_TRACE", trace, 1) == 0 &&
           setenv("PTDS_TRACE_LIMIT", OWN_TRACE_LIMIT, 0) == 0;
}

static void remove_own_trace(const char *folder)
{
    const struct dirent *entry;
    DIR *files = folder[0] != 0 ? opendir(folder) : NULL;
    while (files != NULL && (entry = readdir(files)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(files), entry->d_name, 0);
    if (files != NULL)
        closedir(files);
    if (folder[0] != 0)
        rmdir(folder);
}

/* Whatever ends the watcher (a trace that is cut under it does), its folder is there as long as the program, whose children
 * write into it, and no longer: so a process of its own takes it away, which holds nobody's files open. */
static void watch_and_remove(pid_t program, uint64_t after_ns, const char *own)
{
    pid_t watcher = own[0] != 0 ? fork() : 0;
    if (watcher <= 0)
        watch_process(program, after_ns);
    if (watcher == 0)
        return;
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        close(fd);
    if (watcher > 0)
        waitpid(watcher, NULL, 0);
    watch_wait_for_end(program);
    remove_own_trace(own);
}

/* The watcher is no child of the program, which may wait for any child, and takes no signals that are meant for it: this
 * process becomes the program, and the watcher is its child's child. */
static bool start_watcher(uint64_t after_ns)
{
    char own[PATH_MAX];
    pid_t program = getpid();
    int status = -1;
    if (!set_own_trace(own, sizeof own)) {
        remove_own_trace(own);
        return false;
    }
    struct sigaction before, plain = {.sa_handler = SIG_DFL};
    sigaction(SIGCHLD, &plain, &before); /* who ignores it learns of no child's end */
    fflush(NULL);
    pid_t between = fork();
    if (between != 0) {
        bool started = between > 0 && waitpid(between, &status, 0) == between && status == 0;
        sigaction(SIGCHLD, &before, NULL);
        if (!started)
            remove_own_trace(own);
        return started;
    }
    pid_t watcher = fork();
    if (watcher != 0)
        _exit(watcher > 0 ? 0 : 1);
    setsid();
    watch_and_remove(program, after_ns, own);
    _exit(0);
}

/* The program's NVTX ranges, unless another tool listens to them. */
static bool listen_to_nvtx(const char *library)
{
    return setenv("NVTX_INJECTION64_PATH", library, 0) == 0;
}

/* All processes of this run have it: so none overwrites another's trace, and the one that is the program itself can say
 * that it made no CUDA call, as long as its stderr is the one from here. */
static bool name_run(void)
{
    char run[PATH_MAX + 64], file[PATH_MAX];
    struct timespec now;
    ssize_t size = readlink("/proc/self/fd/2", file, sizeof file - 1);
    file[size > 0 ? size : 0] = 0;
    clock_gettime(CLOCK_REALTIME, &now);
    unsigned long long id = ((unsigned long long)now.tv_sec * 1000000000 + (unsigned long long)now.tv_nsec) ^
                            (unsigned long long)getpid() << 40;
    snprintf(run, sizeof run, "%llu:%d:%s", id, (int)getpid(), file);
    return setenv(RUN_VARIABLE, run, 1) == 0;
}

/* Whether the run can do what was asked for; else a line says why not. */
static bool prepare(const struct arguments *arguments)
{
    char path[PATH_MAX], library_error[LIBRARY_ERROR_SIZE] = "", error[RUN_ERROR_SIZE];
    if (!run_before_values_may_be(error) || !run_before_files_may_be(error)) {
        fprintf(stderr, "ptds run: %s\n", error);
        return false;
    }
    if (!shim_library_find(path, library_error) || !shim_library_preload(path, library_error) ||
        (arguments->audit && !shim_library_audit(path, library_error))) {
        fprintf(stderr, "ptds run: %s\n", library_error);
        return false;
    }
    if (!name_run() || !listen_to_nvtx(path) || (arguments->watchdog_ns != 0 && !start_watcher(arguments->watchdog_ns))) {
        fprintf(stderr, "ptds run: %s\n", strerror(errno));
        return false;
    }
    variables_warn("ptds run");
    run_before_warn(arguments->program);
    return true;
}

static const struct argp run_argp = {
    .options = options, .parser = parse, .args_doc = "[--] PROGRAM [ARGS...]", .doc = manual};

#define POLICY(identifier, word, then) word " "
static const char policy_values[] =
#include "interpose/env/policies.def"
    ;
static const struct verb_values run_values[] = {{FIRST_KEY, policy_values},
                                                {FIRST_KEY + 2, "summary off"},
                                                {FIRST_KEY + 3, "off stderr"},
                                                {FIRST_KEY + 4, "blocking nonblocking"},
                                                {FIRST_KEY + 5, "keep remap"},
                                                {FIRST_KEY + 9, "errors quiet debug"},
                                                {FIRST_KEY + 10, "off sampled cupti"},
                                                {0, NULL}};

static int run_verb(int argc, char **argv)
{
    char name[] = "ptds run";
    struct arguments arguments = {0};
    argv[0] = name;
    argp_parse(&run_argp, argc, argv, ARGP_IN_ORDER, NULL, &arguments);
    if (!prepare(&arguments))
        return EXIT_USAGE;
    char **program = arguments.program;
    execvp(program[0], program);
    int status = errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
    if (status == EXIT_NOT_FOUND && strchr(program[0], '/') == NULL && access(program[0], F_OK) == 0)
        fprintf(stderr, "ptds run: %s is not in a folder of PATH; did you mean ./%s?\n", program[0], program[0]);
    else
        fprintf(stderr, "ptds run: %s: %s\n", program[0], strerror(errno));
    return status;
}

const struct verb verb_run = {"run", "run a program under libptds.so", run_verb, &run_argp, run_values};
